//! Random policies within the caps and contexts of a usual size, each a function of one seed.

use countersign_canon::{Json, Number, Value};

const ROLES: [&str; 5] = ["copilot", "pipeline_worker", "auditor", "reviewer", "release_manager"];
const BARE: [&str; 5] =
    ["session_active", "approval_present", "approval_valid", "approval_unexpired", "approval_unused"];
const EVIDENCE: [&str; 5] = ["artifact", "event", "proof", "run", "validator"];
const WARRANTS: [&str; 5] = ["observed", "derived", "checked", "hypothesis", "unknown"];
const MODES: [&str; 2] = ["read_only", "writes_allowed"];

/// SplitMix64.
pub struct Random(pub u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

fn kind(number: usize) -> String {
    let groups = ["fs", "shell", "git", "net", "deploy", "db", "cloud", "mail"];
    let verbs = ["read", "write", "delete", "list", "update"];
    format!("{}.{}", groups[number % groups.len()], verbs[number / groups.len()])
}

fn capability(number: usize) -> String {
    let groups = ["fs", "shell", "git", "net", "deploy", "db"];
    let verbs = ["read", "write", "delete", "list", "update", "exec", "push", "admin"];
    format!("{}.{}", groups[number % groups.len()], verbs[number / groups.len()])
}

fn hash(number: usize) -> String {
    format!("{:064x}", (number as u128 + 1) * 0x1234_5678_9abc_def0_1234_5678)
}

fn atom(random: &mut Random) -> Json<'static> {
    let (name, argument) = match random.below(100) {
        0..=29 => ("action_kind_is", Some(kind(random.below(40)))),
        30..=44 => ("role_is", Some(random.pick(&ROLES).into())),
        45..=52 => ("mode_is", Some(random.pick(&MODES).into())),
        53..=64 => ("capability_present", Some(capability(random.below(48)))),
        65..=76 => ("capability_allowed", Some(capability(random.below(48)))),
        77..=80 => ("action_hash_matches", Some(hash(random.below(8)))),
        81..=85 => ("has_evidence_kind", Some(random.pick(&EVIDENCE).into())),
        86..=89 => ("warrant_is", Some(random.pick(&WARRANTS).into())),
        _ => (random.pick(&BARE), None),
    };
    Json::object([("atom", Json::from(name)), ("args", Json::array(argument))])
}

fn operator(word: &'static str, parts: Vec<Json<'static>>) -> Json<'static> {
    Json::object([("op", Json::from(word)), ("args", Json::from(parts))])
}

/// What most rules are about first: a kind of action, else a role.
fn first(random: &mut Random) -> Json<'static> {
    let (name, argument) = match random.below(100) {
        0..=84 => ("action_kind_is", kind(random.below(40))),
        _ => ("role_is", random.pick(&ROLES).into()),
    };
    Json::object([("atom", Json::from(name)), ("args", Json::array([argument]))])
}

/// 3.3 nodes on average, so that 500 rules stay within 2000.
fn condition(random: &mut Random) -> Json<'static> {
    match random.below(100) {
        0..=14 => first(random),
        15..=54 => operator("and", vec![first(random), atom(random)]),
        55..=79 => operator("and", vec![first(random), atom(random), atom(random)]),
        80..=89 => {
            let not = Json::object([("op", Json::from("not")), ("arg", atom(random))]);
            operator("and", vec![first(random), not])
        }
        _ => {
            let either = operator("or", vec![atom(random), atom(random)]);
            operator("and", vec![first(random), either])
        }
    }
}

/// A policy document with so many rules.
pub fn policy(random: &mut Random, rules: usize) -> Json<'static> {
    let rules = (0..rules).map(|number| {
        let (kind, effect) = match random.below(100) {
            0..=19 => ("deny", "deny_action"),
            20..=69 => ("allow", "allow_action"),
            70..=87 => ("require", "require_approval"),
            88..=93 => ("derive", "emit_advisory"),
            _ => ("derive", "set_warrant_invalid"),
        };
        let priority = Number::from_i64(random.below(10) as i64).expect("small");
        Json::object([
            ("rule_id", Json::from(format!("rule.{number}"))),
            ("rule_version", Json::from(1_u32)),
            ("priority", Json::from(priority)),
            ("kind", Json::from(kind)),
            ("when", condition(random)),
            ("then", Json::object([("effect", Json::from(effect))])),
            ("message", Json::from(format!("What rule {number} says to people."))),
            ("code", Json::from(format!("CODE_{}", random.below(40)))),
        ])
    });
    let rules: Vec<Json<'static>> = rules.collect();
    Json::object([("schema", Json::from("odeu.instructions.v1")), ("rules", Json::from(rules))])
}

/// A context in canonical form.
pub fn context(random: &mut Random) -> String {
    let names = |random: &mut Random| {
        let mut names: Vec<String> = (0..48).filter(|_| random.chance(22)).map(capability).collect();
        names.sort();
        Json::array(names)
    };
    let evidence: Vec<&str> = EVIDENCE.iter().copied().filter(|_| random.chance(30)).collect();
    let null = || Json::from(Value::Null);
    Json::object([
        ("role", if random.chance(5) { null() } else { Json::from(random.pick(&ROLES)) }),
        ("mode", Json::from(random.pick(&MODES))),
        ("action_kind", Json::from(kind(random.below(40)))),
        ("action_hash", Json::from(hash(random.below(16)))),
        ("session_active", Json::from(random.chance(90))),
        ("capabilities_present", names(random)),
        ("capabilities_allowed", names(random)),
        ("evidence_kinds", Json::array(evidence)),
        ("approval_present", Json::from(random.chance(60))),
        ("approval_valid", Json::from(random.chance(60))),
        ("approval_unexpired", Json::from(random.chance(60))),
        ("approval_unused", Json::from(random.chance(60))),
        ("warrant", if random.chance(20) { null() } else { Json::from(random.pick(&WARRANTS)) }),
        ("evaluation_ts", Json::from("2026-02-12T09:10:00Z")),
    ])
    .to_canonical()
}
