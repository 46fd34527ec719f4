//! The paths in a git index, read without git: versions 2, 3 and 4, SHA-1 and SHA-256, split and sparse.

/// What an index says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GitIndex {
    /// Every path as git has it; a sparse folder ends in `/`.
    pub(crate) paths: Vec<Vec<u8>>,
    /// The name of the file that holds the rest, if the index is split.
    pub(crate) shared: Option<String>,
}

/// What every entry has before its hash: times, device, inode, mode, owner, size.
const STAT_BYTES: usize = 40;
const EXTENDED: u16 = 0x4000;

impl GitIndex {
    /// Reads an index; nothing if it is not one that can be read to its end.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Self> {
        // Which hash a repository uses is not said in its index: only with the right one do the lengths add up.
        Self::parse_with(bytes, 20).or_else(|| Self::parse_with(bytes, 32))
    }

    fn parse_with(bytes: &[u8], hash_bytes: usize) -> Option<Self> {
        let mut cursor = Cursor { rest: bytes.get(..bytes.len().checked_sub(hash_bytes)?)? };
        if cursor.take(4)? != b"DIRC" {
            return None;
        }
        let version = cursor.number()?;
        if !(2..=4).contains(&version) {
            return None;
        }
        let count = cursor.number()?;
        let mut paths: Vec<Vec<u8>> = Vec::new();
        let mut last: Vec<u8> = Vec::new();
        for _ in 0..count {
            let before = cursor.rest.len();
            cursor.take(STAT_BYTES.checked_add(hash_bytes)?)?;
            let flags = cursor.short()?;
            if flags & EXTENDED != 0 && version >= 3 {
                cursor.take(2)?;
            }
            let path = if version == 4 {
                let dropped = cursor.varint()?;
                let kept = last.get(..last.len().checked_sub(dropped)?)?;
                [kept, cursor.until_nul()?].concat()
            } else {
                let path = cursor.until_nul()?.to_vec();
                // Entries are padded to eight bytes with at least the NUL that was read.
                let used = before.checked_sub(cursor.rest.len())?;
                cursor.take(used.next_multiple_of(8).checked_sub(used)?)?;
                path
            };
            if path.starts_with(b"/") {
                return None;
            }
            last.clone_from(&path);
            // In a split index, an entry without a name changes one of the shared index, which has the name.
            paths.extend(Some(path).filter(|path| !path.is_empty()));
        }
        Some(Self { paths, shared: extensions(cursor)? })
    }
}

/// Goes through the extensions to the end, and looks for the one that names a shared index.
fn extensions(mut cursor: Cursor<'_>) -> Option<Option<String>> {
    let mut shared = None;
    while !cursor.rest.is_empty() {
        let name = cursor.take(4)?;
        let length = usize::try_from(cursor.number()?).ok()?;
        let content = cursor.take(length)?;
        if name == b"link" {
            // The hash of the shared index is as long as all hashes are; the bitmaps behind it only take entries away.
            let hash = content.get(..20)?;
            let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
            shared = hash.iter().any(|byte| *byte != 0).then(|| format!("sharedindex.{hex}"));
        }
    }
    Some(shared)
}

struct Cursor<'b> {
    rest: &'b [u8],
}

impl<'b> Cursor<'b> {
    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        self.take(4)?.try_into().ok().map(u32::from_be_bytes)
    }

    fn short(&mut self) -> Option<u16> {
        self.take(2)?.try_into().ok().map(u16::from_be_bytes)
    }

    fn until_nul(&mut self) -> Option<&'b [u8]> {
        let end = self.rest.iter().position(|byte| *byte == 0)?;
        let text = self.take(end)?;
        self.take(1)?;
        Some(text)
    }

    /// The number of a version 4 entry: seven bits in each byte, each further byte adding one, as in pack offsets.
    fn varint(&mut self) -> Option<usize> {
        let mut byte = *self.take(1)?.first()?;
        let mut value = usize::from(byte & 0x7F);
        while byte & 0x80 != 0 {
            byte = *self.take(1)?.first()?;
            value = value.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7F))?;
        }
        Some(value)
    }
}

#[cfg(test)]
mod tests;
