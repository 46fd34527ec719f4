//! Checksums: what each document's own covers.

use alloc::vec::Vec;

use countersign_canon::{Checksum, Issue, Json, Pointer, Sha256, Value};

use crate::code::codes;

/// The documents that carry a checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentKind {
    /// An intent: all but `audit.checksum`.
    Intent,
    /// A set: its context and its ids, sorted.
    IntentSet,
    /// A result: all but `checksum`.
    Evaluation,
    /// A plan: all but `checksum`.
    MergePlan,
    /// A question pack: all but `checksum`.
    QuestionPack,
    /// An answer pack: all but `checksum`.
    AnswerPack,
}

impl DocumentKind {
    /// What the document says it is.
    ///
    /// # Errors
    ///
    /// Fails if it says nothing, or something else.
    pub fn of(document: &Json<'_>) -> Result<Self, Issue> {
        match document.get("type").and_then(Json::as_str) {
            Some("execution_intent") => Ok(Self::Intent),
            Some("intent_set") => Ok(Self::IntentSet),
            Some("intent_evaluation_result") => Ok(Self::Evaluation),
            Some("intent_merge_plan") => Ok(Self::MergePlan),
            Some("question_pack") => Ok(Self::QuestionPack),
            Some("answer_pack") => Ok(Self::AnswerPack),
            None if document.get("question_pack_checksum").is_some() => Ok(Self::AnswerPack),
            Some(_) | None => Err(Issue::new(codes::DOCUMENT_TYPE_UNKNOWN, "the document's `type` is not known")
                .with_pointer(Pointer::root().key("type"))
                .with_expected(
                    "execution_intent, intent_set, intent_evaluation_result, intent_merge_plan, question_pack or answer_pack",
                )),
        }
    }

    /// Where the document keeps its checksum.
    #[must_use]
    pub fn place(self) -> Pointer {
        self.keys().iter().fold(Pointer::root(), |place, key| place.key(key))
    }

    const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Intent => &["audit", "checksum"],
            Self::IntentSet | Self::Evaluation | Self::MergePlan | Self::QuestionPack | Self::AnswerPack => {
                &["checksum"]
            }
        }
    }

    /// The checksum of the document's content, whatever it says itself.
    #[must_use]
    pub fn checksum(self, document: &Json<'_>) -> Checksum {
        match self {
            Self::IntentSet => set_checksum(document),
            Self::Intent | Self::Evaluation | Self::MergePlan | Self::QuestionPack | Self::AnswerPack => {
                Checksum::of_canonical(document.to_canonical_without(&[self.keys()]).as_bytes())
            }
        }
    }

    /// The issue of a document whose checksum is not that of its content, if it is not.
    #[must_use]
    pub fn verify(self, document: &Json<'_>) -> Option<Issue> {
        let place = self.place();
        let found = place.find(document)?;
        let expected = self.checksum(document);
        let is_right = found
            .as_str()
            .and_then(|text| Sha256::parse(text).ok())
            .is_some_and(|found| found == *expected.digest());
        (!is_right).then(|| {
            Issue::new(codes::CHECKSUM_MISMATCH, "the checksum is not that of the content")
                .with_pointer(place)
                .with_offset(found.offset())
                .with_expected(alloc::format!("{expected}"))
                .with_hint("if the change was meant, recompute it with `countersign intent seal`")
        })
    }

    /// The same document with the right checksum.
    #[must_use]
    pub fn seal(self, document: &Json<'static>) -> Json<'static> {
        let checksum = Json::from(alloc::format!("{}", self.checksum(document)));
        let Some(object) = document.as_object().cloned() else { return document.clone() };
        let sealed = match (self, object.get("audit").and_then(Json::as_object).cloned()) {
            (Self::Intent, Some(audit)) => {
                object.with("audit", Value::Object(audit.with("checksum", checksum)).into())
            }
            (Self::Intent, None) => object,
            (
                Self::IntentSet | Self::Evaluation | Self::MergePlan | Self::QuestionPack | Self::AnswerPack,
                _,
            ) => object.with("checksum", checksum),
        };
        Value::Object(sealed).into()
    }
}

/// Seed 001: the hash of the context and the ids, which are a set.
fn set_checksum(document: &Json<'_>) -> Checksum {
    let mut ids: Vec<Json<'_>> =
        document.get("intent_ids").and_then(Json::as_array).map(<[Json<'_>]>::to_vec).unwrap_or_default();
    ids.sort_by(|a, b| a.as_str().cmp(&b.as_str()));
    let context = document.get("context").cloned().unwrap_or_else(|| Value::Null.into());
    Checksum::of_json(&Json::object([("context", context), ("intent_ids", Json::from(ids))]))
}
