//! Processes that die, disks that are full, pages that are damaged: nothing acknowledged is lost, and doubt is a denial.
#![expect(
    clippy::disallowed_methods,
    reason = "Effect: processes, files and the clock, to break things on purpose"
)]

use std::{
    env, fs,
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Stdio},
};

use countersign_ledger::{Access, EventKind};
use countersign_policy::Mode;
use countersign_store::{Call, CallError, Command as Told, Store, StoreError, StoreOptions, store_codes};

use crate::{
    lab::{Lab, action, at, origin},
    power_cut::{FOLDER, survives},
    server::{is_root, is_soak, pause_ms, skip},
};

#[test]
fn nothing_acknowledged_is_lost_when_the_process_is_killed() {
    let kills = if is_soak() { 200 } else { 20 };
    let mut acknowledged_in_all = 0;
    for round in 0..kills {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["power_cut::the_recorded_run_of_the_store", "--exact", "--test-threads=1"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // Some die while they open the store, most while they decide.
        if round % 4 > 0 {
            wait_for(&folder.path().join("acks"));
        }
        pause_ms(round * 37 % 120);
        child.kill().unwrap();
        child.wait().unwrap();
        let acks = fs::read_to_string(folder.path().join("acks")).unwrap_or_default();
        let acks: Vec<String> = acks.split_terminator('\0').map(str::to_owned).collect();
        acknowledged_in_all += acks.len();
        survives(folder.path(), &acks).unwrap_or_else(|fault| panic!("round {round}: {fault}"));
    }
    assert!(acknowledged_in_all > 0, "the process was always killed too early");
}

fn wait_for(path: &Path) {
    let tries = (0..6000).find(|_| {
        pause_ms(5);
        path.exists()
    });
    assert!(tries.is_some(), "{} does not appear", path.display());
}

/// A small disk of the test's own.
struct SmallDisk<'f>(&'f Path);

impl<'f> SmallDisk<'f> {
    fn mount(folder: &'f Path) -> Option<Self> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=3m,mode=700", "countersign-test"]).arg(folder);
        mount.status().is_ok_and(|status| status.success()).then_some(Self(folder))
    }
}

impl Drop for SmallDisk<'_> {
    fn drop(&mut self) {
        let _still_busy = Command::new("umount").arg("--lazy").arg(self.0).status();
    }
}

#[test]
fn a_full_disk_denies_and_goes_on_once_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let disk = if is_root() { SmallDisk::mount(folder.path()) } else { None };
    if disk.is_none() {
        skip("faults::a_full_disk_denies_and_goes_on_once_there_is_room", "only root can mount a small disk");
        return;
    }
    let ballast = folder.path().join("ballast");
    fs::write(&ballast, vec![0; 1 << 20]).unwrap();
    let lab = Lab::at(&folder.path().join("data"));
    let session = lab.session(Mode::WritesAllowed);
    let decide = || lab.decide(action(Some(&session), "fs.write", "x"));
    let mut acknowledged = Vec::new();
    let full = loop {
        match decide() {
            Ok((decided, answer)) => acknowledged.push((decided.decision_id, answer.checkpoint.unwrap())),
            Err(error) => break error,
        }
        assert!(acknowledged.len() < 100_000, "the disk is never full");
    };
    assert_eq!(full.code(), store_codes::URM_STORE_UNAVAILABLE, "{full}");
    for _ in 0..3 {
        assert!(matches!(decide(), Err(CallError::Store(_))), "while it is full, every answer is a denial");
    }
    fs::remove_file(&ballast).unwrap();
    decide().unwrap();
    let (_, last) = acknowledged.last().unwrap();
    lab.store.verify_log(None, std::slice::from_ref(last)).unwrap();
    for (id, _) in &acknowledged {
        assert!(lab.store.decision(id).unwrap().is_some(), "{id} was acknowledged");
    }
    drop(lab);
    drop(disk);
}

