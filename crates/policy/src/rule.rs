//! One rule of a policy (K1.2): read, checked against its own kind and examples, and written.

use alloc::{format, string::String, vec::Vec};

use countersign_canon::{
    Definitions, INTEGER_MAX, Issue, Json, Object, Pointer, Reader, Value, Wire, Within, canon_codes, record,
};

use crate::{
    Atom, Effect, ExampleContext, Expr, Kind, QuorumRule, RuleCode, RuleId, codes, context::InContext, quorum,
};

record! {
    /// One rule: a condition, and what follows if it holds.
    pub struct Rule {
        /// Its stable name, unique in the policy.
        rule_id: RuleId,
        /// Its version; part of the meaning.
        rule_version: Within<1, INTEGER_MAX>,
        /// Its place: lower comes first.
        priority: Within<{ -INTEGER_MAX }, INTEGER_MAX>,
        /// What it is for.
        kind: Kind,
        /// When it matches.
        when: Expr<Atom>,
        /// What it does.
        then: Then,
        /// What it says to people; no part of the meaning.
        message: String,
        /// What it says to machines; part of the meaning.
        code: RuleCode,
        /// Contexts that it must and must not match, checked when the policy is loaded; no part of the meaning.
        examples: Option<Examples>,
    }
}

record! {
    /// What a rule does when it matches.
    pub struct Then {
        /// The effect.
        effect: Effect,
        /// Its parameters; none if left out.
        params: Option<Params>,
    }
}

record! {
    /// Contexts that a rule must and must not match.
    pub struct Examples {
        /// The rule matches each of these.
        matching = "match": Option<Vec<ExampleContext>>,
        /// The rule matches none of these.
        no_match: Option<Vec<ExampleContext>>,
    }
}

/// The parameters of an effect: a flat object of strings, whole numbers and booleans.
#[derive(Debug, Clone, PartialEq)]
pub struct Params {
    written: Object<'static>,
    // INVARIANT: what `written` asks for, where the effect asks for an approval.
    quorum: QuorumRule,
}

impl Params {
    fn new(written: Object<'static>) -> Self {
        let quorum = QuorumRule::of_params(&written);
        Self { written, quorum }
    }

    /// All of them.
    #[must_use]
    pub const fn as_object(&self) -> &Object<'static> {
        &self.written
    }
}

impl Default for Params {
    fn default() -> Self {
        Self::new(Object::default())
    }
}

impl Wire for Params {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        let object = reader.object(json)?;
        let mut all_fit = true;
        for member in object.members() {
            let fits = match &member.value.value {
                Value::Bool(_) | Value::String(_) => true,
                Value::Number(number) => number.as_i64().is_some(),
                Value::Null | Value::Array(_) | Value::Object(_) => false,
            };
            if !fits {
                all_fit = false;
                reader.at_key(&member.key, |reader| {
                    let found = format!("found {}", describe(&member.value));
                    let issue = Issue::new(canon_codes::WIRE_TYPE, found);
                    reader.refuse(
                        &member.value,
                        issue.with_expected("a string, a whole number, true or false"),
                    );
                });
            }
        }
        Object::read(json, reader).filter(|_| all_fit).map(Self::new)
    }

    fn write(&self) -> Json<'static> {
        self.written.write()
    }

    fn schema(_: &mut Definitions) -> Json<'static> {
        let types = Json::array(["string", "integer", "boolean"]);
        Json::object([
            ("type", Json::from("object")),
            ("additionalProperties", Json::object([("type", types)])),
        ])
    }
}

fn describe(json: &Json<'_>) -> String {
    match json.as_number() {
        Some(number) => format!("the number {number}"),
        None => String::from(json.type_name()),
    }
}

impl Rule {
    /// The rule as it is hashed: without what is only for people.
    #[must_use]
    pub fn semantic_form(&self) -> Json<'static> {
        let Self { rule_id, rule_version, priority, kind, when, then, message: _, code, examples: _ } = self;
        let params = then.params.clone().unwrap_or_default();
        Json::object([
            ("rule_id", rule_id.write()),
            ("rule_version", rule_version.write()),
            ("priority", priority.write()),
            ("kind", kind.write()),
            ("when", when.write()),
            ("then", Json::object([("effect", then.effect.write()), ("params", params.write())])),
            ("code", code.write()),
        ])
    }

    /// What rules are sorted by, everywhere.
    pub(crate) fn order(&self) -> (i64, &RuleId, i64) {
        (self.priority.get(), &self.rule_id, self.rule_version.get())
    }

    /// Whose approval it asks for; nothing if it asks for none.
    #[must_use]
    pub fn quorum(&self) -> Option<QuorumRule> {
        let asked = || self.then.params.as_ref().map_or_else(QuorumRule::anybody, |it| it.quorum.clone());
        (self.then.effect == Effect::RequireApproval).then(asked)
    }
}

