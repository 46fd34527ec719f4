//! A checked policy: loaded whole or not at all, sorted, hashed and compiled.

use alloc::{collections::BTreeMap, format, vec::Vec};

use countersign_canon::{
    Definitions, Issue, Json, NonEmpty, Reader, Wire, canon_codes, choice, record, typed_hash,
};

use crate::{
    Rule, RuleId, advice, codes, compile::Compiled, expr::Size, matched::Notes, quorum, rule::CheckedRule,
};

/// LIMIT: how many rules a policy may have (K1.1).
pub const RULES_MAX: usize = 500;
/// LIMIT: how deep a condition may be, an atom being 1 (K1.1).
pub const EXPR_DEPTH_MAX: usize = 16;
/// LIMIT: how many nodes all conditions of a policy may have together (K1.1).
pub const EXPR_NODES_MAX: usize = 2000;

typed_hash! {
    /// The hash of a policy's meaning.
    pub PolicyHash
}

choice! {
    /// The name of the policy language.
    pub enum PolicySchema {
        /// The first version.
        V1 = "odeu.instructions.v1",
    }
}

record! {
    /// A policy as it is written.
    pub struct PolicyDocument {
        /// The name of the language.
        schema: PolicySchema,
        /// The rules, in any order.
        rules: RuleList,
    }
}

/// A checked policy: unique rule ids, sorted by priority and id, within every cap, every example borne out.
#[derive(Debug)]
pub struct Policy {
    // INVARIANT: sorted by (priority, rule_id, rule_version); rule ids are unique.
    rules: Vec<Rule>,
    hash: PolicyHash,
    pub(crate) compiled: Compiled,
    pub(crate) notes: Notes,
}

impl Policy {
    /// Loads a policy: parses, checks, hashes and compiles it.
    ///
    /// # Errors
    ///
    /// Fails with every problem of the document, in document order, each under `URM_POLICY_INVALID_SCHEMA`,
    /// `URM_POLICY_CAP_EXCEEDED` or `URM_POLICY_DERIVE_FIREWALL_VIOLATION`.
    ///
    /// # Examples
    ///
    /// ```
    /// use countersign_policy::Policy;
    ///
    /// let issues = Policy::load(br#"{"schema": "odeu.instructions.v1", "rule": []}"#).unwrap_err();
    /// assert_eq!(issues[0].code.as_str(), "URM_POLICY_INVALID_SCHEMA");
    /// assert_eq!(issues[1].hint.as_deref(), Some("did you mean `rules`?"));
    /// ```
    pub fn load(bytes: &[u8]) -> Result<Self, NonEmpty<Issue>> {
        let json = Json::parse(bytes).map_err(|issue| {
            let is_too_deep = issue.code == canon_codes::JSON_TOO_DEEP;
            let family =
                if is_too_deep { codes::URM_POLICY_CAP_EXCEEDED } else { codes::URM_POLICY_INVALID_SCHEMA };
            NonEmpty::of(advice::with_hint(issue.under(family)))
        })?;
        Self::load_json(&json)
    }

    /// Loads a policy that is parsed already.
    ///
    /// # Errors
    ///
    /// As [`Policy::load`].
    pub fn load_json(json: &Json<'_>) -> Result<Self, NonEmpty<Issue>> {
        let (family, asked) = (codes::URM_POLICY_INVALID_SCHEMA, quorum::issues(json));
        let document: PolicyDocument = Reader::read_ruled(json, family, asked).map_err(advice::with_hints)?;
        Ok(Self::from_rules(document.rules.0))
    }

    /// Loads a policy that a store has activated. One from before parameters were checked loads too, so that what was
    /// decided under it can be decided again; where it cannot be read it asks for as many people as there can be.
    ///
    /// # Errors
    ///
    /// As [`Policy::load`].
    pub fn load_activated(bytes: &[u8]) -> Result<Self, NonEmpty<Issue>> {
        let document: PolicyDocument = Reader::read_document(bytes, codes::URM_POLICY_INVALID_SCHEMA)?;
        Ok(Self::from_rules(document.rules.0))
    }

    pub(crate) fn from_rules(mut rules: Vec<Rule>) -> Self {
        rules.sort_by(|a, b| a.order().cmp(&b.order()));
        let hash = PolicyHash::of_json(&semantic_form(&rules));
        Self::from_checked(rules, hash)
    }

    /// A policy of rules that were checked, sorted and hashed before.
    pub(crate) fn from_checked(rules: Vec<Rule>, hash: PolicyHash) -> Self {
        let (compiled, notes) = (Compiled::new(&rules), Notes::of(&rules, &hash));
        Self { rules, hash, compiled, notes }
    }

