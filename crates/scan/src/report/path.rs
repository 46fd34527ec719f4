//! Paths as text: any name of any file system, each with its own spelling.

use alloc::string::String;
use core::fmt::Write as _;

/// The path as text. Names need not be UTF-8: a byte that is part of no character is written `\xNN`, and a backslash
/// `\\`, so that two paths never look the same and the bytes can be had back.
#[must_use]
pub fn show_path(path: &[u8]) -> String {
    let mut shown = String::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character == '\\' {
                shown.push('\\');
            }
            shown.push(character);
        }
        for byte in chunk.invalid() {
            let _infallible = write!(shown, "\\x{byte:02x}");
        }
    }
    shown
}
