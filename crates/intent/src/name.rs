//! The names in intent documents: checked where text comes in.

use alloc::{format, string::String};
use core::fmt;

use countersign_canon::{
    Alphabet, Definitions, Issue, Json, Name, Reader, Shape, Wire, canon_codes, checked_name, pattern_schema,
};

const WORD: Alphabet = Alphabet("a-z0-9_");

const fn named(prefix: &'static str, rest_min: usize, rest_max: Option<usize>) -> Shape {
    Shape { prefix, first: None, rest: WORD, rest_min, rest_max }
}

const REGISTRY_ID: Shape =
    Shape { prefix: "", first: Some(Alphabet("a-z")), rest: WORD, rest_min: 2, rest_max: Some(120) };

checked_name! {
    /// The id of an intent set.
    pub IntentSetId, "intent set id", named("intent_set_", 1, Some(64))
}
checked_name! {
    /// The id of a workflow in the registry.
    pub WorkflowId, "workflow id", REGISTRY_ID
}
checked_name! {
    /// The id of an agent in the registry.
    pub AgentId, "agent id", REGISTRY_ID
}
checked_name! {
    /// The id of a command in the registry.
    pub CommandId, "command id", REGISTRY_ID
}
checked_name! {
    /// The name of something that one command makes and another needs.
    pub ArtifactName, "artifact name", REGISTRY_ID
}
checked_name! {
    /// The id of an evaluation result.
    pub EvaluationId, "evaluation result id", named("eval_result_", 1, Some(128))
}
checked_name! {
    /// The id of a conflict.
    pub ConflictId, "conflict id", named("conflict_", 3, Some(64))
}
checked_name! {
    /// The id of a merge operation.
    pub OpId, "operation id", Shape { prefix: "op_", first: None, rest: Alphabet("0-9"), rest_min: 3, rest_max: None }
}
checked_name! {
    /// The id of a merge plan.
    pub MergePlanId, "merge plan id", named("merge_plan_", 1, Some(128))
}
checked_name! {
    /// The id of a question pack.
    pub QuestionPackId, "question pack id", named("qpack_", 1, Some(128))
}
checked_name! {
    /// The id of a question.
    pub QuestionId, "question id", named("question_", 3, Some(128))
}
checked_name! {
    /// The id of an option of a question.
    pub OptionId, "option id", named("option_", 1, Some(128))
}
checked_name! {
    /// The id of an answer pack.
    pub AnswerPackId, "answer pack id", named("apack_", 1, Some(128))
}

/// The id of an intent: `intent_…`, but not `intent_set_…`, which names sets.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IntentId(
    // INVARIANT: has the shape, and is not the id of a set.
    String,
);

impl IntentId {
    const SHAPE: Shape = named("intent_", 1, Some(64));

    /// Checks the text and takes it as an id.
    ///
    /// # Errors
    ///
    /// Fails if the text does not have the shape, or names a set.
    pub fn parse(text: &str) -> Result<Self, Issue> {
        Self::SHAPE.check("intent id", text)?;
        if text.starts_with("intent_set_") {
            return Err(Issue::new(canon_codes::NAME_SHAPE, format!("`{text}` is the id of a set"))
                .with_expected(Self::pattern()));
        }
        Ok(Self(text.into()))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IntentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Name for IntentId {
    fn parse_name(text: &str) -> Result<Self, Issue> {
        Self::parse(text)
    }

    fn as_name(&self) -> &str {
        &self.0
    }

    fn pattern() -> String {
        "^intent_(?!set_)[a-z0-9_]{1,64}$".into()
    }
}

impl Wire for IntentId {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        reader.text(json, Self::parse)
    }

    fn write(&self) -> Json<'static> {
        Json::from(self.0.clone())
    }

    fn schema(_: &mut Definitions) -> Json<'static> {
        pattern_schema(&Self::pattern())
    }
}

/// A version such as `1.4.0` or `2.0.0-rc.1`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    // INVARIANT: a semantic version; `numbers` are its first three parts.
    text: String,
    numbers: [u64; 3],
}

impl Version {
    const PATTERN: &str = "^(0|[1-9][0-9]{0,8})\\.(0|[1-9][0-9]{0,8})\\.(0|[1-9][0-9]{0,8})\
                           (-[0-9A-Za-z.-]{1,64})?(\\+[0-9A-Za-z.-]{1,64})?$";

    /// Reads a semantic version.
    ///
    /// # Errors
    ///
    /// Fails on anything else.
    pub fn parse(text: &str) -> Result<Self, Issue> {
        let refused = || {
            let shown: String = text.chars().take(80).collect();
            Issue::new(canon_codes::NAME_SHAPE, format!("`{shown}` is not a version"))
                .with_expected("a semantic version such as 1.4.0")
        };
        let (rest, build) = split_suffix(text, '+');
        let (core, pre) = split_suffix(rest, '-');
        let is_suffix = |suffix: Option<&str>| {
            suffix.is_none_or(|suffix| {
                (1..=64).contains(&suffix.len())
                    && suffix.chars().all(|c| Alphabet("0-9A-Za-z.-").contains(c))
            })
        };
        let mut parts = core.split('.').map(read_number);
        let numbers = (|| Some([parts.next()??, parts.next()??, parts.next()??]))();
        match (numbers, parts.next()) {
            (Some(numbers), None) if is_suffix(build) && is_suffix(pre) => {
                Ok(Self { text: text.into(), numbers })
            }
            _ => Err(refused()),
        }
    }

    /// The version as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What versions are compared by here: the three numbers, then the text.
    #[must_use]
    pub fn sort_key(&self) -> ([u64; 3], &str) {
        (self.numbers, &self.text)
    }
}

fn split_suffix(text: &str, mark: char) -> (&str, Option<&str>) {
    text.split_once(mark).map_or((text, None), |(before, after)| (before, Some(after)))
}

fn read_number(text: &str) -> Option<u64> {
    let is_plain = !text.is_empty()
        && text.len() <= 9
        && text.bytes().all(|byte| byte.is_ascii_digit())
        && (text == "0" || !text.starts_with('0'));
    is_plain.then(|| text.parse().ok()).flatten()
}

impl Wire for Version {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        reader.text(json, Self::parse)
    }

    fn write(&self) -> Json<'static> {
        Json::from(self.text.clone())
    }

    fn schema(_: &mut Definitions) -> Json<'static> {
        pattern_schema(Self::PATTERN)
    }
}
