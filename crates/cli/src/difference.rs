//! Two texts side by side, for people.

use std::fmt::Write as _;

/// The lines between the first and the last difference, in the form of a diff.
pub(crate) fn difference(path: &str, found: &str, wanted: &str) -> String {
    let (found, wanted): (Vec<&str>, Vec<&str>) = (found.split('\n').collect(), wanted.split('\n').collect());
    let before = found.iter().zip(&wanted).take_while(|(a, b)| a == b).count();
    let (found, wanted) = (found.get(before..).unwrap_or_default(), wanted.get(before..).unwrap_or_default());
    let after = found.iter().rev().zip(wanted.iter().rev()).take_while(|(a, b)| a == b).count();
    let mut text = format!("--- {path}\n+++ {path}\n@@ from line {} @@\n", before.saturating_add(1));
    for (sign, lines) in [('-', found), ('+', wanted)] {
        for line in lines.iter().take(lines.len().saturating_sub(after)) {
            let _infallible = writeln!(text, "{sign}{line}");
        }
    }
    text
}
