//! What holds when several processes share a database.

use countersign_ledger::{Access, EventKind, Principal, Token};
use countersign_policy::Mode;
use countersign_store::{Call, Command, Origin, store_codes};

use crate::lab::{Lab, origin};

/// A writer remembers what it has read and changed, as long as nobody else writes.
pub(crate) fn what_another_process_changes_is_seen_at_once(lab: &Lab) {
    let other = lab.replica();
    let elsewhere = |who: &str, access: Access, command: Command| {
        other.call(Call { origin: origin(who, access), now: lab.now(), command }).unwrap()
    };
    let session = lab.session(Mode::WritesAllowed);
    let root = Principal::parse("root").unwrap();
    let token = Token {
        token_hash: Token::hash_of("secret"),
        name: root.clone(),
        access: Access::Admin,
        created_at: lab.now(),
        revoked_at: None,
    };
    let with_token = || {
        let origin = Origin { credential: Some(Token::hash_of("secret")), ..origin("root", Access::Admin) };
        lab.store.call(Call { origin, now: lab.now(), command: Command::Sweep }).map(drop)
    };
    assert_eq!(with_token().unwrap_err().code(), store_codes::URM_UNAUTHENTICATED);
    elsewhere("root", Access::Admin, Command::AddToken(token));
    with_token().unwrap();
    assert_eq!(lab.code(&session, "fs.write", None), ("ALLOWED".to_owned(), true));
    elsewhere("root", Access::Admin, Command::RevokeToken(root));
    assert_eq!(with_token().unwrap_err().code(), store_codes::URM_UNAUTHENTICATED);
    assert_eq!(lab.code(&session, "fs.write", None), ("ALLOWED".to_owned(), true));
    elsewhere("agent-1", Access::Agent, Command::StopSession(session.session_id.clone()));
    assert_eq!(lab.code(&session, "fs.read", None), ("URM_POLICY_DENIED".to_owned(), false));
    let events = lab.store.events(&session.stream(), 0).unwrap();
    let seqs: Vec<i64> = events.iter().map(|event| event.seq.get()).collect();
    assert_eq!(seqs, (1..).take(events.len()).collect::<Vec<i64>>(), "no gap where two have written");
    assert!(lab.kinds(&session).contains(&EventKind::SessionStop));
    lab.store.verify_log(None, &[]).unwrap();
}
