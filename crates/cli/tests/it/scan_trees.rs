//! Trees made to hurt, and trees that must give the same bytes.

use std::fmt::Write as _;

use crate::{
    scan::{one_rule, violations},
    support::{Ran, Sandbox, is_soak, shell, skip},
};

#[track_caller]
fn done(ran: Ran) -> String {
    assert_eq!(ran.exit, Some(0), "{}", ran.screen());
    ran.stdout().to_owned()
}

#[track_caller]
fn scan(sandbox: &Sandbox, options: &[&str]) -> Ran {
    let ran = sandbox.run(&[&["scan"], options].concat());
    assert!(matches!(ran.exit, Some(0 | 1)), "{}", ran.screen());
    ran
}

/// Three hundred files in folders, written in this order.
fn tree(order: impl Iterator<Item = u32>) -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("rules/boundaries.yml", one_rule("['**/*.tf']", "[bad, a, '7']"));
    for number in order {
        sandbox
            .write(&format!("d{}/e{}/f{number}.tf", number % 7, number % 3), format!("a\nb {number}\nbad\n"));
    }
    sandbox
}

#[test]
fn the_same_files_give_the_same_bytes() {
    let sandbox = tree(0..300);
    let expected = scan(&sandbox, &[]).stdout;
    assert!(expected.len() > 100_000);
    assert_eq!(scan(&sandbox, &[]).stdout, expected, "run twice");
    for threads in ["1", "2", "8", "64"] {
        assert_eq!(scan(&sandbox, &["--threads", threads]).stdout, expected, "with {threads} threads");
    }
    let path = sandbox.path().to_str().unwrap();
    let elsewhere = shell(std::path::Path::new("/"), &format!("countersign scan '{path}' || true"));
    assert_eq!(elsewhere.stdout, expected, "from another working directory");
    let copy = Sandbox::new();
    done(shell(copy.path(), &format!("mkdir -p deep/er; cp -r '{path}/.' deep/er/")));
    assert_eq!(shell(copy.path(), "countersign scan deep/er || true").stdout, expected, "under another path");
    assert_eq!(scan(&tree((0..300).rev()), &[]).stdout, expected, "created in another order");
    for format in ["text", "sarif", "junit", "github", "markdown"] {
        let one = scan(&sandbox, &["--format", format, "--threads", "1"]).stdout;
        assert_eq!(scan(&sandbox, &["--format", format, "--threads", "8"]).stdout, one, "{format}");
    }
}

#[test]
fn links_pipes_and_sockets_are_named_and_not_followed() {
    let sandbox = Sandbox::new();
    sandbox.write("rules/boundaries.yml", one_rule("['**/*.tf']", "[bad]")).write("real.txt", "bad");
    let outside = Sandbox::new();
    outside.write("secret.tf", "bad");
    done(shell(
        sandbox.path(),
        &format!(
            "ln -s real.txt link.tf; ln -s '{0}/secret.tf' escape.tf; ln -s '{0}' folder; ln -s . loop; ln -s loop.tf loop.tf
             ln -s nowhere dangling.tf; mkdir sub; ln -s .. sub/up; mkfifo pipe.tf
             python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"socket.tf\")'",
            outside.path().display()
        ),
    ));
    let ran = scan(&sandbox, &[]);
    assert_eq!(ran.exit, Some(0), "{}", ran.screen());
    let verdict: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    let expected = [
        ("dangling.tf", "symlink"),
        ("escape.tf", "symlink"),
        ("link.tf", "symlink"),
        ("loop.tf", "symlink"),
        ("pipe.tf", "fifo"),
        ("socket.tf", "socket"),
    ];
    let expected = expected.map(|(file, reason)| serde_json::json!({"file": file, "reason": reason}));
    assert_eq!(verdict["skipped"], serde_json::json!(expected));
}

