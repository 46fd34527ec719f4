//! Who can grant, what a signature covers, and when an approval can be used.

use alloc::vec::Vec;

use countersign_canon::{Json, Reader, Timestamp, Wire as _, Within};
use countersign_policy::{
    ActionHash, ActionKind, ApprovalFacts, ApprovalId, ApprovalState, ApprovalSubject, ProvidedApproval,
    QuorumRule, Role, SessionId, action_hash,
};
use proptest::{prelude::*, sample::Index};

use super::{
    Approval, ApprovalRequest, ApprovalStatement, ApproverKey, DecisionId, Grant, GrantRefusal, GrantTtl,
    Reason,
};
use crate::{Executor, KeyName, PermitId, Principal, Requirement, SecretKey, begin, ledger_codes};

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_unix(1_000_000_i64.saturating_add(seconds)).unwrap()
}

fn person(name: &str) -> Principal {
    Principal::parse(name).unwrap()
}

fn secret(name: &str) -> SecretKey {
    let mut seed = [0; 32];
    seed[..name.len()].copy_from_slice(name.as_bytes());
    SecretKey::from_seed(KeyName::parse(name).unwrap(), &seed)
}

fn key(name: &str, reviews: &[&str]) -> ApproverKey {
    let public_key = secret(name).public().key;
    ApproverKey {
        key_id: public_key.id(),
        approver: person(name),
        public_key,
        reviews: reviews.iter().map(|kind| Role::parse(kind).unwrap()).collect(),
        created_at: at(0),
        revoked_at: None,
    }
}

/// Ann and Bob may review; Sam is of security.
fn keys() -> Vec<ApproverKey> {
    Vec::from([key("ann", &[]), key("bob", &[]), key("sam", &["security"])])
}

fn deploy() -> (ActionKind, ActionHash) {
    let kind = ActionKind::parse("deploy").unwrap();
    let hash = action_hash(&kind, &Json::from("prod"));
    (kind, hash)
}

fn pending(approvals: i64, reviewers: &[&str]) -> Approval {
    let (action_kind, action_hash) = deploy();
    let reviewers = reviewers.iter().map(|kind| Role::parse(kind).unwrap()).collect();
    let request = ApprovalRequest {
        approval_id: ApprovalId::parse("apr_00000000000000000000000000000001").unwrap(),
        session_id: SessionId::parse("ses_1").unwrap(),
        action_kind,
        action_hash,
        requester: person("agent-1"),
        decision_id: DecisionId::parse("dec_00000000000000000000000000000001").unwrap(),
        quorum: QuorumRule { approvals: Within::new(approvals).unwrap(), reviewers },
    };
    Approval::request(request, at(0)).unwrap()
}

fn ttl() -> GrantTtl {
    GrantTtl::new(120).unwrap()
}

fn reason(text: &str) -> Reason {
    Reason::new(text.into()).unwrap()
}

fn grant(approval: &Approval, name: &str, granted_at: Timestamp) -> Grant {
    let statement = approval.statement(&person(name), granted_at, ttl(), &reason("ok")).unwrap();
    Grant {
        approver: person(name),
        key_id: key(name, &[]).key_id,
        signature: statement.sign(&secret(name)),
        granted_at,
        ttl_s: ttl(),
        reason: reason("ok"),
    }
}

fn granted() -> Approval {
    let approval = pending(1, &[]);
    approval.grant(&grant(&approval, "ann", at(10)), &keys(), at(10)).unwrap()
}

/// Valid, unexpired, unused.
fn facts(approval: &Approval, keys: &[ApproverKey], evaluation_ts: Timestamp) -> (bool, bool, bool) {
    let (kind, hash) = deploy();
    let session = SessionId::parse("ses_1").unwrap();
    let subject = ApprovalSubject { session_id: Some(&session), action_kind: &kind, action_hash: &hash };
    let provided = ProvidedApproval::Record(approval.record(keys));
    let ApprovalFacts { present: _, valid, unexpired, unused } = provided.facts(subject, evaluation_ts);
    (valid, unexpired, unused)
}

