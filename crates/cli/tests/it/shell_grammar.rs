//! Effect: process. Our shell grammar against `bash -n`: what we accept, bash accepts.
#![expect(clippy::disallowed_methods, reason = "Effect: process")]

use std::process::{Command, Stdio};

use countersign_action::parse_line;
use countersign_canon::Json;

const GRAMMAR: &str = include_str!("../../../../corpus/shell-grammar/lines.jsonl");
const LINES: [&str; 5] = [
    include_str!("../../../../corpus/shell/looking.jsonl"),
    include_str!("../../../../corpus/shell/working.jsonl"),
    include_str!("../../../../corpus/shell/outside.jsonl"),
    include_str!("../../../../corpus/shell/destructive.jsonl"),
    include_str!("../../../../corpus/shell/unknown.jsonl"),
];

/// Pieces that change how a line is read.
const PIECES: [&str; 40] = [
    " ",
    "\n",
    ";",
    "&",
    "|",
    "(",
    ")",
    "{ ",
    "}",
    "<",
    ">",
    "'",
    "\"",
    "`",
    "$",
    "$(",
    "${",
    "((",
    "))",
    "[[",
    "]]",
    "\\",
    "#",
    "!",
    "if ",
    "then ",
    "fi",
    "do ",
    "done",
    "case ",
    "esac",
    "=",
    "<<EOF",
    "\nEOF\n",
    "<(",
    "x=(",
    "&&",
    "||",
    ";;",
    "function ",
];

fn bash_accepts(line: &str) -> bool {
    Command::new("bash")
        .args(["--norc", "-n", "-c", "--", line])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap()
        .success()
}

fn member(row: &Json<'_>, key: &str) -> Option<String> {
    row.get(key).and_then(Json::as_str).map(str::to_owned)
}

#[test]
fn the_grammar_is_what_the_corpus_says_and_never_laxer_than_bash() {
    for row in GRAMMAR.lines() {
        let row = Json::parse(row.as_bytes()).unwrap();
        let line = member(&row, "line").unwrap();
        let refused = parse_line(&line).err().map(|issue| issue.code.to_string());
        assert_eq!(refused, member(&row, "refused"), "{line:?}");
        let is_accepted = refused.is_none() || member(&row, "bash").is_some();
        assert_eq!(bash_accepts(&line), is_accepted, "{line:?}");
    }
}

#[test]
fn mutated_lines_are_never_accepted_against_bash() {
    let rows = LINES.iter().flat_map(|file| file.lines()).chain(GRAMMAR.lines());
    let lines: Vec<String> =
        rows.map(|row| member(&Json::parse(row.as_bytes()).unwrap(), "line").unwrap()).collect();
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % u64::try_from(below.max(1)).unwrap()).unwrap()
    };
    let mut accepted = 0;
    for _ in 0..1_500 {
        let mut letters: Vec<char> = lines[random(lines.len())].chars().collect();
        for _ in 0..=random(3) {
            let at = random(letters.len() + 1);
            if random(2) == 0 {
                let end = (at + 1 + random(5)).min(letters.len());
                letters.drain(at.min(end)..end);
            } else {
                let piece = PIECES[random(PIECES.len())];
                letters.splice(at..at, piece.chars());
            }
        }
        let line: String = letters.into_iter().collect();
        if parse_line(&line).is_ok() {
            accepted += 1;
            assert!(bash_accepts(&line), "we accept what bash refuses: {line:?}");
        }
    }
    // Enough of them are still command lines for this to mean something.
    assert!(accepted > 500, "{accepted}");
}
