//! What can be asked of the service: each request is a document that says where it is asked, by whom, and what comes back.
//!
//! The HTTP routes, the OpenAPI document, the client behind `--url` and the embedded store all come from these
//! declarations; there is no second list of routes, fields or codes.

mod approvals;
mod calls;
mod decisions;
mod documents;
mod evidence;
mod executions;
mod keys;
mod log;
mod policy;
mod review;
mod sessions;
mod tokens;

pub use self::{
    approvals::{ApprovalViews, DenyApproval, GetApproval, GrantApproval, ListApprovals, RevokeApproval},
    calls::{CallReply, DecideCall, ReportCall},
    decisions::{DecideAction, DecisionReply, GetDecision, Outcome, ReplayDecision, Replayed},
    documents::{EvaluateIntents, Evaluated, PlanDryRun, Planned, RecordVerdict},
    evidence::{TraceId, Traced, TracedEvent},
    executions::{Executions, GetExecution, ListExecutions, ReportOutcome},
    keys::{AddKey, ApproverKeys, ListKeys, RevokeKey},
    log::{
        CheckpointView, ConsistencyProof, GetCheckpoint, InclusionProof, ProveConsistency, ProveInclusion,
    },
    policy::{
        ActivatePolicy, ActivationView, ActivePolicy, EvaluateContext, ExplainContext, Facts, GetPolicy,
        ListActivations, PolicyHistory, PolicyReport, RollBackPolicy, TraceReply, ValidatePolicy,
    },
    review::{ApprovalView, PayloadChange, ReviewedDecision, ReviewedRule, Risk},
    sessions::{GetSession, ListSessions, Sessions, StartSession, StopSession},
    tokens::{CreateToken, ListTokens, NewToken, RevokeToken, TokenView, Tokens},
};

pub(crate) use self::{keys::approver_key, log::Place};

use countersign_canon::{Wire, Within, record};
use countersign_ledger::{Access, LoadedVersion};
use countersign_store::{Answer, Command, Refusal};

use crate::{Caller, Node, ServiceError};

/// Everybody who has a token.
pub(crate) const ANYBODY: &[Access] = Access::ALL;
/// Whoever acts, or sets up.
pub(crate) const AGENTS: &[Access] = &[Access::Agent, Access::Admin];
/// Whoever says yes or no.
pub(crate) const APPROVERS: &[Access] = &[Access::Approver, Access::Admin];
/// Whoever reads everything.
pub(crate) const READERS: &[Access] = &[Access::Approver, Access::Auditor, Access::Admin];
/// Whoever looks after the service.
pub(crate) const AUDITORS: &[Access] = &[Access::Auditor, Access::Admin];
/// Whoever sets up.
pub(crate) const ADMINS: &[Access] = &[Access::Admin];

/// LIMIT: how many rows a page of a list has.
pub(crate) type PageSize = Within<1, 1000>;

/// How many rows a page has where the caller does not say.
pub(crate) fn page_size(limit: Option<PageSize>) -> i64 {
    limit.map_or(100, PageSize::get)
}

/// Whether there may be another page after this one.
pub(crate) fn is_full<T>(page: &[T], limit: i64) -> bool {
    i64::try_from(page.len()).is_ok_and(|rows| rows >= limit)
}

/// What a request does to the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// It asks.
    Get,
    /// It changes something, or asks with a document.
    Post,
}

impl Method {
    /// The method's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }
}

/// How large a request may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Its bytes.
    pub bytes_max: usize,
    /// How deep it nests.
    pub depth_max: usize,
    /// How many keys one of its objects has.
    pub keys_max: usize,
}

impl Limits {
    /// LIMIT: of what agents send.
    pub const ACTION: Self = Self { bytes_max: 256 << 10, depth_max: 32, keys_max: 1000 };
    /// LIMIT: of policies and intents.
    pub const DOCUMENT: Self = Self { bytes_max: 4 << 20, depth_max: 128, keys_max: 100_000 };
}

/// Where a request is asked, by whom, and how large it may be.
#[derive(Debug, Clone, Copy)]
pub struct Route {
    /// How.
    pub method: Method,
    /// Where; `{name}` stands for the request's field of that name.
    pub path: &'static str,
    /// What it does, in a few words.
    pub summary: &'static str,
    /// Who may ask.
    pub access: &'static [Access],
    /// How large it may be.
    pub limits: Limits,
    /// The status of a good answer.
    pub status: u16,
}

impl Route {
    /// A question.
    pub(crate) const fn get(path: &'static str, access: &'static [Access], summary: &'static str) -> Self {
        Self { method: Method::Get, path, summary, access, limits: Limits::ACTION, status: 200 }
    }

    /// A change.
    pub(crate) const fn post(path: &'static str, access: &'static [Access], summary: &'static str) -> Self {
        Self { method: Method::Post, ..Self::get(path, access, summary) }
    }

    /// The names of the fields that stand in the path.
    pub fn path_fields(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }
}

