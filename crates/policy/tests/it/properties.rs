//! What must always hold, on at least ten thousand random policies and contexts each.

use countersign_canon::{Json, Timestamp, Within};
use countersign_policy::{
    ActionHash, ActionKind, AllowPolicy, ApprovalId, ApprovalRecord, ApprovalState, Context, Decision, Gate,
    InForce, Lattice, Mode, Policy, ProbeFacts, ProvidedApproval, QuorumRule, Request, Role, SessionFacts,
    SessionId, authorize,
};
use proptest::{prelude::ProptestConfig, prop_assert, prop_assert_eq, proptest};

use crate::random::{self, Random};

const CASES: u32 = 10_000;

fn load(rules: Vec<Json<'static>>) -> Policy {
    Policy::load_json(&random::document(rules)).unwrap()
}

fn context(random: &mut Random) -> Context {
    Context::load(random::context(random).to_canonical().as_bytes()).unwrap()
}

/// The rule with one member replaced.
fn with(rule: &Json<'static>, key: &'static str, value: Json<'static>) -> Json<'static> {
    let members = rule.as_object().unwrap().members().iter();
    let members = members.map(|member| (member.key.clone(), member.value.clone()));
    Json::object(members.chain([(key.into(), value)]))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(CASES) })]

    #[test]
    fn declaration_order_never_matters(seed: u64) {
        let mut random = Random(seed);
        let mut rules = random::rules(&mut random, 10);
        let first = load(rules.clone());
        random.shuffle(&mut rules);
        let second = load(rules);
        let context = context(&mut random);
        prop_assert_eq!(first.hash(), second.hash());
        prop_assert_eq!(first.trace_context(&context).to_canonical(), second.trace_context(&context).to_canonical());
    }

    #[test]
    fn messages_and_examples_never_matter(seed: u64) {
        let mut random = Random(seed);
        let rules = random::rules(&mut random, 8);
        let first = load(rules.clone());
        let examples = Json::object([("match", Json::array::<Json<'static>>([]))]);
        let rules = rules.iter().map(|rule| with(rule, "message", Json::from("another")));
        let second = load(rules.map(|rule| with(&rule, "examples", examples.clone())).collect());
        let context = context(&mut random);
        prop_assert_eq!(first.hash(), second.hash());
        prop_assert_eq!(first.trace_context(&context).to_canonical(), second.trace_context(&context).to_canonical());
    }

    #[test]
    fn codes_and_versions_always_matter_to_the_hash(seed: u64) {
        let mut random = Random(seed);
        let mut rules = random::rules(&mut random, 8);
        rules.push(random::rule(&mut random, "last"));
        let first = load(rules.clone());
        let index = random.below(rules.len());
        let changed = if random.chance(50) {
            with(&rules[index], "code", Json::from("ANOTHER_CODE"))
        } else {
            with(&rules[index], "rule_version", Json::from(9_u32))
        };
        rules[index] = changed;
        prop_assert!(first.hash() != load(rules).hash());
    }

    #[test]
    fn the_compiled_form_is_the_reference(seed: u64) {
        let mut random = Random(seed);
        let rules = random::rules(&mut random, 12);
        let policy = load(rules);
        for _ in 0..4 {
            let context = context(&mut random);
            let required = random.chance(30);
            prop_assert_eq!(policy.evaluate(&context, required), policy.evaluate_by_reference(&context, required));
        }
    }

    #[test]
    fn adding_a_deny_never_turns_a_deny_into_an_allow(seed: u64) {
        let mut random = Random(seed);
        let mut rules = random::rules(&mut random, 8);
        let before = load(rules.clone());
        let deny = random::rule(&mut random, "added");
        let deny = with(&deny, "kind", Json::from("deny"));
        rules.push(with(&deny, "then", Json::object([("effect", Json::from("deny_action"))])));
        let after = load(rules);
        let context = context(&mut random);
        let (before, after) = (before.evaluate(&context, false), after.evaluate(&context, false));
        prop_assert!(before.decision == Decision::Allow || after.decision == Decision::Deny);
    }

    #[test]
    fn the_trace_is_a_function_of_policy_and_context(seed: u64) {
        let mut random = Random(seed);
        let policy = load(random::rules(&mut random, 8));
        let text = random::context(&mut random).to_canonical();
        let trace = policy.trace(text.as_bytes()).unwrap();
        prop_assert_eq!(&trace, &policy.trace_context(&Context::load(text.as_bytes()).unwrap()));
        prop_assert_eq!(trace.to_canonical(), trace.to_json().to_canonical());
    }

    #[test]
    fn the_fast_way_in_is_the_slow_way_in_on_any_bytes(seed: u64) {
        let mut random = Random(seed);
        let policy = load(random::rules(&mut random, 8));
        let mut bytes = random::context(&mut random).to_canonical().into_bytes();
        for _ in 0..=random.below(2) {
            damage(&mut random, &mut bytes);
        }
        let fast = policy.trace(&bytes);
        let slow = Context::load(&bytes);
        prop_assert_eq!(fast.is_ok(), slow.is_ok());
        if let (Ok(fast), Ok(slow)) = (fast, slow) {
            prop_assert_eq!(fast, policy.trace_context(&slow));
        }
    }

    #[test]
    fn the_kernel_never_turns_a_hard_gate_deny_into_an_allow(seed: u64) {
        let mut random = Random(seed);
        let (lattice, allow) = neighbours(&mut random);
        let (policy, open) = (load(random::rules(&mut random, 8)), load(vec![allow_everything()]));
        let request = request(&mut random);
        let now = Timestamp::from_unix(i64::try_from(random.below(20)).unwrap()).unwrap();
        let decide = |policy| authorize(InForce { policy, lattice: &lattice, allow: &allow }, &request, now);
        let (by_open, by_policy) = (decide(&open), decide(&policy));
        if by_open.trace.evaluation.gate <= Gate::Approval {
            prop_assert_eq!(&by_open.trace.evaluation, &by_policy.trace.evaluation);
            prop_assert!(by_policy.trace.evaluation.matched.is_empty() && !by_policy.is_allowed());
        }
        // And past the gates it allows only what the rules allow.
        let rules_alone = policy.evaluate(&by_policy.context, false);
        prop_assert!(!by_policy.is_allowed() || rules_alone.decision == Decision::Allow);
        prop_assert_eq!(by_policy.context.hash(), by_policy.trace.input_context_hash);
    }

    #[test]
    fn no_bytes_make_loading_panic(seed: u64) {
        let mut random = Random(seed);
        let mut bytes = random::document(random::rules(&mut random, 3)).to_canonical().into_bytes();
        for _ in 0..random.below(6) {
            damage(&mut random, &mut bytes);
        }
        match Policy::load(&bytes) {
            Ok(policy) => prop_assert!(Policy::load(policy.to_document().to_canonical().as_bytes()).is_ok()),
            Err(issues) => prop_assert!(issues.iter().all(|issue| issue.code.as_str().starts_with("URM_POLICY_"))),
        }
    }
}

/// Changes, drops, doubles or moves a few bytes.
fn damage(random: &mut Random, bytes: &mut Vec<u8>) {
    if bytes.is_empty() {
        return;
    }
    let at = random.below(bytes.len());
    match random.below(5) {
        0 => bytes[at] = random.next().to_le_bytes()[0],
        1 => drop(bytes.remove(at)),
        2 => bytes.insert(at, *b" \"\\{}[],:0aZ\n\xff".get(random.below(14)).unwrap()),
        3 => {
            let other = random.below(bytes.len());
            bytes.swap(at, other);
        }
        _ => {
            let end = (at + 1 + random.below(12)).min(bytes.len());
            let piece = bytes[at..end].to_vec();
            let to = random.below(bytes.len());
            bytes.splice(to..to, piece);
        }
    }
}

fn allow_everything() -> Json<'static> {
    let either = |name: &'static str| {
        Json::object([("atom", Json::from(name)), ("args", Json::array::<Json<'_>>([]))])
    };
    let not = Json::object([("op", Json::from("not")), ("arg", either("session_active"))]);
    Json::object([
        ("rule_id", Json::from("open")),
        ("rule_version", Json::from(1_u32)),
        ("priority", Json::from(0_u32)),
        ("kind", Json::from("allow")),
        (
            "when",
            Json::object([("op", Json::from("or")), ("args", Json::array([either("session_active"), not]))]),
        ),
        ("then", Json::object([("effect", Json::from("allow_action"))])),
        ("message", Json::from("everything")),
        ("code", Json::from("OPEN")),
    ])
}

/// A random lattice and an allow policy for it.
pub(crate) fn neighbours(random: &mut Random) -> (Lattice, AllowPolicy) {
    let known: Vec<&str> = random.some(&random::CAPABILITIES).into_iter().chain(["always"]).collect();
    let capabilities = known.iter().map(|id| {
        let probe =
            if random.chance(40) { Json::from("none") } else { Json::array([random.pick(&["p", "q"])]) };
        Json::object([("id", Json::from(*id)), ("probe", probe)])
    });
    let capabilities: Vec<Json<'_>> = capabilities.collect();
    let mut actions = Vec::new();
    for kind in random.some(&random::KINDS) {
        let entry = Json::object([
            ("capability", Json::from(random.pick(&known))),
            ("requires_writes_allowed", Json::from(random.chance(50))),
            ("requires_approval", Json::from(random.chance(30))),
            ("approvals", Json::from(1 + u32::try_from(random.below(3)).unwrap())),
            ("reviewers", Json::array(random.some(&["data", "security"]))),
        ]);
        actions.push((kind, entry));
    }
    let lattice = Json::object([
        ("schema", Json::from("urm.capability.lattice.v1")),
        ("capabilities", Json::from(capabilities)),
        ("actions", Json::object(actions)),
    ]);
    let lattice = Lattice::load(lattice.to_canonical().as_bytes()).unwrap();
    let roles = random::ROLES.iter().map(|role| {
        let granted: Vec<&str> = known.iter().copied().filter(|_| random.chance(70)).collect();
        (*role, Json::array(granted))
    });
    let roles: Vec<(&str, Json<'_>)> = roles.collect();
    let allow = Json::object([("schema", Json::from("urm.allow.v1")), ("roles", Json::object(roles))]);
    let allow = AllowPolicy::load(allow.to_canonical().as_bytes(), &lattice).unwrap();
    (lattice, allow)
}

pub(crate) fn request(random: &mut Random) -> Request {
    let facts = Json::array(random.some(&["p", "q", "disabled:deploy", "disabled:fs.read"]));
    let probe = Json::object([
        ("schema", Json::from("urm.probe.facts.v1")),
        ("client", Json::from("codex")),
        ("facts", facts),
    ]);
    let session_id = SessionId::parse("s1").unwrap();
    let action_kind = ActionKind::parse(random.pick(&random::KINDS)).unwrap();
    let action_hash = ActionHash::parse(&random::hash(random.below(2))).unwrap();
    let states = ApprovalState::ALL;
    let approval = match random.below(5) {
        0 => ProvidedApproval::Unknown,
        1 | 2 => ProvidedApproval::NotProvided,
        _ => ProvidedApproval::Record(ApprovalRecord {
            approval_id: ApprovalId::parse("a1").unwrap(),
            session_id: SessionId::parse(random.pick(&["s1", "s1", "s1", "s2"])).unwrap(),
            action_kind: action_kind.clone(),
            action_hash: ActionHash::parse(&random::hash(random.below(2))).unwrap(),
            state: if random.chance(60) {
                ApprovalState::Granted
            } else {
                states[random.below(states.len())]
            },
            signatures_valid: random.chance(90),
            expires_at: Timestamp::from_unix(i64::try_from(random.below(20)).unwrap()).unwrap(),
            quorum: random.chance(90).then(|| QuorumRule {
                approvals: Within::new(i64::try_from(1 + random.below(3)).unwrap()).unwrap(),
                reviewers: random
                    .some(&["data", "security"])
                    .into_iter()
                    .map(|it| Role::parse(it).unwrap())
                    .collect(),
            }),
        }),
    };
    Request {
        action_kind,
        action_hash,
        session: SessionFacts {
            session_id: Some(session_id),
            role: random.chance(90).then(|| Role::parse(random.pick(&random::ROLES)).unwrap()),
            mode: if random.chance(70) { Mode::WritesAllowed } else { Mode::ReadOnly },
            active: random.chance(90),
        },
        probe: ProbeFacts::load(probe.to_canonical().as_bytes()).unwrap(),
        approval,
        evidence_refs: Vec::new(),
        warrant: None,
    }
}
