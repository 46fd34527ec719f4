//! The rule files exactly as they are written.

use alloc::{format, string::String, vec::Vec};

use countersign_canon::{
    Alphabet, Definitions, Issue, Json, List, Reader, RepoPath, Shape, Text, Wire, checked_name, choice,
    record,
};

use crate::{Glob, codes};

/// How many rules a bundle may have, all files together.
pub const RULES_MAX: usize = 10_000;

/// How long a pattern may be, in characters.
pub const PATTERN_CHARS_MAX: usize = 4096;

/// How many globs a rule may have.
pub const RULE_GLOBS_MAX: usize = 1000;

/// How many patterns a rule may have.
pub const RULE_PATTERNS_MAX: usize = 10_000;

checked_name! {
    /// The name of a rule.
    pub RuleId, "rule id",
    Shape {
        prefix: "",
        first: Some(Alphabet("A-Za-z0-9")),
        rest: Alphabet("A-Za-z0-9_.:/-"),
        rest_min: 0,
        rest_max: Some(127),
    }
}

choice! {
    /// The files of a bundle, in the order in which they are evaluated.
    pub enum RuleFileName {
        /// What must not be crossed.
        Boundaries = "boundaries.yml",
        /// What must stay absent.
        Invariants = "invariants.yml",
        /// What was a rule once: read and counted, never enforced.
        Deprecated = "deprecated.yml",
    }
}

impl RuleFileName {
    /// The key of its list.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Boundaries => "boundaries",
            Self::Invariants => "invariants",
            Self::Deprecated => "deprecated",
        }
    }
}

/// What happens when a rule is broken: the run fails. There is nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailMode;

impl Wire for FailMode {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        reader.text(json, |text| match text {
            "fail" => Ok(Self),
            _ => {
                let shown: String = text.chars().take(80).collect();
                let issue = Issue::new(
                    countersign_canon::canon_codes::WIRE_VALUE,
                    format!("unknown enforcement mode `{shown}`"),
                );
                Err(issue.with_expected("fail").with_hint(
                    "a broken rule fails the run; to stop enforcing a rule, move it to deprecated.yml",
                ))
            }
        })
    }

    fn write(&self) -> Json<'static> {
        Json::from("fail")
    }

    fn schema(_: &mut Definitions) -> Json<'static> {
        Json::object([("const", Json::from("fail"))])
    }
}

/// A text to look for: its UTF-8 bytes, as they are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pattern(
    // INVARIANT: 1 to PATTERN_CHARS_MAX characters.
    String,
);

impl Pattern {
    /// Takes the text as a pattern.
    ///
    /// # Errors
    ///
    /// Fails if it is empty or too long.
    pub fn parse(text: &str) -> Result<Self, Issue> {
        if text.is_empty() {
            return Err(Issue::new(codes::SCAN_PATTERN_EMPTY, "the pattern is empty")
                .with_expected("at least one character")
                .with_hint("an empty pattern is found in every file; write the text that must not appear"));
        }
        let length = text.chars().count();
        if length > PATTERN_CHARS_MAX {
            let code = countersign_canon::canon_codes::WIRE_BOUNDS;
            return Err(Issue::new(code, format!("the pattern has {length} characters"))
                .with_expected(format!("1 to {PATTERN_CHARS_MAX}")));
        }
        Ok(Self(text.into()))
    }

    /// The pattern's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Wire for Pattern {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        reader.text(json, Self::parse)
    }

    fn write(&self) -> Json<'static> {
        Json::from(self.0.clone())
    }

    fn schema(definitions: &mut Definitions) -> Json<'static> {
        Text::<1, PATTERN_CHARS_MAX>::schema(definitions)
    }
}

/// The globs of a rule.
pub type Globs = List<Glob, 1, RULE_GLOBS_MAX>;
/// The patterns of a rule.
pub type Patterns = List<Pattern, 1, RULE_PATTERNS_MAX>;
/// A title: one line.
pub type Title = Text<1, 200>;
/// Something said in words.
pub type Prose = Text<1, 4000>;

record! {
    /// What a broken rule does.
    pub struct Enforcement {
        /// It fails the run.
        mode: FailMode,
    }
}