/// Runs a scan as somebody who may not read everything, also where the tests run as root.
fn scan_as_nobody(sandbox: &Sandbox) -> Option<Ran> {
    let script = "
        if [ \"$(id -u)\" != 0 ]; then exec countersign scan; fi
        chmod 755 .; [ -e program ] || ln \"$(command -v countersign)\" program || cp \"$(command -v countersign)\" program
        setpriv --reuid=65534 --regid=65534 --clear-groups ./program scan";
    let ran = shell(sandbox.path(), script);
    let is_impossible = ran.exit == Some(127) || ran.stderr().contains("setpriv:");
    (!is_impossible).then_some(ran)
}

#[test]
fn what_cannot_be_read_is_an_error_and_never_skipped_in_silence() {
    let sandbox = Sandbox::new();
    sandbox.write("rules/boundaries.yml", one_rule("['a/**/*.tf']", "[bad]"));
    sandbox.write("a/readable.tf", "fine").write("a/closed.tf", "fine").write("a/closed.md", "bad");
    sandbox.write("b/closed/x.tf", "bad");
    done(shell(sandbox.path(), "chmod 000 a/closed.md b/closed"));
    let Some(ran) = scan_as_nobody(&sandbox) else {
        return skip("what_cannot_be_read_is_an_error", "nobody else can be made of this user");
    };
    // No rule meets what is closed here.
    assert_eq!(ran.exit, Some(0), "{}", ran.screen());
    done(shell(sandbox.path(), "chmod 000 a/closed.tf"));
    let ran = scan_as_nobody(&sandbox).unwrap();
    assert_eq!((ran.exit, ran.stdout()), (Some(2), ""), "{}", ran.screen());
    assert!(
        ran.stderr().contains("error[SCAN_UNREADABLE]: `a/closed.tf` could not be read"),
        "{}",
        ran.screen()
    );
    done(shell(sandbox.path(), "rm a/closed.tf; mkdir a/folder; chmod 000 a/folder"));
    let ran = scan_as_nobody(&sandbox).unwrap();
    assert_eq!(ran.exit, Some(2), "{}", ran.screen());
    assert!(ran.stderr().contains("`a/folder/` could not be read"), "{}", ran.screen());
    done(shell(sandbox.path(), "chmod -R 755 ."));
}

#[test]
fn an_encoding_hides_nothing() {
    let sandbox = Sandbox::new();
    sandbox.write("rules/boundaries.yml", one_rule("['**/*.tf']", "['0.0.0.0/0']"));
    let line = "cidr = \"0.0.0.0/0\"\n";
    let wide = |unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
        "\u{feff}".encode_utf16().chain(line.encode_utf16()).flat_map(unit).collect()
    };
    sandbox.write("plain.tf", line).write("bom.tf", format!("\u{feff}{line}"));
    sandbox
        .write("crlf.tf", line.replace('\n', "\r\n"))
        .write("nul.tf", [b"\0", line.as_bytes(), b"\0"].concat());
    sandbox.write("latin.tf", [b"\xe9\xff", line.as_bytes()].concat());
    sandbox
        .write("le.tf", wide(u16::to_le_bytes))
        .write("be.tf", wide(u16::to_be_bytes))
        .write("empty.tf", "");
    let ran = scan(&sandbox, &[]);
    let expected = [
        "R-1 be.tf:1:19 0.0.0.0/0",
        "R-1 bom.tf:1:12 0.0.0.0/0",
        "R-1 crlf.tf:1:9 0.0.0.0/0",
        "R-1 latin.tf:1:11 0.0.0.0/0",
        "R-1 le.tf:1:19 0.0.0.0/0",
        "R-1 nul.tf:1:10 0.0.0.0/0",
        "R-1 plain.tf:1:9 0.0.0.0/0",
    ];
    assert_eq!(violations(&ran), expected);
    assert!(
        ran.stdout().contains("\"encoding\": \"utf-16be\"")
            && ran.stdout().contains("\"encoding\": \"utf-16le\"")
    );
}

#[test]
fn a_pattern_across_a_buffer_boundary_is_found() {
    let sandbox = Sandbox::new();
    sandbox.write("rules/boundaries.yml", one_rule("['**']", "[needle]"));
    let piece = 256 * 1024;
    // Around where the first piece may end, and around where a second one may.
    let offsets: Vec<usize> =
        (piece - 12..piece + 4200).step_by(97).chain(2 * piece - 6..2 * piece + 6).collect();
    for offset in &offsets {
        let mut contents = vec![b'.'; 3 * piece];
        contents.splice(offset..&(offset + 6), *b"needle");
        contents[offset / 2] = b'\n';
        sandbox.write(&format!("f{offset}"), contents);
    }
    let ran = scan(&sandbox, &[]);
    let mut expected: Vec<String> =
        offsets.iter().map(|offset| format!("R-1 f{offset}:2:{} needle", offset - offset / 2)).collect();
    expected.sort_by(|a, b| a.split(':').next().cmp(&b.split(':').next()));
    assert_eq!(violations(&ran), expected);
}

#[test]
fn memory_does_not_grow_with_the_file() {
    let sandbox = Sandbox::new();
    sandbox.write("rules/boundaries.yml", one_rule("['**/big.bin']", "[needle, other]"));
    let mebibytes: u64 = if is_soak() { 2048 } else { 300 };
    done(shell(sandbox.path(), &format!("truncate -s {mebibytes}M big.bin; printf 'needle' >> big.bin")));
    // The whole address space, program and stacks included, is smaller than the file.
    let ran = shell(sandbox.path(), "ulimit -v 200000; countersign scan --threads 2 || true");
    let expected = format!("R-1 big.bin:1:{} needle", mebibytes * 1024 * 1024 + 1);
    assert_eq!(violations(&ran), [expected]);
}

