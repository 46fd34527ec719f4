//! Test cases for a policy: contexts and what must be decided about them.

use alloc::{format, string::String, vec::Vec};

use countersign_canon::{Issue, Name as _, NonEmpty, Reader, choice, record};

use crate::{Context, Decision, ExampleContext, Policy, Rule, RuleCode, RuleId, codes, context::InContext};

choice! {
    /// The name of the language of case files.
    pub enum CasesSchema {
        /// The first version.
        V1 = "countersign.policy-cases@1",
    }
}

record! {
    /// A file of test cases.
    pub struct CaseFile {
        /// The name of the language.
        schema: CasesSchema,
        /// The cases.
        cases: Vec<TestCase>,
    }
}

record! {
    /// One context and what must be decided about it.
    pub struct TestCase {
        /// What the case shows, for people.
        name: String,
        /// The context; what is left out is absent, false, null or `read_only`.
        context: ExampleContext,
        /// What must be decided.
        expect: Expectation,
    }
}

record! {
    /// What must be decided; what is left out may be anything.
    pub struct Expectation {
        /// Yes or no.
        decision: Decision,
        /// With which code.
        decision_code: Option<RuleCode>,
        /// Whether an approval is required.
        required_approval: Option<bool>,
        /// Exactly these rules match, in this order.
        matched_rule_ids: Option<Vec<RuleId>>,
    }
}

impl CaseFile {
    /// Loads a file of test cases.
    ///
    /// # Errors
    ///
    /// Fails with every problem of the document, under `URM_CASES_INVALID`.
    pub fn load(bytes: &[u8]) -> Result<Self, NonEmpty<Issue>> {
        Reader::read_document(bytes, codes::URM_CASES_INVALID)
    }
}

impl TestCase {
    /// How the policy fails this case; nothing if it passes.
    #[must_use]
    pub fn failure(&self, policy: &Policy) -> Option<String> {
        let evaluation = policy.evaluate(&self.context.complete(), false);
        let Expectation { decision, decision_code, required_approval, matched_rule_ids } = &self.expect;
        let mut wrong = Vec::new();
        let mut check = |what: &str, expected: Option<String>, found: String| {
            if let Some(expected) = expected.filter(|expected| *expected != found) {
                wrong.push(format!("{what} is {found}, expected {expected}"));
            }
        };
        check("decision", Some(decision.as_name().into()), evaluation.decision.as_name().into());
        let code = decision_code.as_ref().map(|code| String::from(code.as_str()));
        check("decision_code", code, evaluation.decision_code.into());
        check(
            "required_approval",
            required_approval.map(|truth| format!("{truth}")),
            format!("{}", evaluation.required_approval),
        );
        let ids = |rules: &mut dyn Iterator<Item = &RuleId>| {
            rules.map(RuleId::as_str).collect::<Vec<_>>().join(", ")
        };
        let expected = matched_rule_ids.as_ref().map(|expected| format!("[{}]", ids(&mut expected.iter())));
        let matched = ids(&mut evaluation.matched.iter().map(|rule| &rule.rule_id));
        check("matched_rule_ids", expected, format!("[{matched}]"));
        (!wrong.is_empty()).then(|| wrong.join("; "))
    }
}

/// How often each rule matched, in the order of the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage<'p> {
    /// Each rule's id with the number of contexts it matched.
    pub rules: Vec<(&'p RuleId, usize)>,
    /// How many contexts there were.
    pub contexts: usize,
}

impl<'p> Coverage<'p> {
    /// Counts which rules these contexts hit, each so often.
    #[must_use]
    pub fn of(policy: &'p Policy, contexts: &[(Context, usize)]) -> Self {
        let hits = |rule: &'p Rule| {
            let hit = contexts.iter().filter(|(context, _)| rule.when.evaluate(&mut InContext(context)));
            (&rule.rule_id, hit.fold(0, |sum: usize, (_, count)| sum.saturating_add(*count)))
        };
        let contexts = contexts.iter().fold(0, |sum: usize, (_, count)| sum.saturating_add(*count));
        Self { rules: policy.rules().iter().map(hits).collect(), contexts }
    }

    /// The rules that nothing hit.
    pub fn never_hit(&self) -> impl Iterator<Item = &'p RuleId> {
        self.rules.iter().filter(|(_, hits)| *hits == 0).map(|(rule, _)| *rule)
    }
}

impl Policy {
    /// The contexts of all examples, completed.
    #[must_use]
    pub fn example_contexts(&self) -> Vec<Context> {
        let examples = self.rules().iter().filter_map(|rule| rule.examples.as_ref());
        let contexts =
            examples.flat_map(|examples| examples.matching.iter().chain(&examples.no_match).flatten());
        contexts.map(ExampleContext::complete).collect()
    }
}