#[test]
fn a_granted_approval_is_usable_until_its_last_second() {
    let approval = granted();
    assert_eq!((approval.state, approval.expires_at), (ApprovalState::Granted, at(130)));
    assert_eq!(facts(&approval, &keys(), at(130)), (true, true, true));
    assert_eq!(facts(&approval, &keys(), at(131)), (true, false, true));
    assert_eq!(facts(&approval.expire(at(131)).unwrap(), &keys(), at(131)), (true, false, true));
}

#[test]
fn every_other_state_is_not_usable() {
    let keys = keys();
    assert_eq!(facts(&pending(1, &[]), &keys, at(10)), (false, true, true));
    let denied = pending(1, &[]).deny(&person("ann"), &reason("no"), at(10)).unwrap();
    assert_eq!(facts(&denied, &keys, at(10)), (false, true, true));
    let revoked = granted().revoke(&person("ann"), at(20)).unwrap();
    assert_eq!(facts(&revoked, &keys, at(20)), (true, true, false));
    let (step, _) =
        begin(Requirement::Approval(Some(granted().step())), Executor::Reporting, at(20)).unwrap();
    let permit = PermitId::parse("per_00000000000000000000000000000001").unwrap();
    let consumed = granted().consumed(step.unwrap(), &permit, at(20));
    assert_eq!(facts(&consumed, &keys, at(20)), (true, true, false));
    assert_eq!(consumed.consumed_by, Some(permit));
    let never_granted = pending(1, &[]).expire(at(86_401)).unwrap();
    assert_eq!(facts(&never_granted, &keys, at(10)), (false, false, true));
}

#[test]
fn nobody_grants_their_own_request_or_signs_twice() {
    let mut approval = pending(2, &[]);
    approval.requester = person("ann");
    let own = approval.grant(&grant(&approval, "ann", at(10)), &keys(), at(10)).unwrap_err();
    assert_eq!(own.code(), ledger_codes::URM_APPROVAL_OWN_REQUEST);
    let once = approval.grant(&grant(&approval, "bob", at(10)), &keys(), at(10)).unwrap();
    let twice = once.grant(&grant(&once, "bob", at(11)), &keys(), at(11));
    assert_eq!(twice, Err(GrantRefusal::SignedAlready));
}

#[test]
fn a_quorum_counts_people_and_kinds_of_people() {
    let approval = pending(2, &["security"]);
    let one = approval.grant(&grant(&approval, "ann", at(10)), &keys(), at(10)).unwrap();
    assert_eq!((one.state, one.expires_at), (ApprovalState::Pending, at(86_400)));
    let two = one.grant(&grant(&one, "bob", at(20)), &keys(), at(20)).unwrap();
    assert_eq!(two.state, ApprovalState::Pending, "two people, none of security");
    let three = two.grant(&grant(&two, "sam", at(30)), &keys(), at(30)).unwrap();
    assert_eq!(
        (three.state, three.expires_at),
        (ApprovalState::Granted, at(150)),
        "counted from the last one"
    );
    assert_eq!(facts(&three, &keys(), at(150)), (true, true, true));
    assert_eq!(facts(&one, &keys(), at(30)), (false, true, true));
}