/// While a turn is being written the next one is worked out from it; if it is not written after all, that is void.
#[test]
fn what_was_worked_out_from_a_commit_that_fails_is_forgotten() {
    let lab = Lab::sqlite();
    let session = lab.session(Mode::WritesAllowed);
    let bad = action(Some(&session), "fs.write", "bad");
    let raw = rusqlite::Connection::open(lab.data.join("state.db")).unwrap();
    let refuse = format!(
        "CREATE TRIGGER refuse BEFORE INSERT ON decision WHEN NEW.decision_id = '{}'
         BEGIN SELECT RAISE(ABORT, 'refused'); END",
        bad.fresh.decision_id
    );
    raw.execute_batch(&refuse).unwrap();
    let ask = |decide| lab.queue("agent-1", Access::Agent, Told::Decide(Box::new(decide)));
    let good = || ask(action(Some(&session), "fs.write", "good"));
    for _ in 0..3 {
        good().recv().unwrap().unwrap();
        let with_bad = lab.while_the_writer_is_busy(&session, || [good(), ask(bad.clone()), good()]);
        for answer in with_bad {
            let error = answer.recv().unwrap().unwrap_err();
            assert_eq!(
                error.code(),
                store_codes::URM_STORE_UNAVAILABLE,
                "all of the turn is denied: {error}"
            );
        }
        good().recv().unwrap().unwrap();
    }
    assert!(lab.store.decision(&bad.fresh.decision_id).unwrap().is_none());
    let report = lab.store.verify_log(None, &[]).unwrap();
    let decided = lab.kinds(&session).iter().filter(|kind| **kind == EventKind::PolicyEvalPass).count();
    assert_eq!(decided, 9, "those that were acknowledged, and no other: {report:?}");
}

/// A true but older state of the store, put in place of the newer one.
#[test]
fn a_log_that_was_taken_back_is_not_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let (data, outside) = (folder.path().join("data"), folder.path().join("outside"));
    let open = || Lab::with_copy(&data, &outside);
    let (file, aside) = (data.join("state.db"), folder.path().join("aside.db"));
    let lab = open();
    let session = lab.session(Mode::WritesAllowed);
    lab.store.back_up(&aside).unwrap();
    let (_, answer) = lab.decide(action(Some(&session), "fs.read", "x")).unwrap();
    let kept = answer.checkpoint.unwrap();
    drop(lab);
    // With the same log and with a copy that is behind, all is well.
    let copy = fs::read_dir(&outside).unwrap().next().unwrap().unwrap().path();
    let newest = fs::read_to_string(&copy).unwrap();
    assert_eq!(newest, kept.as_str());
    let lab = open();
    lab.decide(action(Some(&session), "fs.read", "x")).unwrap();
    drop(lab);
    for behind in [newest.clone(), format!("{newest}left over from a longer one"), "damaged".to_owned()] {
        fs::write(&copy, behind).unwrap();
        open().decide(action(Some(&session), "fs.read", "x")).unwrap();
    }
    let newest = fs::read_to_string(&copy).unwrap();
    fs::copy(&aside, &file).unwrap();
    for _ in 0..2 {
        let lab = open();
        let refused = lab.decide(action(Some(&session), "fs.read", "x")).unwrap_err();
        assert_eq!(refused.code(), store_codes::STORE_ROLLED_BACK, "{refused}");
        assert!(refused.to_string().contains(copy.to_str().unwrap()), "{refused}");
        assert_eq!(fs::read_to_string(&copy).unwrap(), newest, "the trace stays");
        assert!(lab.store.verify_log(None, std::slice::from_ref(&kept)).is_err());
    }
    // Somebody says that it is meant to be.
    fs::remove_file(&copy).unwrap();
    open().decide(action(Some(&session), "fs.read", "x")).unwrap();
}