#[test]
fn a_folder_with_very_many_files_is_walked() {
    let count = if is_soak() { 200_000 } else { 5_000 };
    let sandbox = Sandbox::new();
    sandbox.write("rules/boundaries.yml", one_rule("['**']", "['x17x']"));
    let script = format!("import os\nfor n in range({count}):\n    open(f'f{{n}}', 'w').write(f'x{{n}}x')");
    done(shell(sandbox.path(), &format!("python3 -c \"{script}\"")));
    let ran = shell(sandbox.path(), "ulimit -v 400000; countersign scan || true");
    assert_eq!(violations(&ran), ["R-1 f17:1:1 x17x"]);
    assert!(ran.stdout().contains(&format!("\"files_matched\": {count}")), "{}", ran.stdout());
}

#[test]
fn ten_thousand_patterns_are_searched_at_once() {
    let sandbox = Sandbox::new();
    let mut patterns = String::new();
    for number in 0..10_000 {
        write!(patterns, "'<{number}>', ").unwrap();
    }
    sandbox.write("rules/boundaries.yml", one_rule("['**/*.tf']", &format!("[{patterns}]")));
    sandbox.write("a.tf", "<9999> <0>\n<77>").write("b.tf", "nothing");
    let expected = ["R-1 a.tf:1:8 <0>", "R-1 a.tf:2:1 <77>", "R-1 a.tf:1:1 <9999>"];
    assert_eq!(violations(&scan(&sandbox, &[])), expected);
}

#[test]
fn overlapping_patterns_of_several_rules_are_all_reported() {
    let sandbox = Sandbox::new();
    let second = one_rule("['**/*.tf']", "['\"public-read', ublic]")
        .replace("boundaries:\n", "")
        .replace("R-1", "R-2");
    sandbox.write(
        "rules/boundaries.yml",
        one_rule("['*.tf']", "['\"public-read-write\"', '\"public-read']") + &second,
    );
    sandbox.write("a.tf", "acl = \"public-read-write\"");
    let expected = [
        "R-1 a.tf:1:7 \"public-read-write\"",
        "R-1 a.tf:1:7 \"public-read",
        "R-2 a.tf:1:7 \"public-read",
        "R-2 a.tf:1:9 ublic",
    ];
    assert_eq!(violations(&scan(&sandbox, &[])), expected);
}

#[test]
fn only_the_targets_own_git_folder_is_left_out() {
    let sandbox = Sandbox::new();
    sandbox.write("rules/boundaries.yml", one_rule("['**']", "[bad]"));
    sandbox
        .write(".git/config", "bad")
        .write("sub/.git/config", "bad")
        .write(".gitignore", "*\nbad")
        .write(".hidden/x", "bad");
    let expected = ["R-1 .gitignore:2:1 bad", "R-1 .hidden/x:1:1 bad", "R-1 sub/.git/config:1:1 bad"];
    assert_eq!(violations(&scan(&sandbox, &[])), expected);
}

#[test]
fn a_target_that_is_no_folder_is_an_error() {
    let sandbox = Sandbox::new();
    sandbox.write("file", "");
    for target in ["file", "nowhere"] {
        let ran = sandbox.run(&["scan", target]);
        assert_eq!(ran.exit, Some(2));
        assert!(ran.stderr().contains("SCAN_TARGET"), "{}", ran.screen());
    }
}

#[test]
fn names_of_any_bytes_are_told_apart() {
    let sandbox = Sandbox::new();
    sandbox.write("rules/boundaries.yml", one_rule("['**/*.tf']", "[bad]"));
    done(shell(
        sandbox.path(),
        "echo bad > $'a\\xff.tf'; echo bad > $'a\\xfe.tf'; echo bad > 'a\\xff.tf'; echo bad > $'n\\nl.tf'",
    ));
    let expected =
        ["R-1 a\\\\xff.tf:1:1 bad", "R-1 a\\xfe.tf:1:1 bad", "R-1 a\\xff.tf:1:1 bad", "R-1 n\nl.tf:1:1 bad"];
    assert_eq!(violations(&scan(&sandbox, &[])), expected);
}

#[test]
fn very_deep_folders_are_walked() {
    let sandbox = Sandbox::new();
    sandbox.write("rules/boundaries.yml", one_rule("['**/*.tf']", "[bad]"));
    sandbox.write(&format!("{}x.tf", "d/".repeat(500)), "bad");
    assert_eq!(violations(&scan(&sandbox, &[])), [format!("R-1 {}x.tf:1:1 bad", "d/".repeat(500))]);
}
