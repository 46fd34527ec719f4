//! UTF-16 with a byte order mark, read as text as well, so that an encoding hides nothing.

use alloc::vec::Vec;

use super::{Finding, PatternSet, Piece, pass::Pass};
use crate::verdict::Encoding;

/// The transcoded reading of a file.
#[derive(Debug)]
pub(super) struct Wide {
    encoding: Encoding,
    pass: Pass,
    /// How many bytes at the front are the mark.
    mark: usize,
    /// A byte that waits for its other half.
    half: Option<u8>,
    /// The first of two units that make one character.
    high: Option<u16>,
    /// Transcoded text that is not done with.
    text: Vec<u8>,
}

/// Text is searched when so much of it has come together.
const TEXT_BYTES: usize = 128 * 1024;

impl Wide {
    /// Looks for a byte order mark at the top of a file.
    pub(super) fn detect(top: &[u8]) -> Option<Self> {
        let encoding = match top.get(..2)? {
            [0xFF, 0xFE] => Encoding::Utf16Le,
            [0xFE, 0xFF] => Encoding::Utf16Be,
            _ => return None,
        };
        Some(Self {
            encoding,
            pass: Pass::new(Some(encoding)),
            mark: 2,
            half: None,
            high: None,
            text: Vec::new(),
        })
    }

    /// Takes the next bytes of the file.
    pub(super) fn push(&mut self, set: &PatternSet, bytes: &[u8], piece: Piece) {
        let skipped = self.mark.min(bytes.len());
        self.mark = self.mark.saturating_sub(skipped);
        let bytes = bytes.get(skipped..).unwrap_or_default();
        for &byte in bytes {
            let Some(first) = self.half.take() else {
                self.half = Some(byte);
                continue;
            };
            self.unit(match self.encoding {
                Encoding::Utf16Le => u16::from_le_bytes([first, byte]),
                Encoding::Utf16Be => u16::from_be_bytes([first, byte]),
            });
            if self.text.len() >= TEXT_BYTES.saturating_add(set.piece_bytes_min()) {
                self.search(set, Piece::Middle);
            }
        }
        if piece == Piece::Last {
            if self.high.take().is_some() || self.half.is_some() {
                self.character(char::REPLACEMENT_CHARACTER);
            }
            self.search(set, Piece::Last);
        }
    }

    pub(super) fn into_findings(self) -> Vec<Finding> {
        self.pass.into_findings()
    }

    fn search(&mut self, set: &PatternSet, piece: Piece) {
        let consumed = self.pass.window(set, &self.text, piece);
        self.text.drain(..consumed);
    }

    /// Takes one unit; half of a pair that stands alone becomes the replacement character.
    fn unit(&mut self, unit: u16) {
        if let Some(high) = self.high.take() {
            if let Some(Ok(character)) = char::decode_utf16([high, unit]).next() {
                self.character(character);
                return;
            }
            self.character(char::REPLACEMENT_CHARACTER);
        }
        if (0xD800..0xDC00).contains(&unit) {
            self.high = Some(unit);
        } else {
            self.character(char::from_u32(u32::from(unit)).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
    }

    fn character(&mut self, character: char) {
        let mut room = [0_u8; 4];
        self.text.extend_from_slice(character.encode_utf8(&mut room).as_bytes());
    }
}
