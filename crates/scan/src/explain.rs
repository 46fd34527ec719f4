//! One rule on one file, step by step; and the rules' own tests, which are that with an expectation.

use alloc::{format, string::String, vec::Vec};

use countersign_canon::{Json, Wire as _};

use crate::{
    load::{Bundle, Rule},
    report::show_path,
    search::{FileSearch, Finding, Piece, Plan, escape_text},
    verdict::Outcome,
    wire::{RuleTests, TestFile},
};

/// Why one rule does or does not meet, and does or does not refuse, one file.
#[derive(Debug)]
pub struct Explanation<'b> {
    /// The rule.
    pub rule: &'b Rule,
    /// The path, relative to the target.
    pub path: Vec<u8>,
    /// Each glob of the rule, and whether it matches the path.
    pub globs: Vec<(&'b str, bool)>,
    /// Each pattern of the rule, and where the file has it.
    pub patterns: Vec<(&'b str, Option<Finding>)>,
}

impl<'b> Explanation<'b> {
    /// Puts together what a search for the rule's patterns found; the path is matched here.
    #[must_use]
    pub fn new(bundle: &'b Bundle, rule: &'b Rule, path: &[u8], findings: &[Finding]) -> Self {
        let globs = rule.globs.iter().filter_map(|glob| bundle.globs().get(usize::try_from(*glob).ok()?));
        let patterns = rule.patterns.iter().filter_map(|id| {
            let finding = findings.iter().find(|finding| finding.pattern == *id);
            Some((bundle.pattern(*id)?.as_str(), finding.cloned()))
        });
        Self {
            rule,
            path: path.into(),
            globs: globs.map(|glob| (glob.as_str(), glob.matches(path))).collect(),
            patterns: patterns.collect(),
        }
    }

    /// Whether a glob of the rule matches the path.
    #[must_use]
    pub fn is_met(&self) -> bool {
        self.globs.iter().any(|(_, is_matching)| *is_matching)
    }

    /// Whether the file breaks the rule.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        let is_found = self.patterns.iter().any(|(_, finding)| finding.is_some());
        if self.is_met() && is_found { Outcome::Fail } else { Outcome::Pass }
    }

    /// The explanation as a document.
    #[must_use]
    pub fn to_json(&self) -> Json<'static> {
        let globs = self.globs.iter().map(|(glob, is_matching)| {
            Json::object([("glob", Json::from(String::from(*glob))), ("matches", Json::from(*is_matching))])
        });
        let patterns = self.patterns.iter().map(|(pattern, finding)| {
            let place = finding
                .iter()
                .map(|finding| ("at", Json::from(format!("{}:{}", finding.line, finding.column))));
            let pattern =
                [("pattern", Json::from(String::from(*pattern))), ("found", Json::from(finding.is_some()))];
            Json::object(pattern.into_iter().chain(place))
        });
        Json::object([
            ("rule_id", self.rule.id.write()),
            ("rule_type", self.rule.rule_type.write()),
            ("file", Json::from(show_path(&self.path))),
            ("globs", Json::array(globs)),
            ("patterns", Json::array(patterns)),
            ("verdict", self.outcome().write()),
        ])
    }

    /// The explanation for people.
    #[must_use]
    pub fn to_text(&self) -> String {
        let rule = self.rule;
        let path = escape_text(&show_path(&self.path)).into_owned();
        let mut text = format!("{} {} ({})\n", rule.id, escape_text(rule.title.as_str()), rule.rule_type);
        for (glob, is_matching) in &self.globs {
            let word = if *is_matching { "matches" } else { "does not match" };
            text.push_str(&format!("  {} {word} {path}\n", escape_text(glob)));
        }
        for (pattern, finding) in &self.patterns {
            let pattern = escape_text(pattern);
            text.push_str(&match finding {
                Some(finding) => {
                    let encoding =
                        finding.encoding.map_or_else(String::new, |encoding| format!(", read as {encoding}"));
                    let (line, column) = (finding.line, finding.column);
                    format!("  `{pattern}` found at {line}:{column}{encoding}: {}\n", finding.excerpt)
                }
                None => format!("  `{pattern}` not found\n"),
            });
        }
        text.push_str(match (self.outcome(), self.is_met()) {
            (Outcome::Fail, _) => "FAIL: the file meets the rule and contains what it forbids\n",
            (Outcome::Pass, true) => "PASS: the file meets the rule and contains nothing that it forbids\n",
            (Outcome::Pass, false) => "PASS: no glob of the rule matches the file\n",
        });
        text
    }
}

/// What a rule's test says must come out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expectation {
    /// The file breaks the rule.
    Violates,
    /// It does not.
    Passes,
}

/// One test of one rule, and what came out.
#[derive(Debug)]
pub struct Trial<'b> {
    /// What must come out.
    pub expectation: Expectation,
    /// What came out, and why.
    pub explanation: Explanation<'b>,
}

impl Trial<'_> {
    /// Whether it came out as it must.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        match (self.expectation, self.explanation.outcome()) {
            (Expectation::Violates, Outcome::Fail) | (Expectation::Passes, Outcome::Pass) => true,
            (Expectation::Violates, Outcome::Pass) | (Expectation::Passes, Outcome::Fail) => false,
        }
    }
}

/// Runs the tests that the rules bring along, in order.
#[must_use]
pub fn run_tests<'b>(bundle: &'b Bundle, plan: &Plan) -> Vec<Trial<'b>> {
    let mut trials = Vec::new();
    for (rule, index) in bundle.rules().iter().zip(0_u32..) {
        let Some(RuleTests { violates, passes }) = &rule.tests else { continue };
        let set = plan.only(index);
        let mut run = |expectation, files: &[TestFile]| {
            for TestFile { file, content } in files {
                let mut search = FileSearch::new(&set);
                search.piece(content.as_str().as_bytes(), Piece::Last);
                let explanation = Explanation::new(bundle, rule, file.as_str().as_bytes(), &search.finish());
                trials.push(Trial { expectation, explanation });
            }
        };
        run(Expectation::Violates, violates.as_deref().unwrap_or_default());
        run(Expectation::Passes, passes.as_deref().unwrap_or_default());
    }
    trials
}
