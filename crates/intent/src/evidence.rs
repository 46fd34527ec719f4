//! Evidence references: a known scheme and a place, never free text.

use alloc::{format, string::String};
use core::fmt;

use countersign_canon::{Definitions, Issue, Json, Reader, RepoPath, Wire, pattern_schema};

use crate::{IntentId, code::codes};

/// The schemes that make a text a reference.
pub const EVIDENCE_SCHEMES: [&str; 12] = [
    "intent",
    "scan",
    "registry",
    "doc",
    "design",
    "fact",
    "factpack",
    "test",
    "security",
    "rule",
    "api_spec",
    "threat_model",
];

/// How long the part after the scheme may be.
const REST_CHARS_MAX: usize = 1000;

const FILE_PREFIX: &str = "scan://file/";

/// A reference to evidence, such as `scan://file/src/api/routes.rs` or `intent://intent_a/planned_commands/2`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct EvidenceRef(
    // INVARIANT: a known scheme, `://`, then 1 to REST_CHARS_MAX characters that are no control characters; a
    // `scan://file/` reference holds a path inside the repository.
    String,
);

impl EvidenceRef {
    /// Checks the text and takes it as a reference.
    ///
    /// # Errors
    ///
    /// Fails with `I4_NOT_EVIDENCE` on free text and unknown schemes, and with `INTENT_PATH` on a `scan://file/`
    /// reference that leaves the repository.
    pub fn parse(text: &str) -> Result<Self, Issue> {
        let rest = text.split_once("://").filter(|(scheme, _)| EVIDENCE_SCHEMES.contains(scheme));
        let is_reference = rest.is_some_and(|(_, rest)| {
            (1..=REST_CHARS_MAX).contains(&rest.chars().count()) && !rest.chars().any(is_control)
        });
        if !is_reference {
            let shown: String = text.chars().take(80).collect();
            return Err(Issue::new(
                codes::I4_NOT_EVIDENCE,
                format!("`{shown}` is not an evidence reference"),
            )
            .with_expected(format!("one of {}:// and a place", EVIDENCE_SCHEMES.join("://, ")))
            .with_hint("name where the evidence is, for example scan://file/src/api/routes.rs"));
        }
        if let Some(path) = text.strip_prefix(FILE_PREFIX) {
            RepoPath::parse(path).map_err(|issue| issue.under(codes::INTENT_PATH))?;
        }
        Ok(Self(text.into()))
    }

    /// The reference to a place in an intent: `intent://<id>/<place>`.
    #[must_use]
    pub fn to_intent(id: &IntentId, place: &str) -> Self {
        Self(format!("intent://{id}/{place}"))
    }

    /// The reference to a file, folder or glob; nothing if its name is too long for one or holds control characters.
    pub(crate) fn to_file(path: &RepoPath) -> Option<Self> {
        Self::parse(&format!("{FILE_PREFIX}{path}")).ok()
    }

    /// The reference as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The file that a `scan://file/` reference names.
    #[must_use]
    pub fn file(&self) -> Option<RepoPath> {
        self.0.strip_prefix(FILE_PREFIX).and_then(|path| RepoPath::parse(path).ok())
    }

    /// The id of the intent that an `intent://` reference names, whole.
    #[must_use]
    pub fn intent(&self) -> Option<&str> {
        let rest = self.0.strip_prefix("intent://")?;
        rest.split('/').next()
    }
}

const fn is_control(character: char) -> bool {
    matches!(character, '\0'..='\u{1f}' | '\u{7f}')
}

impl fmt::Display for EvidenceRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Wire for EvidenceRef {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        reader.text(json, Self::parse)
    }

    fn write(&self) -> Json<'static> {
        Json::from(self.0.clone())
    }

    fn schema(_: &mut Definitions) -> Json<'static> {
        let schemes = EVIDENCE_SCHEMES.join("|");
        pattern_schema(&format!(
            "^(?!scan://file/(/|\\.\\.(/|$)|.*/\\.\\.(/|$)|.*\\\\|$))({schemes})://[^\\u0000-\\u001f\\u007f]{{1,{REST_CHARS_MAX}}}$"
        ))
    }
}