/// A request with everything that is to be known about it.
pub trait Endpoint: Wire + Send + 'static {
    /// What comes back.
    type Reply: Wire + Send + 'static;
    /// Where it is asked, and by whom.
    const ROUTE: Route;

    /// The code of the decision that the answer is about, if it is about one: for whoever counts them.
    fn decision_code(_: &Self::Reply) -> Option<&str> {
        None
    }

    /// What is to be done for this caller.
    ///
    /// # Errors
    ///
    /// Fails if the request contradicts itself.
    fn ask(self, caller: &Caller) -> Result<Asked<Self::Reply>, ServiceError>;
}

/// A question that reads the store, and so may wait.
pub type Question<R> = Box<dyn FnOnce(&Node) -> Result<R, ServiceError> + Send>;
/// How the store's answer to a command is read.
pub type Finish<R> = Box<dyn FnOnce(Answer) -> Result<R, ServiceError> + Send>;
/// A question about the policy in force, which waits for nobody.
pub type Consideration<R> = Box<dyn FnOnce(&LoadedVersion) -> Result<R, ServiceError> + Send>;

/// What a request comes down to.
pub enum Asked<R> {
    /// A command to the store, and how its answer is read.
    Change(Command, Finish<R>),
    /// A question to the store.
    Question(Question<R>),
    /// A question about the policy in force.
    Consideration(Consideration<R>),
}

impl<R> std::fmt::Debug for Asked<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Change(..) => "Change",
            Self::Question(_) => "Question",
            Self::Consideration(_) => "Consideration",
        })
    }
}

impl<R> Asked<R> {
    /// A command to the store, and how its answer is read.
    pub(crate) fn change(
        command: Command,
        finish: impl FnOnce(Answer) -> Result<R, ServiceError> + Send + 'static,
    ) -> Self {
        Self::Change(command, Box::new(finish))
    }

    /// A question to the store.
    pub(crate) fn question(ask: impl FnOnce(&Node) -> Result<R, ServiceError> + Send + 'static) -> Self {
        Self::Question(Box::new(ask))
    }
}

record! {
    /// There is nothing more to say.
    pub struct Done {
        /// It is done.
        done: bool,
    }
}

/// It is done, whatever the store has to say about it.
pub(crate) fn done(_: Answer) -> Result<Done, ServiceError> {
    Ok(Done { done: true })
}

/// Something that is told about every endpoint.
pub(crate) trait Visitor {
    /// Takes the next endpoint.
    fn visit<E: Endpoint>(&mut self);
}

/// Shows every endpoint: the one list of routes.
pub(crate) fn each_endpoint(visitor: &mut impl Visitor) {
    visitor.visit::<StartSession>();
    visitor.visit::<ListSessions>();
    visitor.visit::<GetSession>();
    visitor.visit::<StopSession>();
    visitor.visit::<DecideAction>();
    visitor.visit::<GetDecision>();
    visitor.visit::<ReplayDecision>();
    visitor.visit::<DecideCall>();
    visitor.visit::<ReportCall>();
    visitor.visit::<ListExecutions>();
    visitor.visit::<GetExecution>();
    visitor.visit::<ReportOutcome>();
    visitor.visit::<ListApprovals>();
    visitor.visit::<GetApproval>();
    visitor.visit::<GrantApproval>();
    visitor.visit::<DenyApproval>();
    visitor.visit::<RevokeApproval>();
    visitor.visit::<GetPolicy>();
    visitor.visit::<EvaluateContext>();
    visitor.visit::<ExplainContext>();
    visitor.visit::<ValidatePolicy>();
    visitor.visit::<ListActivations>();
    visitor.visit::<ActivatePolicy>();
    visitor.visit::<RollBackPolicy>();
    visitor.visit::<ListKeys>();
    visitor.visit::<AddKey>();
    visitor.visit::<RevokeKey>();
    visitor.visit::<ListTokens>();
    visitor.visit::<CreateToken>();
    visitor.visit::<RevokeToken>();
    visitor.visit::<GetCheckpoint>();
    visitor.visit::<ProveInclusion>();
    visitor.visit::<ProveConsistency>();
    visitor.visit::<TraceId>();
    visitor.visit::<EvaluateIntents>();
    visitor.visit::<PlanDryRun>();
    visitor.visit::<RecordVerdict>();
}

impl Route {
    /// Refuses a caller who may not ask here.
    ///
    /// # Errors
    ///
    /// Fails with what this needs.
    pub fn admit(&self, caller: &Caller) -> Result<(), ServiceError> {
        if self.access.contains(&caller.access) {
            return Ok(());
        }
        let words: Vec<&str> = self.access.iter().map(|access| access.as_str()).collect();
        let message = format!("this needs {}", words.join(" or "));
        Err(Refusal::Forbidden { access: caller.access, message }.into())
    }
}

/// An agent sees what is its own, and of the rest not even whether it is there.
pub(crate) fn own_or_missing<T>(
    caller: &Caller,
    found: Option<T>,
    is_own: impl FnOnce(&T) -> bool,
    (what, id): (&'static str, &str),
) -> Result<T, ServiceError> {
    let visible = found.filter(|it| caller.access != Access::Agent || is_own(it));
    Ok(visible.ok_or_else(|| Refusal::NotFound { what, id: id.to_owned() })?)
}
