//! Calls of a host's tools, as its hook tells of them.

use countersign_canon::{Json, Text, record};
use countersign_ledger::{DecisionId, OutcomeStatus, PendingApproval};
use countersign_policy::{ActionKind, Mode, ProbeFacts, RuleId};

use super::{AGENTS, Asked, Done, Endpoint, Route};
use crate::{Ask, Caller, ServiceError};

record! {
    /// Asks whether a call of a host's tool may begin. The host's session is one of the service's own.
    pub struct DecideCall {
        /// The host.
        client: Text<1, 128>,
        /// The host's name for its session.
        host_session: Text<1, 1000>,
        /// The host's name for the call, if it has one: under it the call begins at most once.
        call: Option<Text<1, 1000>>,
        /// What a new session may do at most.
        mode: Mode,
        /// The kind of action that the call is.
        action_kind: ActionKind,
        /// Its payload.
        action_payload: Json<'static>,
        /// What a probe found about the host.
        probe: ProbeFacts,
    }
}

record! {
    /// Whether a call may begin, and why.
    pub struct CallReply {
        /// The decision.
        decision_id: DecisionId,
        /// Its code.
        decision_code: String,
        /// Why it came out so, in one sentence.
        reason: String,
        /// The rule that decided, if one did.
        rule: Option<RuleId>,
        /// Whether the call may begin, now and once.
        may_begin: bool,
        /// What an approval was asked for with, if one is needed.
        pending_approval: Option<PendingApproval>,
    }
}

impl Endpoint for DecideCall {
    type Reply = CallReply;
    const ROUTE: Route = Route::post("/v1/calls", AGENTS, "Decide whether a call of a host's tool may begin");

    fn decision_code(reply: &CallReply) -> Option<&str> {
        Some(&reply.decision_code)
    }

    fn ask(self, caller: &Caller) -> Result<Asked<CallReply>, ServiceError> {
        let caller = caller.clone();
        Ok(Asked::question(move |node| {
            node.check_policies()?;
            let mode = node.host_mode(&caller, self.mode);
            let call =
                node.host_call(&caller, (&self.client, mode), &self.host_session, self.call.as_ref())?;
            let ask = Ask { probe: Some(self.probe), ..Ask::new(self.action_kind, self.action_payload) };
            node.answer_call(&caller, &call, ask)
        }))
    }
}

record! {
    /// Says how a call went that was allowed to begin.
    pub struct ReportCall {
        /// The host.
        client: Text<1, 128>,
        /// The host's name for its session.
        host_session: Text<1, 1000>,
        /// The host's name for the call.
        call: Text<1, 1000>,
        /// How it went.
        status: OutcomeStatus,
        /// What else there is to say.
        detail: Text<0, 4000>,
    }
}

impl Endpoint for ReportCall {
    type Reply = Done;
    const ROUTE: Route = Route::post("/v1/calls/outcome", AGENTS, "Report how a call of a host's tool went");

    fn ask(self, caller: &Caller) -> Result<Asked<Done>, ServiceError> {
        let caller = caller.clone();
        Ok(Asked::question(move |node| {
            let call = node.host_call(
                &caller,
                (&self.client, Mode::ReadOnly),
                &self.host_session,
                Some(&self.call),
            )?;
            node.finish_call(&caller, &call, self.status, self.detail.as_str())?;
            Ok(Done { done: true })
        }))
    }
}
