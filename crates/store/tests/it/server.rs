//! A PostgreSQL server of the test's own: on a Unix socket in a fresh folder, gone when the test is.
#![expect(clippy::disallowed_methods, reason = "Effect: processes and files, to run a real server")]

use std::{
    env, fs,
    io::Write as _,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use tempfile::TempDir;

/// The user that a server runs as when the test runs as root, which PostgreSQL refuses.
const USER: &str = "postgres";

/// A running server.
pub(crate) struct Server {
    pub(crate) folder: TempDir,
    child: Child,
    databases: AtomicU32,
}

impl Server {
    /// Starts a server; nothing, and a line in the list of skipped tests, if the machine has no PostgreSQL.
    pub(crate) fn start(test: &str) -> Option<Self> {
        let Some(programs) = programs() else {
            skip(test, "PostgreSQL is not installed");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        own(folder.path());
        let made = run(&programs.join("initdb"))
            .args(["--no-sync", "--locale=C", "--encoding=UTF8", "--auth=trust", "--username=test", "-D"])
            .arg(&data)
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let child = Self::serve(&programs, folder.path());
        let mut server = Self { folder, child, databases: AtomicU32::new(0) };
        server.wait_until_ready();
        Some(server)
    }

    pub(crate) fn serve(programs: &Path, folder: &Path) -> Child {
        let socket = format!("unix_socket_directories={}", folder.display());
        run(&programs.join("postgres"))
            .arg("-D")
            .arg(folder.join("data"))
            .args([
                "-c",
                "listen_addresses=",
                "-c",
                "max_connections=80",
                "-c",
                "shared_buffers=32MB",
                // Shared memory that outlives a killed server is then in its folder, not on the machine.
                "-c",
                "dynamic_shared_memory_type=mmap",
                "-c",
                &socket,
            ])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    fn wait_until_ready(&mut self) {
        let deadline = Instant::now().checked_add(Duration::from_secs(60)).unwrap();
        while postgres::Client::connect(&self.url("postgres"), postgres::NoTls).is_err() {
            assert!(Instant::now() < deadline, "the server does not answer");
            // As long as a process of the server that was killed is there, a new one refuses to start.
            if self.child.try_wait().unwrap().is_some() {
                self.child = Self::serve(&programs().unwrap(), self.folder.path());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn url(&self, database: &str) -> String {
        format!("host={} user=test dbname={database}", self.folder.path().display())
    }

    /// The address of a new, empty database.
    pub(crate) fn database(&self) -> String {
        let name = format!("t{}", self.databases.fetch_add(1, Ordering::Relaxed));
        let mut client = self.client("postgres");
        client.batch_execute(&format!("CREATE DATABASE {name}")).unwrap();
        self.url(&name)
    }

    pub(crate) fn client(&self, database: &str) -> postgres::Client {
        postgres::Client::connect(&self.url(database), postgres::NoTls).unwrap()
    }

    /// Kills the server as a power cut would end it, and starts it again.
    pub(crate) fn crash_and_restart(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let _stale = fs::remove_file(self.folder.path().join("data/postmaster.pid"));
        self.child = Self::serve(&programs().unwrap(), self.folder.path());
        self.wait_until_ready();
    }

    /// Shuts the server down as an operator would, and starts it again.
    pub(crate) fn restart(&mut self) {
        end(&mut self.child, "INT");
        self.child = Self::serve(&programs().unwrap(), self.folder.path());
        self.wait_until_ready();
    }

    /// Kills the server as a power cut would end it, for good.
    pub(crate) fn crash(mut self) {
        // The line of the shared memory that nobody will ask for any more: its key and its id.
        let notes = fs::read_to_string(self.folder.path().join("data/postmaster.pid")).unwrap();
        let memory = notes.lines().nth(6).and_then(|line| line.split_whitespace().nth(1)).unwrap().to_owned();
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let removed = Command::new("ipcrm").args(["-m", &memory]).status().unwrap();
        assert!(removed.success(), "shared memory {memory} is left behind");
    }
}

impl Drop for Server {
    /// At once, but so that it takes its shared memory away.
    fn drop(&mut self) {
        end(&mut self.child, "QUIT");
    }
}

/// Ends a server with this signal, if it has not ended.
pub(crate) fn end(child: &mut Child, signal: &str) {
    if matches!(child.try_wait(), Ok(None)) {
        let told = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
        if !told.is_ok_and(|status| status.success()) {
            let _ended_already = child.kill();
        }
        let _ended_already = child.wait();
    }
}

/// Lets the others work for a while.
pub(crate) fn pause_ms(milliseconds: u64) {
    std::thread::sleep(Duration::from_millis(milliseconds));
}

/// Whether there is time for the long versions.
pub(crate) fn is_soak() -> bool {
    env::var_os("COUNTERSIGN_SOAK").is_some()
}

/// Says that a test could not run here, where the test command will count it.
pub(crate) fn skip(test: &str, why: &str) {
    let line = format!("{test}: {why}\n");
    match env::var_os("COUNTERSIGN_SKIP_LOG") {
        Some(path) => {
            let mut file = fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
            file.write_all(line.as_bytes()).unwrap();
        }
        None => print!("SKIPPED {line}"),
    }
}

pub(crate) fn programs() -> Option<PathBuf> {
    let installed = fs::read_dir("/usr/lib/postgresql").ok()?;
    let folders = installed.filter_map(|entry| Some(entry.ok()?.path().join("bin")));
    folders.filter(|folder| folder.join("postgres").exists()).max()
}

pub(crate) fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

/// Gives the folder to the user that the server runs as.
pub(crate) fn own(folder: &Path) {
    if is_root() {
        let id = |flag: &str| {
            let output = Command::new("id").args([flag, USER]).output().unwrap();
            String::from_utf8_lossy(&output.stdout).trim().parse::<u32>().unwrap()
        };
        chown(folder, Some(id("-u")), Some(id("-g"))).unwrap();
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

pub(crate) fn run(program: &Path) -> Command {
    let mut command = if is_root() {
        let mut command = Command::new("setpriv");
        command.args(["--reuid", USER, "--regid", USER, "--clear-groups"]).arg(program);
        command
    } else {
        Command::new(program)
    };
    command.current_dir("/").env_remove("PGDATA").env("LC_ALL", "C");
    command
}
