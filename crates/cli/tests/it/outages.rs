//! Services that are killed, databases that go away, disks that cannot be written: nothing acknowledged is lost, nothing is used
//! twice, and while the store is away every answer is a denial with its code.
#![expect(
    clippy::disallowed_methods,
    reason = "Effect: processes, network and the clock, to break things on purpose"
)]
#![expect(clippy::indexing_slicing, reason = "a test fails by panicking")]
#![expect(clippy::arithmetic_side_effects, reason = "small numbers in tests")]

use std::{
    net::TcpStream,
    process::{Child, Command},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    http::Town,
    postgresql::{Server, end, is_root, is_soak, own, pause_ms, programs, run, skip},
    server::{Reply, Service, Waiting},
    support::Sandbox,
};

/// How many clients ask at once.
const CLIENTS: usize = 6;

/// What clients were told.
#[derive(Default)]
struct Told {
    decisions: Vec<String>,
    permits: Vec<String>,
    checkpoint: String,
    // Codes of answers that were not a decision.
    refusals: Vec<(u16, String)>,
}

/// Asks to deploy with one approval, from many clients, until `until` is over or the service is gone.
fn load(town: &Town, approval: &str, until: impl FnOnce()) -> Told {
    let (told, stop) = (Mutex::new(Told::default()), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) && TcpStream::connect(&town.service.address).is_ok() {
                    let reply = town.decide("deploy", json!({"approval_id": approval}));
                    // An answer that did not arrive whole is no answer.
                    let Ok(json) = serde_json::from_str::<Value>(&reply.body) else { continue };
                    let mut told = told.lock().unwrap();
                    match json.pointer("/decision_id").and_then(Value::as_str) {
                        Some(id) => told.decisions.push(id.to_owned()),
                        None => told.refusals.push(reply.code()),
                    }
                    told.permits
                        .extend(json.pointer("/permit/permit_id").and_then(Value::as_str).map(str::to_owned));
                    if let Some(note) = json.pointer("/checkpoint").and_then(Value::as_str) {
                        told.checkpoint = newer(&told.checkpoint, note);
                    }
                }
            });
        }
        let _stop = Stop(&stop);
        until();
    });
    told.into_inner().unwrap()
}

/// Stops the clients, also if the test has failed.
struct Stop<'s>(&'s AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn newer(one: &str, other: &str) -> String {
    let size = |note: &str| note.lines().nth(1).and_then(|size| size.parse::<u64>().ok()).unwrap_or_default();
    if size(one) > size(other) { one.to_owned() } else { other.to_owned() }
}

/// Everything that clients were told is there, once.
fn check(town: &Town, told: &Told, approval: &str, database: &[&str]) {
    for id in told.decisions.iter().rev().take(50) {
        let found = town.service.get(&town.admin, &format!("/v1/decisions/{id}"));
        assert_eq!(found.status, 200, "{id} is lost: {found:?}");
    }
    assert!(told.permits.len() <= 1, "{approval} was used {} times", told.permits.len());
    let executions = town.service.get(&town.admin, "/v1/executions?limit=1000").json();
    let of_this = |execution: &&Value| execution["approval_id"] == json!(approval);
    let begun = executions["executions"].as_array().unwrap().iter().filter(of_this).count();
    let state = town.service.get(&town.admin, &format!("/v1/approvals/{approval}")).text("/approval/state");
    assert_eq!(begun, usize::from(state == "consumed"), "{approval} is {state}");
    assert!(begun >= told.permits.len(), "a permit was lost");
    if !told.checkpoint.is_empty() {
        town.service.sandbox.write("kept.checkpoint", &told.checkpoint);
        let verified = town
            .service
            .sandbox
            .run(&[&["log", "verify", "--outside", "kept.checkpoint"], database].concat());
        assert!(verified.stdout().starts_with("L3: "), "{}", verified.screen());
    }
}

fn killed_again_and_again(database: &[&str]) {
    let kills = if is_soak() { 200 } else { 6 };
    let mut town = Town::at(Service::start_in(Sandbox::new(), database), database);
    let (mut decisions, mut permits) = (0, 0);
    for round in 0..kills {
        let approval = town.request();
        assert_eq!(town.grant("ann", &approval).status, 200);
        let process = town.service.id().to_string();
        let told = load(&town, &approval, || {
            pause_ms(round * 37 % 150);
            assert!(Command::new("kill").args(["-9", &process]).status().unwrap().success());
        });
        town.service.crash_and_restart(database);
        check(&town, &told, &approval, database);
        decisions += told.decisions.len();
        permits += told.permits.len();
    }
    assert!(decisions > 0 && permits > 0, "{decisions} decisions, {permits} permits: killed too early");
}

