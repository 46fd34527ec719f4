//! The grammar of the shell: POSIX and what agents use of bash.

mod compound;
mod condition;
mod cursor;
mod expansion;
mod grammar;
mod heredoc;
pub(crate) mod tree;
mod word;

use alloc::format;

use countersign_canon::Issue;

use self::cursor::Cursor;
pub(crate) use self::cursor::is_name;
pub use self::{
    cursor::{LINE_BYTES_MAX, NESTING_MAX},
    tree::{
        Assignment, Command, Compound, Condition, Item, List, Operator, Part, Pipeline, Redirection, Simple,
        Target, Tree, Word,
    },
};
use crate::codes;

/// Parses a command line, as bash would.
///
/// What this accepts, bash accepts too; the other way round there are constructs that are refused, because shells
/// read them in different ways or because nobody should have to judge them.
///
/// # Examples
///
/// ```
/// use countersign_action::parse_line;
///
/// assert_eq!(parse_line("make test | tail -n 5 && git status")?.list.items.len(), 1);
/// let issue = parse_line("echo $(date").unwrap_err();
/// assert_eq!((issue.code.as_str(), issue.offset), ("SHELL_UNEXPECTED_END", Some(11)));
/// # Ok::<(), countersign_canon::Issue>(())
/// ```
///
/// # Errors
///
/// Fails with the place if the text is not in the grammar, uses a construct that is not judged, is nested deeper than
/// [`NESTING_MAX`] or larger than [`LINE_BYTES_MAX`].
pub fn parse_line(text: &str) -> Result<Tree, Issue> {
    if text.len() > LINE_BYTES_MAX {
        let message = format!("found {} bytes", text.len());
        return Err(Issue::new(codes::SHELL_TOO_LARGE, message)
            .with_expected(format!("at most {LINE_BYTES_MAX}"))
            .with_offset(LINE_BYTES_MAX));
    }
    if let Some(at) = text.find('\0') {
        let issue = Issue::new(codes::SHELL_SYNTAX, "found a NUL character");
        return Err(issue.with_offset(at));
    }
    let mut cursor = Cursor::new(text);
    let list = cursor.whole()?;
    Ok(Tree { list, here_documents: cursor.here_documents })
}

#[cfg(test)]
mod tests;
