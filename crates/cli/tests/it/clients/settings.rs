//! What `countersign install` does to the files of a host, and what `uninstall` leaves of it.

use std::path::Path;

use super::desk::{Desk, PROGRAM};
use crate::support::Ran;

const OWN: &str = "work/.claude/settings.local.json";
const MANAGED: &str = "etc/claude-code/managed-settings.json";

/// Runs the program with this umask.
fn run_with_umask(desk: &Desk, umask: &str, arguments: &str) -> Ran {
    let line = format!("umask {umask}; exec {PROGRAM} {arguments}");
    let ran = desk.run(Path::new("/bin/sh"), &["-c", &line], &[]);
    assert_eq!(ran.exit, Some(0), "{}", ran.screen());
    ran
}

#[test]
fn settings_for_the_machine_can_be_read_by_everybody() {
    for umask in ["022", "077"] {
        let desk = Desk::new();
        run_with_umask(&desk, "022", "init");
        desk.write("etc/hosts", "");
        run_with_umask(&desk, umask, "install claude-code --managed");
        assert_eq!((desk.mode(MANAGED), desk.mode("etc/claude-code")), (0o644, 0o755), "{umask}");
    }
}

#[test]
fn settings_of_a_user_are_as_open_as_other_new_files() {
    for (umask, mode) in [("022", 0o644), ("077", 0o600), ("002", 0o664)] {
        let desk = Desk::new();
        run_with_umask(&desk, umask, "install claude-code");
        assert_eq!(desk.mode(OWN), mode, "{umask}");
    }
}

#[test]
fn settings_that_are_there_keep_their_mode_to_the_end() {
    for (place, managed) in [(OWN, ""), (MANAGED, " --managed")] {
        for mode in [0o644, 0o664, 0o604] {
            let desk = Desk::new();
            desk.write(place, "{}\n");
            desk.set_mode(place, mode);
            run_with_umask(&desk, "077", &format!("install claude-code{managed}"));
            assert_eq!(desk.mode(place), mode, "{place}");
            run_with_umask(&desk, "077", "uninstall claude-code");
            assert_eq!((desk.mode(place), desk.read(place).as_deref()), (mode, Some("{}\n")), "{place}");
        }
    }
}

/// A host may write its settings anew and close them; what was noted is the mode before.
#[test]
fn uninstall_gives_back_the_mode_that_a_host_has_changed() {
    let desk = Desk::new();
    desk.write(OWN, "{}\n");
    desk.set_mode(OWN, 0o644);
    desk.countersign(&["install", "claude-code"]);
    desk.set_mode(OWN, 0o600);
    desk.countersign(&["uninstall", "claude-code"]);
    assert_eq!(desk.mode(OWN), 0o644);
}

#[test]
fn settings_for_the_machine_that_others_cannot_read_are_found() {
    let desk = Desk::new();
    desk.write(MANAGED, "{}\n");
    desk.set_mode(MANAGED, 0o600);
    let ran = desk.run(Path::new(PROGRAM), &["install", "claude-code", "--managed"], &[]);
    assert_eq!(ran.exit, Some(1), "{}", ran.screen());
    let said = "has mode 0600: the clients of other users cannot read the hooks";
    assert!(ran.stderr().contains(said) && ran.stderr().contains("chmod a+r"), "{}", ran.screen());
    let doctor = |part: &str| {
        let ran = desk.run(Path::new(PROGRAM), &["doctor", "claude-code"], &[]);
        ran.stdout().contains(&format!("{part}` has mode 0"))
    };
    assert!(doctor(MANAGED));
    desk.set_mode(MANAGED, 0o644);
    desk.set_mode("etc/claude-code", 0o700);
    assert!(!doctor(MANAGED) && doctor("etc/claude-code"));
    desk.set_mode("etc/claude-code", 0o755);
    assert!(!doctor("etc/claude-code"));
}