#[test]
fn nothing_acknowledged_is_lost_when_the_service_is_killed_on_sqlite() {
    killed_again_and_again(&[]);
}

#[test]
fn nothing_acknowledged_is_lost_when_the_service_is_killed_on_postgresql() {
    let Some(server) = Server::start("outages::killed_on_postgresql") else { return };
    let url = server.database();
    killed_again_and_again(&["--database", &url]);
}

#[test]
fn while_postgresql_is_away_every_answer_is_a_denial_and_then_it_goes_on() {
    let Some(mut server) = Server::start("outages::while_postgresql_is_away") else { return };
    let url = server.database();
    let database = ["--database", url.as_str()];
    let town = Town::at(Service::start_in(Sandbox::new(), &database), &database);
    for round in 0..if is_soak() { 20 } else { 2 } {
        let approval = town.request();
        assert_eq!(town.grant("ann", &approval).status, 200);
        let told = load(&town, &approval, || {
            pause_ms(100);
            if round % 2 == 0 {
                server.crash_and_restart()
            } else {
                server.restart()
            }
            pause_ms(100);
        });
        for (status, code) in &told.refusals {
            assert_eq!((*status, code.as_str()), (503, "URM_STORE_UNAVAILABLE"));
        }
        assert!(!told.refusals.is_empty(), "nobody asked while the database was away");
        assert_eq!(
            town.decide("fs.read", json!({})).status,
            200,
            "it is back, so the very first is answered"
        );
        check(&town, &told, &approval, &database);
    }
}

#[test]
fn three_services_on_one_postgresql_give_an_approval_once() {
    let Some(server) = Server::start("outages::three_services") else { return };
    let url = server.database();
    let database = ["--database", url.as_str()];
    let town = Town::at(Service::start_in(Sandbox::new(), &database), &database);
    let others = [(); 2].map(|()| Service::start_in(Sandbox::new(), &database));
    let services = [&town.service, &others[0], &others[1]];
    for round in 0..if is_soak() { 100 } else { 2 } {
        let approval = town.request();
        assert_eq!(town.grant("ann", &approval).status, 200);
        let with = json!({"approval_id": approval});
        // A thousand requests lack one byte each, then none.
        let mut waiting: Vec<Waiting> = (0..1000)
            .map(|index| services[index % 3].begin_to_decide(&town.agent, &town.session, "deploy", &with))
            .collect();
        waiting.iter_mut().for_each(Waiting::finish);
        let replies: Vec<Reply> = waiting.into_iter().map(Waiting::reply).collect();
        let mut told: Vec<(u16, String, bool)> = replies
            .iter()
            .map(|reply| {
                let (status, code) = reply.code();
                (status, code, reply.json().get("permit").is_some())
            })
            .collect();
        told.sort();
        let used = (200, "URM_APPROVAL_CONSUMED".to_owned(), false);
        assert_eq!(
            told.iter().filter(|told| **told == used).count(),
            999,
            "round {round}: {:?}",
            told.first()
        );
        assert_eq!(told.first(), Some(&(200, "APPROVED_WRITE_ALLOWED".to_owned(), true)), "round {round}");
    }
    let verified = town.service.sandbox.run(&[&["log", "verify"], &database[..]].concat());
    assert!(verified.stdout().starts_with("L3: "), "{}", verified.screen());
    // Each closes its connections and ends without a word.
    for service in others {
        assert_eq!(service.stop(), Some(0));
    }
    assert_eq!(town.service.stop(), Some(0));
}

/// A standby that holds every commit of its server before it is answered.
struct Standby {
    folder: tempfile::TempDir,
    child: Child,
}

impl Standby {
    fn of(server: &Server) -> Self {
        let folder = tempfile::tempdir().unwrap();
        own(folder.path());
        let programs = programs().unwrap();
        let copied = run(&programs.join("pg_basebackup"))
            .args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync", "--username=test", "--host"])
            .arg(server.folder.path())
            .arg("-D")
            .arg(folder.path().join("data"))
            .output()
            .unwrap();
        assert!(copied.status.success(), "{}", String::from_utf8_lossy(&copied.stderr));
        let child = Server::serve(&programs, folder.path());
        let mut client = server.client("postgres");
        client.batch_execute("ALTER SYSTEM SET synchronous_standby_names = '*'").unwrap();
        client.batch_execute("SELECT pg_reload_conf()").unwrap();
        let query = "SELECT 1 FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')";
        let deadline = Instant::now().checked_add(Duration::from_secs(60)).unwrap();
        while client.query(query, &[]).unwrap().is_empty() {
            assert!(Instant::now() < deadline, "the standby does not follow");
            pause_ms(50);
        }
        Self { folder, child }
    }

