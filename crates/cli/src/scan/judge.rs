//! One file through the engine, in pieces of one buffer.

use std::io::{self, Read};

use countersign_scan::{FileSearch, Finding, PatternSet, Piece};

/// How much of a file is looked at together; most files are smaller.
const PIECE_BYTES: usize = 256 * 1024;

/// Searches what the reader gives, in the buffer, and says how many bytes that was.
///
/// If the length is known, the reader is not asked for more than that.
pub(crate) fn search(
    reader: &mut impl Read,
    length: Option<u64>,
    set: &PatternSet,
    buffer: &mut Vec<u8>,
) -> io::Result<(Vec<Finding>, u64)> {
    let room = PIECE_BYTES.saturating_add(set.piece_bytes_min());
    if buffer.len() < room {
        buffer.resize(room, 0);
    }
    let mut search = FileSearch::new(set);
    let (mut filled, mut total) = (0_usize, 0_u64);
    loop {
        let free = buffer.get_mut(filled..).unwrap_or_default();
        let count = match reader.read(free) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        filled = filled.saturating_add(count);
        total = total.saturating_add(u64::try_from(count).unwrap_or(0));
        // Files of some file systems say that they are empty and are not; those are read to their end.
        let is_end = count == 0 || length.is_some_and(|length| length > 0 && total >= length);
        let window = buffer.get(..filled).unwrap_or_default();
        if is_end {
            search.piece(window, Piece::Last);
            return Ok((search.finish(), total));
        }
        if filled == buffer.len() {
            let done = search.piece(window, Piece::Middle);
            buffer.copy_within(done..filled, 0);
            filled = filled.saturating_sub(done);
        }
    }
}
