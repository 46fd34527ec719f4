//! Executions: what was allowed to begin, and how it went.

use countersign_canon::{Text, record};
use countersign_ledger::{Access, Execution, ExecutionState, OutcomeStatus, PermitId};
use countersign_store::Command;

use super::{AGENTS, ANYBODY, Asked, Endpoint, PageSize, Route, own_or_missing, page_size};
use crate::{Caller, Node, ServiceError, node::execution_of};

record! {
    /// Lists executions, the latest first.
    pub struct ListExecutions {
        /// Only those that stand here.
        state: Option<ExecutionState>,
        /// How many at most; 100 if left out.
        limit: Option<PageSize>,
    }
}

record! {
    /// Executions.
    pub struct Executions {
        /// Each of them; an agent sees those of its own sessions.
        executions: Vec<Execution>,
    }
}

impl Endpoint for ListExecutions {
    type Reply = Executions;
    const ROUTE: Route = Route::get("/v1/executions", ANYBODY, "List executions");

    fn ask(self, caller: &Caller) -> Result<Asked<Executions>, ServiceError> {
        let caller = caller.clone();
        let limit = page_size(self.limit);
        Ok(Asked::question(move |node| {
            let mut executions = Vec::new();
            for execution in node.store().latest_executions(self.state, limit)? {
                if is_visible(node, &caller, &execution)? {
                    executions.push(execution);
                }
            }
            Ok(Executions { executions })
        }))
    }
}

fn is_visible(node: &Node, caller: &Caller, execution: &Execution) -> Result<bool, ServiceError> {
    let session = match &execution.session_id {
        Some(id) if caller.access == Access::Agent => node.store().session(id)?,
        Some(_) | None => None,
    };
    Ok(caller.access != Access::Agent || session.is_some_and(|session| session.owner == caller.principal))
}

record! {
    /// Shows an execution.
    pub struct GetExecution {
        /// The permit that let it begin.
        permit_id: PermitId,
    }
}

impl Endpoint for GetExecution {
    type Reply = Execution;
    const ROUTE: Route = Route::get("/v1/executions/{permit_id}", ANYBODY, "Show an execution");

    fn ask(self, caller: &Caller) -> Result<Asked<Execution>, ServiceError> {
        let caller = caller.clone();
        Ok(Asked::question(move |node| {
            let found = node.store().execution(&self.permit_id)?;
            let is_own = found.as_ref().map_or(Ok(false), |found| is_visible(node, &caller, found))?;
            own_or_missing(&caller, found, |_| is_own, ("permit", self.permit_id.as_str()))
        }))
    }
}

record! {
    /// Says how an execution went.
    pub struct ReportOutcome {
        /// The permit that let it begin.
        permit_id: PermitId,
        /// How it went.
        status: OutcomeStatus,
        /// What else there is to say.
        detail: Option<Text<0, 4000>>,
    }
}

impl Endpoint for ReportOutcome {
    type Reply = Execution;
    const ROUTE: Route =
        Route::post("/v1/executions/{permit_id}/outcome", AGENTS, "Report how an execution went");

    fn ask(self, _: &Caller) -> Result<Asked<Execution>, ServiceError> {
        let Self { permit_id, status, detail } = self;
        let detail = detail.unwrap_or_else(|| Text::cut(""));
        Ok(Asked::change(Command::Finish(permit_id, status, detail), execution_of))
    }
}