/// A folder that was copied with its store and its key: two logs of one name, each with a copy of its own.
#[test]
fn a_store_and_its_twin_do_not_take_each_other_for_a_rollback() {
    let folder = tempfile::tempdir().unwrap();
    let [data, twin, outside] = ["data", "twin", "outside"].map(|name| folder.path().join(name));
    let lab = Lab::with_copy(&data, &outside);
    let session = lab.session(Mode::WritesAllowed);
    fs::create_dir(&twin).unwrap();
    fs::set_permissions(&twin, fs::Permissions::from_mode(0o700)).unwrap();
    lab.store.back_up(&twin.join("state.db")).unwrap();
    fs::copy(data.join("log.key"), twin.join("log.key")).unwrap();
    drop(lab);
    for _ in 0..3 {
        for data in [&data, &twin] {
            let lab = Lab::with_copy(data, &outside);
            let (_, answer) = lab.decide(action(Some(&session), "fs.read", "x")).unwrap();
            lab.store.verify_log(None, &[answer.checkpoint.unwrap()]).unwrap();
        }
    }
}

/// Whatever page of the file is overwritten, the store says so when it is checked.
#[test]
fn a_damaged_page_is_noticed_wherever_it_is() {
    let lab = Lab::sqlite();
    let session = lab.session(Mode::WritesAllowed);
    for _ in 0..10 {
        let id = lab.approved(&session);
        lab.code(&session, "deploy", Some(&id));
    }
    let folder = tempfile::tempdir().unwrap();
    let whole = folder.path().join("whole.db");
    lab.store.back_up(&whole).unwrap();
    let whole = fs::read(whole).unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).unwrap();
    let check = |bytes: &[u8]| -> Result<(), StoreError> {
        for left_over in ["state.db-wal", "state.db-shm"] {
            let _absent = fs::remove_file(data.join(left_over));
        }
        fs::write(data.join("state.db"), bytes).unwrap();
        fs::set_permissions(data.join("state.db"), fs::Permissions::from_mode(0o600)).unwrap();
        let options = StoreOptions { data: data.clone(), database: None, checkpoints: None, now: at(0) };
        Store::open(&options)?.check_integrity()
    };
    check(&whole).unwrap();
    // Where SQLite says how large its pages are.
    let page_bytes = usize::from(u16::from_be_bytes([whole[16], whole[17]]));
    let pages = whole.len() / page_bytes;
    assert!(pages > 20, "{pages}");
    for page in 0..pages {
        let mut damaged = whole.clone();
        damaged[page * page_bytes..][..page_bytes].fill(0xA5);
        let noticed = check(&damaged).unwrap_err();
        assert_eq!(noticed.code(), store_codes::STORE_CORRUPT, "page {page}: {noticed}");
    }
}

/// What cannot be queued is refused at once, and everything that was queued is done.
#[test]
fn a_store_with_too_much_to_do_says_so_and_loses_nothing() {
    let lab = Lab::sqlite();
    let session = lab.session(Mode::WritesAllowed);
    // The last request that a desk takes without a queue.
    lab.decide(action(Some(&session), "fs.read", "x")).unwrap();
    let holder = rusqlite::Connection::open(lab.data.join("state.db")).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (answered, answers) = std::sync::mpsc::channel();
    let count = 5000;
    for _ in 0..count {
        let answered = answered.clone();
        let decide = action(Some(&session), "fs.read", "x");
        let command = Told::Decide(Box::new(decide));
        let call = Call { origin: origin("agent-1", Access::Agent), now: at(0), command };
        lab.store.submit(call, Box::new(move |answer| answered.send(answer.map(drop)).unwrap()));
    }
    drop(answered);
    holder.execute_batch("ROLLBACK").unwrap();
    let (done, refused): (Vec<_>, Vec<_>) = answers.iter().partition(Result::is_ok);
    assert_eq!(done.len().saturating_add(refused.len()), count);
    for error in &refused {
        let code = error.as_ref().unwrap_err().code();
        assert_eq!(code, store_codes::URM_STORE_BUSY);
    }
    assert!(!refused.is_empty() && done.len() >= 4096, "{} done, {} refused", done.len(), refused.len());
    let begun = lab.store.executions().unwrap().len();
    assert_eq!(begun, done.len().saturating_add(1), "what was refused did not begin");
    lab.store.verify_log(None, &[]).unwrap();
}