    /// The rules, in the order in which they decide.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The hash of the policy's meaning; messages, examples and the order of declaration are no part of it.
    #[must_use]
    pub const fn hash(&self) -> &PolicyHash {
        &self.hash
    }

    /// What is hashed.
    #[must_use]
    pub fn semantic_form(&self) -> Json<'static> {
        semantic_form(&self.rules)
    }

    /// The policy as a document again, sorted.
    #[must_use]
    pub fn to_document(&self) -> Json<'static> {
        PolicyDocument { schema: PolicySchema::V1, rules: RuleList(self.rules.clone()) }.write()
    }
}

/// CLAUSE: K1.6.
fn semantic_form(sorted: &[Rule]) -> Json<'static> {
    Json::object([
        ("schema", PolicySchema::V1.write()),
        ("rules", Json::array(sorted.iter().map(Rule::semantic_form))),
    ])
}

/// The rules of a document, checked one by one and together.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleList(Vec<Rule>);

impl RuleList {
    /// The rules, as they were written.
    #[must_use]
    pub fn into_rules(self) -> Vec<Rule> {
        self.0
    }
}

impl Wire for RuleList {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        let items = reader.array(json)?;
        let within_caps = check_caps(json, items, reader);
        let unique = check_unique(items, reader);
        let rules: Vec<Option<CheckedRule>> = items
            .iter()
            .enumerate()
            .map(|(index, item)| reader.at_index(index, |reader| CheckedRule::read(item, reader)))
            .collect();
        let rules: Option<Vec<Rule>> = rules.into_iter().map(|rule| rule.map(|rule| rule.0)).collect();
        rules.filter(|_| within_caps && unique).map(Self)
    }

    fn write(&self) -> Json<'static> {
        Json::array(self.0.iter().map(Wire::write))
    }

    fn schema(definitions: &mut Definitions) -> Json<'static> {
        Json::object([
            ("type", Json::from("array")),
            ("maxItems", Json::from(u32::try_from(RULES_MAX).unwrap_or(u32::MAX))),
            ("items", CheckedRule::schema(definitions)),
        ])
    }
}

/// Notes every cap that is passed; whether none is. CLAUSE: K1.1.
fn check_caps(json: &Json<'_>, items: &[Json<'_>], reader: &mut Reader) -> bool {
    let mut within = true;
    let mut cap = |reader: &mut Reader, at: &Json<'_>, found: usize, what: &str, max: usize| {
        if found <= max {
            return;
        }
        within = false;
        let issue = Issue::new(codes::URM_POLICY_CAP_EXCEEDED, format!("found {what} {found}"))
            .with_pointer(reader.pointer())
            .with_offset(at.offset())
            .with_expected(format!("at most {max}"));
        reader.refuse_as_is(issue.with_hint("split the policy, or say the same with fewer conditions"));
    };
    cap(reader, json, items.len(), "rules:", RULES_MAX);
    let mut nodes = 0_usize;
    for (index, item) in items.iter().enumerate() {
        let Some(when) = item.get("when") else { continue };
        let size = Size::of(when);
        nodes = nodes.saturating_add(size.nodes);
        reader.at_index(index, |reader| {
            reader.at_key("when", |reader| {
                cap(reader, when, size.depth, "a condition of depth", EXPR_DEPTH_MAX)
            });
        });
    }
    cap(reader, json, nodes, "nodes in all conditions together:", EXPR_NODES_MAX);
    within
}

/// Notes every rule id that is there already; whether none is. CLAUSE: K5.1.
fn check_unique(items: &[Json<'_>], reader: &mut Reader) -> bool {
    let mut first_with = BTreeMap::new();
    let mut unique = true;
    for (index, item) in items.iter().enumerate() {
        let Some((at, id)) = item.get("rule_id").and_then(|at| Some((at, RuleId::parse(at.as_str()?).ok()?)))
        else {
            continue;
        };
        let message = format!("rule id `{id}` is used twice");
        let first = *first_with.entry(id).or_insert(index);
        if first == index {
            continue;
        }
        unique = false;
        let issue = Issue::new(canon_codes::WIRE_NOT_UNIQUE, message)
            .with_expected("every rule id once")
            .with_hint(format!("the first one is at {}/{first}", reader.pointer()));
        reader.at_index(index, |reader| reader.at_key("rule_id", |reader| reader.refuse(at, issue)));
    }
    unique
}
