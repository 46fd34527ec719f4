//! Timestamps, hashes, names, pointers, paths, spelling and the payload scanner.

use countersign_canon::{
    Alphabet, Json, Pointer, Position, RepoPath, Sha256, Shape, Timestamp, nearest, scan_payload,
};
use proptest::prelude::*;

#[test]
fn a_timestamp_is_a_real_instant_with_one_spelling() {
    for (text, seconds) in [
        ("1970-01-01T00:00:00Z", 0),
        ("2026-02-12T09:10:00Z", 1_770_887_400),
        ("2000-02-29T23:59:59Z", 951_868_799),
        ("1969-12-31T23:59:59Z", -1),
        ("0000-01-01T00:00:00Z", -62_167_219_200),
        ("9999-12-31T23:59:59Z", 253_402_300_799),
    ] {
        let time = Timestamp::parse(text).unwrap();
        assert_eq!((time.as_unix(), time.to_string().as_str()), (seconds, text));
    }
    for text in [
        "2026-02-12T09:10:00",
        "2026-02-12T09:10:00z",
        "2026-02-12t09:10:00Z",
        "2026-02-12 09:10:00Z",
        "2026-02-12T09:10:00.0Z",
        "2026-02-12T09:10:00+00:00",
        "2026-02-30T00:00:00Z",
        "2025-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:60Z",
        "٢٠٢٦-02-12T09:10:00Z",
        "+026-01-01T00:00:00Z",
        "",
        "12026-01-01T00:00:00Z",
    ] {
        assert_eq!(Timestamp::parse(text).unwrap_err().code.as_str(), "TIME_SHAPE", "{text}");
    }
    assert_eq!(Timestamp::parse("9999-12-31T23:59:59Z").unwrap().plus_seconds(1), None);
}

#[test]
fn a_hash_has_one_spelling() {
    let hash = Sha256::of(b"abc");
    let text = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(hash.to_string(), text);
    assert_eq!(Sha256::parse(text).unwrap(), hash);
    assert_eq!(Sha256::of_pieces([b"a".as_slice(), b"bc"]), hash);
    for bad in [text.to_uppercase(), text[1..].to_owned(), format!("{text}0"), format!("g{}", &text[1..])] {
        assert_eq!(Sha256::parse(&bad).unwrap_err().code.as_str(), "HASH_SHAPE");
    }
}

#[test]
fn a_shape_matches_what_its_pattern_says() {
    let shape = Shape {
        prefix: "",
        first: Some(Alphabet("A-Za-z")),
        rest: Alphabet("A-Za-z0-9_.:@-"),
        rest_min: 0,
        rest_max: Some(127),
    };
    assert_eq!(shape.pattern(), "^[A-Za-z][A-Za-z0-9_.:@-]{0,127}$");
    for good in ["a", "A-z_9.:@", &"a".repeat(128)] {
        assert!(shape.matches(good), "{good}");
    }
    for bad in ["", "9a", "-a", "a b", "é", "aé", "a\n", &"a".repeat(129)] {
        assert!(!shape.matches(bad), "{bad}");
    }
    let numbered = Shape { prefix: "op_", first: None, rest: Alphabet("0-9"), rest_min: 3, rest_max: None };
    assert_eq!(numbered.pattern(), "^op_[0-9]{3,}$");
    assert!(numbered.matches("op_001") && !numbered.matches("op_01") && !numbered.matches("001"));
}