    fn promote(&self) {
        let url = format!("host={} user=test dbname=postgres", self.folder.path().display());
        let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
        client.batch_execute("SELECT pg_promote()").unwrap();
    }
}

impl Drop for Standby {
    fn drop(&mut self) {
        end(&mut self.child, "QUIT");
    }
}

#[test]
fn a_promoted_standby_has_everything_that_was_acknowledged() {
    let Some(server) = Server::start("outages::a_promoted_standby") else { return };
    let url = server.database();
    let alone = Service::start_in(Sandbox::new(), &["--database", &url]);
    let doctor = alone.sandbox.run(&["doctor", "--database", &url]);
    assert!(doctor.stdout().contains("WRONG synchronous standbys: 0"), "{}", doctor.screen());
    drop(alone);
    let standby = Standby::of(&server);
    // Both servers by name: whichever takes writes is the one.
    let hosts = format!("host={},{} ", server.folder.path().display(), standby.folder.path().display());
    let user = url.split_once(' ').unwrap().1;
    let url = format!("{hosts}{user} target_session_attrs=read-write");
    let database = ["--database", url.as_str()];
    let town = Town::at(Service::start_in(Sandbox::new(), &database), &database);
    let doctor = town.service.sandbox.run(&[&["doctor"], &database[..]].concat());
    assert!(doctor.stdout().contains("ok    synchronous standbys: 1"), "{}", doctor.screen());
    let approval = town.request();
    assert_eq!(town.grant("ann", &approval).status, 200);
    let told = load(&town, &approval, || {
        pause_ms(200);
        server.crash();
        standby.promote();
        pause_ms(200);
    });
    for (status, code) in &told.refusals {
        assert_eq!((*status, code.as_str()), (503, "URM_STORE_UNAVAILABLE"));
    }
    assert_eq!(town.decide("fs.read", json!({})).status, 200, "the service finds the new server by itself");
    check(&town, &told, &approval, &database);
    assert!(!told.decisions.is_empty() && !told.permits.is_empty());
}

/// A small disk of the test's own.
struct Disk<'s>(&'s Sandbox);

impl Disk<'_> {
    fn mount(&self, options: &str) -> bool {
        let place = self.0.path().join("disk");
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "countersign-test"]).arg(place);
        mount.status().is_ok_and(|status| status.success())
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        let _still_busy = Command::new("umount").arg("--lazy").arg(self.0.path().join("disk")).status();
    }
}

#[test]
fn a_disk_that_cannot_be_written_denies_and_goes_on_once_it_can() {
    let sandbox = Sandbox::new();
    sandbox.write("disk/.keep", "").write("read.json", "{}");
    let disk = Disk(&sandbox);
    if !is_root() || !disk.mount("size=16m,mode=700") {
        skip("outages::a_disk_that_cannot_be_written", "only root can mount a small disk");
        return;
    }
    let data = ["--data", "disk/data"];
    let started = sandbox.run(&[&["session", "start", "--role", "copilot"], &data[..]].concat());
    let session = started.stdout().trim_end();
    let decide = || {
        let asked =
            ["decide", "--session", session, "--kind", "fs.read", "--payload", "read.json", "--proceed"];
        sandbox.run(&[&asked[..], &data].concat())
    };
    assert_eq!(decide().exit, Some(0));
    assert!(disk.mount("remount,ro"));
    let denied = decide();
    assert_eq!(denied.exit, Some(2), "{}", denied.screen());
    assert!(denied.stderr().contains("URM_STORE_UNAVAILABLE"), "{}", denied.screen());
    let served = sandbox.run(&[&["serve", "--listen", "127.0.0.1:0"], &data[..]].concat());
    assert_eq!(served.exit, Some(2), "{}", served.screen());
    assert!(disk.mount("remount,rw"));
    assert_eq!(decide().exit, Some(0), "no repair is needed");
    let verified = sandbox.run(&[&["log", "verify"], &data[..]].concat());
    assert!(verified.stdout().starts_with("L3: "), "{}", verified.screen());
}
