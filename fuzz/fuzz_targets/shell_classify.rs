//! Any text as a command line and as a tool call: no panic, the unknown is never safe, more is never milder.
#![no_main]

use std::sync::LazyLock;

use countersign_action::{AbsolutePath, Host, Kind, Place, Table, ToolCall, classify_line, normalise, parse_line};
use countersign_canon::Json;
use libfuzzer_sys::fuzz_target;

// The reader that the program loads its table with.
#[path = "../../crates/cli/src/yaml.rs"]
#[expect(dead_code, reason = "only the table is read here")]
mod yaml;

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let parsed = yaml::parse(include_bytes!("../../policy/actions.v1.yml"), yaml::Dialect::Texts);
    Table::load(&parsed.document.expect("the shipped table is YAML")).expect("the shipped table is valid")
});

fuzz_target!(|text: &str| {
    let path = |text| AbsolutePath::parse(text).expect("it is absolute");
    let place = Place { cwd: path("/w/app"), workspace: path("/w/app"), home: Some(path("/users/u")) };
    let kind = classify_line(&TABLE, &place, text).kind;
    match parse_line(text) {
        Err(issue) => {
            assert_eq!(kind, Kind::ShellUnknown);
            assert!(issue.offset.is_none_or(|offset| offset <= text.len()));
        }
        // A backslash at the end would join the next line to this one.
        Ok(_) if !text.ends_with('\\') => {
            for (more, at_least) in [("not_in_the_table", Kind::ShellUnknown), ("rm -rf /", Kind::ShellDestructive)] {
                let longer = classify_line(&TABLE, &place, &format!("{text}\n{more}")).kind;
                assert!(longer >= kind.max(at_least), "{longer} is milder than {kind}");
            }
        }
        Ok(_) => (),
    }
    if let Ok(call) = Json::parse(text.as_bytes()).and_then(|json| ToolCall::read(&json)) {
        for host in Host::ALL {
            if let Ok(action) = normalise(&TABLE, *host, &call, &place) {
                assert!(Json::parse(action.payload.to_canonical().as_bytes()).is_ok());
            }
        }
    }
});