/// A rule whose kind fits its effect and that does what its examples say.
pub(crate) struct CheckedRule(pub(crate) Rule);

impl Wire for CheckedRule {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        let mispaired = check_pair(json, reader);
        let rule = Rule::read(json, reader)?;
        let examples_hold = check_examples(&rule, json, reader);
        (!mispaired && examples_hold).then_some(Self(rule))
    }

    fn write(&self) -> Json<'static> {
        self.0.write()
    }

    fn schema(definitions: &mut Definitions) -> Json<'static> {
        definitions.define("CheckedRule", |definitions| {
            let pairs = Kind::ALL.iter().map(|kind| {
                let is_kind = Json::object([("const", Json::from(kind.as_str()))]);
                let effects = Json::array(kind.effects().iter().map(|effect| effect.as_str()));
                let mut members = Vec::from([("effect", Json::object([("enum", effects)]))]);
                if *kind == Kind::Require {
                    members.push(("params", quorum::schema(definitions)));
                }
                let effect = Json::object([("properties", Json::object(members))]);
                Json::object([
                    ("if", Json::object([("properties", Json::object([("kind", is_kind)]))])),
                    ("then", Json::object([("properties", Json::object([("then", effect)]))])),
                ])
            });
            let pairs: Vec<Json<'static>> = pairs.collect();
            Json::object([("allOf", Json::array(pairs.into_iter().chain([Rule::schema(definitions)])))])
        })
    }
}

/// Notes an effect that the rule's kind may not have; whether there is one.
fn check_pair(json: &Json<'_>, reader: &mut Reader) -> bool {
    let word = |json: Option<&Json<'_>>| json.and_then(Json::as_str).map(String::from);
    let kind = word(json.get("kind")).and_then(|kind| Kind::parse(&kind).ok());
    let at = json.get("then").and_then(|then| then.get("effect"));
    let effect = word(at).and_then(|effect| Effect::parse(&effect).ok());
    let (Some(kind), Some(effect), Some(at)) = (kind, effect, at) else { return false };
    let fitting = kind.effects();
    if fitting.contains(&effect) {
        return false;
    }
    let words: Vec<&str> = fitting.iter().map(|effect| effect.as_str()).collect();
    let issue =
        Issue::new(codes::EFFECT_MISMATCH, format!("a `{kind}` rule cannot have the effect `{effect}`"))
            .with_expected(words.join(" or "));
    let owner = Kind::ALL.iter().find(|kind| kind.effects().contains(&effect));
    let issue = match owner {
        Some(owner) => issue.with_hint(format!("`{effect}` belongs to kind `{owner}`")),
        None => issue,
    };
    reader.at_key("then", |reader| reader.at_key("effect", |reader| reader.refuse(at, issue)));
    true
}

/// Notes every example that the rule does not bear out; whether all hold.
fn check_examples(rule: &Rule, json: &Json<'_>, reader: &mut Reader) -> bool {
    let Some(Examples { matching, no_match }) = &rule.examples else { return true };
    let mut all_hold = true;
    for (key, examples, expected) in [("match", matching, true), ("no_match", no_match, false)] {
        for (index, example) in examples.iter().flatten().enumerate() {
            let context = example.complete();
            if rule.when.evaluate(&mut InContext(&context)) == expected {
                continue;
            }
            all_hold = false;
            let place = Pointer::root().key("examples").key(key).index(index);
            let at = place.find(json).unwrap_or(json);
            let (message, advice) = if expected {
                ("the rule does not match this example", "change `when`, or move the example to `no_match`")
            } else {
                ("the rule matches this example", "change `when`, or move the example to `match`")
            };
            let failed = crate::explain::failed_atoms(&rule.when, &context, expected);
            let issue = Issue::new(codes::EXAMPLE_FAILED, message)
                .with_expected(if expected { "a match" } else { "no match" })
                .with_hint(format!("{advice}; {failed}"));
            reader.at_key("examples", |reader| {
                reader.at_key(key, |reader| reader.at_index(index, |reader| reader.refuse(at, issue)));
            });
        }
    }
    all_hold
}