record! {
    /// Where a boundary looks, and what it forbids.
    pub struct BoundaryMatch {
        /// The files it looks at.
        files: Globs,
        /// The texts that they must not contain.
        forbidden_patterns: Patterns,
    }
}

record! {
    /// Where an invariant looks, and what must be absent.
    pub struct InvariantMatch {
        /// The files it looks at.
        files: Globs,
        /// The texts that they must not contain.
        required_absent: Patterns,
    }
}

record! {
    /// Where a rule looked once.
    pub struct DeprecatedMatch {
        /// The files it looked at.
        files: Globs,
        /// The texts of a boundary.
        forbidden_patterns: Option<Patterns>,
        /// The texts of an invariant.
        required_absent: Option<Patterns>,
    }
}

record! {
    /// A small file to try a rule on.
    pub struct TestFile {
        /// Its path, relative to the target.
        file: RepoPath,
        /// What it contains.
        content: Text<0, 65_536>,
    }
}

record! {
    /// Files that show what a rule is about.
    pub struct RuleTests {
        /// Files that break the rule.
        violates: Option<List<TestFile, 1, 100>>,
        /// Files that do not.
        passes: Option<List<TestFile, 1, 100>>,
    }
}

macro_rules! rule_record {
    ($doc:literal, $name:ident, $match:ty) => {
        record! {
            #[doc = $doc]
            pub struct $name {
                /// Its name, unique in the bundle.
                id: RuleId,
                /// What it is about, in one line.
                title: Title,
                /// What it is about.
                description: Option<Prose>,
                /// What a broken rule does.
                enforcement: Enforcement,
                /// Where it looks and for what.
                matches = "match": $match,
                /// Why it exists.
                rationale: Option<Prose>,
                /// What to do instead.
                remediation: Option<Prose>,
                /// Whom to ask.
                owner: Option<Title>,
                /// Files that show what it is about.
                tests: Option<RuleTests>,
            }
        }
    };
}

rule_record!("A rule of boundaries.yml.", BoundaryRule, BoundaryMatch);
rule_record!("A rule of invariants.yml.", InvariantRule, InvariantMatch);
rule_record!("A rule of deprecated.yml.", DeprecatedRule, DeprecatedMatch);

record! {
    /// The file boundaries.yml.
    pub struct BoundariesFile {
        /// The rules, in order.
        boundaries: List<BoundaryRule, 1, RULES_MAX>,
    }
}

record! {
    /// The file invariants.yml.
    pub struct InvariantsFile {
        /// The rules, in order.
        invariants: List<InvariantRule, 1, RULES_MAX>,
    }
}

record! {
    /// The file deprecated.yml.
    pub struct DeprecatedFile {
        /// The rules, in order.
        deprecated: List<DeprecatedRule, 0, RULES_MAX>,
    }
}

/// The rows of a file, whatever they are.
pub(crate) fn rows<'j>(json: &'j Json<'j>, name: RuleFileName) -> &'j [Json<'j>] {
    json.get(name.key()).and_then(Json::as_array).unwrap_or_default()
}

/// The parts that boundaries and invariants share.
pub(crate) struct RuleParts {
    pub(crate) id: RuleId,
    pub(crate) title: Title,
    pub(crate) description: Option<Prose>,
    pub(crate) rationale: Option<Prose>,
    pub(crate) remediation: Option<Prose>,
    pub(crate) owner: Option<Title>,
    pub(crate) tests: Option<RuleTests>,
    pub(crate) files: Vec<Glob>,
    pub(crate) patterns: Vec<Pattern>,
}

macro_rules! into_parts {
    ($name:ident, $match:ident, $patterns:ident) => {
        impl From<$name> for RuleParts {
            fn from(rule: $name) -> Self {
                let $name {
                    id,
                    title,
                    description,
                    enforcement: Enforcement { mode: FailMode },
                    matches: $match { files, $patterns },
                    rationale,
                    remediation,
                    owner,
                    tests,
                } = rule;
                Self {
                    id,
                    title,
                    description,
                    rationale,
                    remediation,
                    owner,
                    tests,
                    files: files.into_vec(),
                    patterns: $patterns.into_vec(),
                }
            }
        }
    };
}

into_parts!(BoundaryRule, BoundaryMatch, forbidden_patterns);
into_parts!(InvariantRule, InvariantMatch, required_absent);
