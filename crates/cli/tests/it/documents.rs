//! What the documents show is what the program says: every `console` block is run, and its output compared.

use crate::support::{repository, run_in_shell, shipped_text, shipped_under};

/// Runs each `$ command` of each block from the repository's root; a line `...` stands for any lines.
#[test]
fn every_console_block_of_the_documents_is_true() {
    let mut pages = vec!["README.md".to_owned()];
    pages.extend(shipped_under("docs").into_iter().filter(|name| name.ends_with(".md")));
    let mut commands = 0;
    for page in pages {
        for (command, expected) in console_commands(&shipped_text(&page)) {
            commands += 1;
            let shown = run_in_shell(repository(), &command);
            assert!(
                matches(&expected, &shown),
                "{page}: $ {command}\n--- expected\n{expected}\n--- shown\n{shown}"
            );
        }
    }
    assert!(commands > 0, "the documents show nothing");
}

/// The commands of a page's `console` blocks, each with the output below it.
fn console_commands(page: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    let mut in_block = false;
    for line in page.lines() {
        if line.starts_with("```") {
            in_block = line == "```console";
        } else if let (true, Some(command)) = (in_block, line.strip_prefix("$ ")) {
            commands.push((command.to_owned(), String::new()));
        } else if let (true, Some((_, output))) = (in_block, commands.last_mut()) {
            output.push_str(line);
            output.push('\n');
        }
    }
    commands
}

fn matches(expected: &str, shown: &str) -> bool {
    let shown: Vec<&str> = shown.trim_end().lines().collect();
    let expected: Vec<&str> = expected.trim_end().lines().collect();
    let pieces: Vec<&[&str]> = expected.split(|line| *line == "...").collect();
    match pieces.as_slice() {
        [only] => *only == shown,
        [first, middle @ .., last] => {
            shown.starts_with(first)
                && shown.ends_with(last)
                && middle.iter().all(|piece| shown.windows(piece.len().max(1)).any(|window| window == *piece))
        }
        [] => shown.is_empty(),
    }
}

#[test]
fn an_output_with_an_ellipsis_matches_any_lines_there_and_no_others() {
    assert!(matches("a\n...\nd\n", "a\nb\nc\nd\n"));
    assert!(!matches("a\n...\nd\n", "a\nb\n"));
    assert!(matches("a\n", "a\n"));
    assert!(!matches("a\n", "a\nb\n"));
}
