//! Random policies, contexts and neighbours, each a function of one seed: small vocabularies, so that rules collide.

use countersign_canon::{Json, Value};

pub(crate) const ROLES: [&str; 4] = ["copilot", "pipeline_worker", "auditor", "stranger"];
pub(crate) const KINDS: [&str; 5] = ["fs.read", "fs.write", "deploy", "git.push", "turn.steer"];
pub(crate) const CAPABILITIES: [&str; 7] =
    ["fs.read", "fs.write", "net", "shell", "deploy", "turn/steer", "spawn_agent"];
const EVIDENCE: [&str; 5] = ["artifact", "event", "proof", "run", "validator"];
const WARRANTS: [&str; 5] = ["observed", "derived", "checked", "hypothesis", "unknown"];
const BARE: [&str; 5] =
    ["session_active", "approval_present", "approval_valid", "approval_unexpired", "approval_unused"];

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound).unwrap()).unwrap()
    }

    pub(crate) fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }

    pub(crate) fn some(&mut self, words: &[&'static str]) -> Vec<&'static str> {
        words.iter().copied().filter(|_| self.chance(50)).collect()
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for index in (1..items.len()).rev() {
            items.swap(index, self.below(index + 1));
        }
    }
}

pub(crate) fn hash(number: usize) -> String {
    format!("{number:064x}")
}

fn atom(name: &'static str, argument: Option<String>) -> Json<'static> {
    Json::object([("atom", Json::from(name)), ("args", Json::array(argument))])
}

pub(crate) fn random_atom(random: &mut Random) -> Json<'static> {
    let one = |random: &mut Random, name, words: &[&str]| {
        let word = random.pick(words).to_owned();
        atom(name, Some(word))
    };
    match random.below(13) {
        0 | 1 => one(random, "role_is", &ROLES),
        2 => one(random, "mode_is", &["read_only", "writes_allowed"]),
        3 => one(random, "capability_present", &CAPABILITIES),
        4 => one(random, "capability_allowed", &CAPABILITIES),
        5..=7 => one(random, "action_kind_is", &KINDS),
        8 => {
            let number = random.below(3);
            atom("action_hash_matches", Some(hash(number)))
        }
        9 => one(random, "has_evidence_kind", &EVIDENCE),
        10 => one(random, "warrant_is", &WARRANTS),
        _ => atom(random.pick(&BARE), None),
    }
}

/// A condition of at most this depth.
pub(crate) fn condition(random: &mut Random, depth: usize) -> Json<'static> {
    if depth <= 1 || random.chance(35) {
        return random_atom(random);
    }
    let word = random.pick(&["and", "or", "not", "and", "or"]);
    if word == "not" {
        return Json::object([("op", Json::from("not")), ("arg", condition(random, depth - 1))]);
    }
    let parts = 1 + random.below(3);
    let parts: Vec<Json<'static>> = (0..parts).map(|_| condition(random, depth - 1)).collect();
    Json::object([("op", Json::from(word)), ("args", Json::from(parts))])
}

/// A conjunction of disjunctions: more terms than the compiled form keeps as columns.
fn wide_condition(random: &mut Random) -> Json<'static> {
    let clause = |random: &mut Random| {
        let parts: Vec<Json<'static>> = (0..3).map(|_| random_atom(random)).collect();
        Json::object([("op", Json::from("or")), ("args", Json::from(parts))])
    };
    let clauses: Vec<Json<'static>> = (0..5).map(|_| clause(random)).collect();
    Json::object([("op", Json::from("and")), ("args", Json::from(clauses))])
}

/// What a rule asks of an approval: often nothing special.
fn quorum(random: &mut Random) -> Json<'static> {
    let approvals = random.chance(40).then(|| {
        let approvals = [1_u32, 2, 2, 3][random.below(4)];
        ("approvals", Json::from(approvals))
    });
    let reviewers = random.chance(30).then(|| {
        let reviewers = random.pick(&["security", "data", "data, security"]);
        ("reviewers", Json::from(reviewers.to_owned()))
    });
    Json::object(approvals.into_iter().chain(reviewers))
}

pub(crate) fn rule(random: &mut Random, id: &str) -> Json<'static> {
    let (kind, effect) = match random.below(10) {
        0 | 1 => ("deny", "deny_action"),
        2..=5 => ("allow", "allow_action"),
        6 | 7 => ("require", "require_approval"),
        8 => ("derive", "emit_advisory"),
        _ => ("derive", "set_warrant_invalid"),
    };
    let when = if random.chance(5) { wide_condition(random) } else { condition(random, 4) };
    let mut then = vec![("effect", Json::from(effect))];
    if effect == "require_approval" {
        then.push(("params", quorum(random)));
    } else if random.chance(30) {
        then.push((
            "params",
            Json::object([("note", Json::from("\u{1d11e} \"x\"")), ("level", Json::from(3_u32))]),
        ));
    }
    Json::object([
        ("rule_id", Json::from(id.to_owned())),
        ("rule_version", Json::from(1 + u32::try_from(random.below(3)).unwrap())),
        ("priority", Json::from(u32::try_from(random.below(3)).unwrap())),
        ("kind", Json::from(kind)),
        ("when", when),
        ("then", Json::object(then)),
        ("message", Json::from(format!("message {}", random.below(1000)))),
        ("code", Json::from(format!("CODE_{}", random.below(6)))),
    ])
}

pub(crate) fn rules(random: &mut Random, most: usize) -> Vec<Json<'static>> {
    let count = random.below(most + 1);
    (0..count)
        .map(|number| {
            let id = format!("r{number}");
            rule(random, &id)
        })
        .collect()
}

pub(crate) fn document(rules: Vec<Json<'static>>) -> Json<'static> {
    Json::object([("schema", Json::from("odeu.instructions.v1")), ("rules", Json::from(rules))])
}

pub(crate) fn context(random: &mut Random) -> Json<'static> {
    let role = if random.chance(10) { Json::from(Value::Null) } else { Json::from(random.pick(&ROLES)) };
    let warrant =
        if random.chance(20) { Json::from(Value::Null) } else { Json::from(random.pick(&WARRANTS)) };
    Json::object([
        ("role", role),
        ("mode", Json::from(random.pick(&["read_only", "writes_allowed"]))),
        ("action_kind", Json::from(random.pick(&KINDS))),
        ("action_hash", Json::from(hash(random.below(4)))),
        ("session_active", Json::from(random.chance(80))),
        ("capabilities_present", Json::array(random.some(&CAPABILITIES))),
        ("capabilities_allowed", Json::array(random.some(&CAPABILITIES))),
        ("evidence_kinds", Json::array(random.some(&EVIDENCE))),
        ("approval_present", Json::from(random.chance(70))),
        ("approval_valid", Json::from(random.chance(70))),
        ("approval_unexpired", Json::from(random.chance(70))),
        ("approval_unused", Json::from(random.chance(70))),
        ("warrant", warrant),
        ("evaluation_ts", Json::from("2026-02-12T09:10:00Z")),
    ])
}
