//! Approvals that many want at once: each is used exactly once, at what rate.

use std::{
    sync::{
        Barrier,
        atomic::{AtomicUsize, Ordering},
    },
    time::Instant,
};

use countersign_canon::{Json, Timestamp};
use countersign_ledger::{GrantTtl, KeyName, Principal, Reason, SecretKey, Session};
use countersign_policy::{ActionKind, ApprovalId, ApprovalState, Mode, NameSet, Role};
use countersign_service::{Ask, Caller, NewSession, Node, NodeOptions, now, sign};

use crate::goal;

const THREADS: usize = 16;
/// How many approvals all threads want; and how many when each wants its own.
const HOT: usize = 400;
const DISJOINT: usize = 1600;

pub fn measure(options: &NodeOptions) {
    let node = Node::open(options).unwrap();
    let desk = Desk::new(&node);
    let granted: Vec<(ApprovalId, usize)> = (0..HOT + DISJOINT).map(|number| desk.granted(number)).collect();
    let (hot, disjoint) = granted.split_at(HOT);
    show(&desk, "all want each", hot, |_, approvals| approvals.iter().collect());
    show(&desk, "each wants its own", disjoint, |thread, approvals| {
        approvals.iter().skip(thread).step_by(THREADS).collect()
    });
}

fn show(
    desk: &Desk<'_>,
    what: &str,
    approvals: &[(ApprovalId, usize)],
    share: impl Fn(usize, &[(ApprovalId, usize)]) -> Vec<&(ApprovalId, usize)> + Sync,
) {
    let (barrier, permits, asked) = (Barrier::new(THREADS), AtomicUsize::new(0), AtomicUsize::new(0));
    let start = Instant::now();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (share, barrier, permits, asked) = (&share, &barrier, &permits, &asked);
            scope.spawn(move || {
                barrier.wait();
                for (id, number) in share(thread, approvals) {
                    let decision = desk.node.decide(&desk.owner, desk.deploy(*number).with_approval(id)).unwrap();
                    permits.fetch_add(usize::from(decision.permit.is_some()), Ordering::Relaxed);
                    asked.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    let seconds = start.elapsed().as_secs_f64();
    let consumed = desk.node.store().approvals(Some(ApprovalState::Consumed)).unwrap();
    let used = approvals.iter().filter(|(id, _)| consumed.iter().any(|approval| approval.approval_id == *id)).count();
    let permits = permits.into_inner();
    println!(
        "  {THREADS} threads, {what}: {} approvals, {permits} permits, {used} used up, {:.0} approvals/s, {:.0} decisions/s {}",
        approvals.len(),
        approvals.len() as f64 / seconds,
        asked.into_inner() as f64 / seconds,
        goal(permits == approvals.len() && used == permits, "exactly once")
    );
}

/// Somebody who asks to deploy, and somebody who grants it.
struct Desk<'n> {
    node: &'n Node,
    owner: Caller,
    ann: Principal,
    key: SecretKey,
    session: Session,
}

impl<'n> Desk<'n> {
    fn new(node: &'n Node) -> Self {
        let (owner, ann) = (Caller::owner("bench").unwrap(), Principal::parse("ann").unwrap());
        let key = SecretKey::from_seed(KeyName::parse("ann").unwrap(), &[7; 32]);
        node.add_key(&owner, &key.public(), NameSet::default()).unwrap();
        let new = NewSession::new(Role::parse("copilot").unwrap(), Mode::WritesAllowed, "bench").unwrap();
        let session = node.start_session(&owner, new).unwrap();
        Self { node, owner, ann, key, session }
    }

    fn deploy(&self, number: usize) -> Ask {
        let payload = Json::object([("image", Json::from(format!("shop:{number}")))]);
        Ask::new(ActionKind::parse("deploy").unwrap(), payload).in_session(&self.session.session_id).to_begin()
    }

    /// An approval that was asked for and granted for an hour.
    fn granted(&self, number: usize) -> (ApprovalId, usize) {
        let pending = self.node.decide(&self.owner, self.deploy(number)).unwrap().decided.pending_approval.unwrap();
        let approval = self.node.approval(&pending.approval_id).unwrap();
        let instant: (Timestamp, GrantTtl) = (now().unwrap(), GrantTtl::new(3600).unwrap());
        let grant = sign(&approval, &self.ann, &self.key, instant, Reason::new("fine".to_owned()).unwrap()).unwrap();
        let caller = self.owner.approver(self.ann.clone());
        self.node.grant(&caller, &approval.approval_id, grant).unwrap();
        (approval.approval_id, number)
    }
}