#[test]
fn pointers_find_and_escape() {
    let document = Json::parse(br#"{"a/b": [{"~": 1}], "0": 2}"#).unwrap();
    let found = |text: &str| Pointer::parse(text).unwrap().find(&document).map(Json::to_canonical);
    assert_eq!(found("/a~1b/0/~0").as_deref(), Some("1"));
    assert_eq!(found("/0").as_deref(), Some("2"));
    assert_eq!(found("/a~1b/1"), None);
    assert_eq!(found("").unwrap(), document.to_canonical());
    assert_eq!(Pointer::root().key("a/b").index(0).key("~").to_string(), "/a~1b/0/~0");
    for bad in ["a", "/~", "/~2"] {
        assert_eq!(Pointer::parse(bad).unwrap_err().code.as_str(), "POINTER_SHAPE");
    }
}

#[test]
fn positions_count_lines_and_bytes_from_one() {
    let text = "a\né\n\nb".as_bytes();
    let places: Vec<_> = (0..=7).map(|offset| Position::of(text, offset).to_string()).collect();
    assert_eq!(places, ["1:1", "1:2", "2:1", "2:2", "2:3", "3:1", "4:1", "4:2"]);
    assert_eq!(Position::of(text, 99).to_string(), "4:2");
}

#[test]
fn paths_are_normalised_or_refused() {
    for (text, normal, is_directory) in [
        ("a/b.rs", "a/b.rs", false),
        ("./a//b", "a/b", false),
        ("src/api/", "src/api", true),
        ("src/.", "src", true),
        (".", "", true),
        (".hidden/..x/...", ".hidden/..x/...", false),
        ("ünï/码", "ünï/码", false),
    ] {
        let path = RepoPath::parse(text).unwrap();
        assert_eq!((path.as_str(), path.is_directory()), (normal, is_directory), "{text}");
        assert_eq!(RepoPath::parse(&path.to_string()).unwrap(), path);
    }
    for bad in ["", "/etc/passwd", "../x", "a/../../x", "a/..", "a\0b", "a\\..\\b", "//x"] {
        assert_eq!(RepoPath::parse(bad).unwrap_err().code.as_str(), "PATH_SHAPE", "{bad}");
    }
    let contains = |a: &str, b: &str| RepoPath::parse(a).unwrap().contains(&RepoPath::parse(b).unwrap());
    assert!(contains("src", "src/a") && contains("src", "src") && contains(".", "x"));
    assert!(!contains("src", "srcfoo") && !contains("src/a", "src"));
}

#[test]
fn the_nearest_spelling_is_a_slip_away_or_none() {
    let words = ["role_is", "mode_is", "session_active", "capability_present"];
    assert_eq!(nearest("rol_is", words), Some("role_is"));
    assert_eq!(nearest("Mode_Is", words), Some("mode_is"));
    assert_eq!(nearest("capability_presnet", words), Some("capability_present"));
    assert_eq!(nearest("zebra", words), None);
}

/// RL-E1, I1, DE1: the places that the one scanner finds.
mod payload_scanner {
    use super::{Json, scan_payload};

    #[track_caller]
    fn found(document: &str, places: &[&str]) {
        let document = Json::parse(document.as_bytes()).unwrap();
        let issues = scan_payload(&document).into_sorted();
        let pointers: Vec<_> = issues.iter().map(|issue| issue.pointer.to_string()).collect();
        assert_eq!(pointers, places);
        assert!(issues.iter().all(|issue| issue.code.as_str() == "EXECUTION_PAYLOAD"));
    }

    #[test]
    fn every_forbidden_key_is_found_in_any_case_and_spelling() {
        for key in [
            "execute",
            "exec",
            "eval",
            "run",
            "shell",
            "bash",
            "python",
            "python_code",
            "powershell",
            "subprocess",
            "command_line",
            "script",
            "execute_commands",
            "subprocess_calls",
            "system_calls",
            "EXECUTE",
            "Run",
            "command-line",
            "CommandLine",
            "s-h_e-l_l",
        ] {
            found(&format!(r#"{{"a": [[{{"{key}": 1}}]]}}"#), &[&format!("/a/0/0/{key}")]);
        }
    }

    #[test]
    fn every_forbidden_fragment_is_found_in_values() {
        for text in ["x subprocess y", "os.system", "eval(1)", "exec(1)", "shell=True", "Popen", "a.run(b)"] {
            found(&format!(r#"[{{"note": ["{text}"]}}]"#), &["/0/note/0"]);
        }
    }

    #[test]
    fn words_that_only_resemble_are_left_alone() {
        found(
            r#"{"command_id": "cmd_run_lint", "runs": 1, "running": "run the tests", "scripts": ["execute"],
                "evaluation": "executes nothing", "execution": "forbidden"}"#,
            &[],
        );
    }

    #[test]
    fn all_places_are_reported_at_once() {
        found(
            r#"{"run": {"shell": "os.system"}, "b": "exec("}"#,
            &["/run", "/run/shell", "/run/shell", "/b"],
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn every_second_of_ten_thousand_years_reads_back(seconds in -62_167_219_200_i64..=253_402_300_799) {
        let time = Timestamp::from_unix(seconds).unwrap();
        let text = time.to_string();
        prop_assert_eq!(text.len(), 20);
        prop_assert_eq!(Timestamp::parse(&text).unwrap(), time);
    }

    #[test]
    fn the_order_of_times_is_the_order_of_their_texts(a in -62_167_219_200_i64..=253_402_300_799, b in -62_167_219_200_i64..=253_402_300_799) {
        let (a, b) = (Timestamp::from_unix(a).unwrap(), Timestamp::from_unix(b).unwrap());
        prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
    }

    #[test]
    fn a_pointer_reads_back(keys in prop::collection::vec("[a~/0-9]{0,4}", 0..4)) {
        let pointer = keys.iter().fold(Pointer::root(), |pointer, key| pointer.key(key));
        let text = pointer.to_string();
        prop_assert_eq!(Pointer::parse(&text).unwrap().to_string(), text);
    }

    #[test]
    fn a_normalised_path_stays_inside(text in r"[a./\\]{1,12}") {
        if let Ok(path) = RepoPath::parse(&text) {
            prop_assert!(path.segments().all(|segment| !matches!(segment, "" | "." | "..")));
            prop_assert!(!path.as_str().starts_with('/'));
        }
    }
}