#[test]
fn a_signature_needs_a_live_key_of_its_approver_and_a_clock_that_is_right() {
    let approval = pending(1, &[]);
    let good = grant(&approval, "ann", at(10));
    let check =
        |grant: &Grant, keys: &[ApproverKey], now: i64| approval.grant(grant, keys, at(now)).map(|_| ());
    assert_eq!(check(&good, &keys(), 10), Ok(()));
    assert_eq!(check(&good, &keys(), 310), Ok(()));
    assert_eq!(check(&good, &keys(), 311), Err(GrantRefusal::Clock));
    assert_eq!(check(&good, &[], 10), Err(GrantRefusal::Key));
    let mut revoked = keys();
    revoked[0].revoked_at = Some(at(5));
    assert_eq!(check(&good, &revoked, 10), Err(GrantRefusal::Key));
    let as_bob = Grant { approver: person("bob"), ..good.clone() };
    assert_eq!(check(&as_bob, &keys(), 10), Err(GrantRefusal::Key));
    let bobs_key = Grant { approver: person("bob"), key_id: key("bob", &[]).key_id, ..good.clone() };
    assert_eq!(check(&bobs_key, &keys(), 10), Err(GrantRefusal::Signature));
    for changed in [
        Grant { ttl_s: GrantTtl::new(121).unwrap(), ..good.clone() },
        Grant { reason: reason("oK"), ..good.clone() },
        Grant { granted_at: at(11), ..good.clone() },
    ] {
        assert_eq!(check(&changed, &keys(), 10), Err(GrantRefusal::Signature));
    }
    assert_eq!(facts(&granted(), &revoked, at(20)), (false, true, true), "a revoked key no longer speaks");
}

#[test]
fn a_second_signature_says_the_same_as_the_first() {
    let approval = pending(2, &[]);
    let one = approval.grant(&grant(&approval, "ann", at(10)), &keys(), at(10)).unwrap();
    let other = Grant { reason: reason("other"), ..grant(&one, "bob", at(10)) };
    assert_eq!(one.grant(&other, &keys(), at(10)), Err(GrantRefusal::Differs));
    let longer = Grant { ttl_s: GrantTtl::new(500).unwrap(), ..grant(&one, "bob", at(10)) };
    assert_eq!(one.grant(&longer, &keys(), at(10)), Err(GrantRefusal::Differs));
}

#[test]
fn a_time_to_live_out_of_range_is_no_time_to_live() {
    let range = [0, 1, 86_400, 86_401].map(|seconds| GrantTtl::new(seconds).is_some());
    assert_eq!(range, [false, true, true, false]);
}

#[test]
fn a_row_that_was_changed_in_the_database_is_not_valid() {
    let mut longer = granted();
    longer.expires_at = at(9999);
    let mut other = granted();
    other.action_kind = ActionKind::parse("fs.write").unwrap();
    let mut raised = pending(1, &[]);
    raised.state = ApprovalState::Granted;
    for changed in [longer, other, raised] {
        assert!(!facts(&changed, &keys(), at(20)).0);
    }
}

#[test]
fn an_approval_reads_back_from_its_canonical_form() {
    let text = granted().write().to_canonical();
    let read: Approval = Reader::read_document(text.as_bytes(), ledger_codes::URM_EVENT_INVALID).unwrap();
    assert_eq!(read, granted());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    /// Changing any one character of any one field of the statement breaks the signature.
    #[test]
    fn no_changed_statement_is_signed(field: Index, at_char: Index, to in "[0-9a-zA-Z]") {
        let statement = granted().statement(&person("ann"), at(10), ttl(), &reason("ok")).unwrap();
        let signature = statement.sign(&secret("ann"));
        let json = statement.write();
        let members = json.as_object().unwrap().members();
        let changed_index = field.index(members.len());
        let changed = members.iter().enumerate().map(|(index, member)| {
            let mut text = Vec::from_iter(member.value.as_str().unwrap().chars());
            if index == changed_index {
                let place = at_char.index(text.len());
                text[place] = to.chars().next().unwrap();
            }
            (member.key.clone().into_owned(), Json::from(alloc::string::String::from_iter(text)))
        });
        let changed = Json::object(Vec::from_iter(changed));
        let read = Reader::read_json::<ApprovalStatement>(&changed, ledger_codes::URM_EVENT_INVALID);
        if let Ok(read) = read {
            prop_assert_eq!(read.is_signed_by(&secret("ann").public().key, &signature), read == statement);
        }
    }
}
