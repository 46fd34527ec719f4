//! Approvals: what waits for a person, and what the person says.

use countersign_canon::{Timestamp, record};
use countersign_ledger::{Access, Approval, Grant, GrantTtl, KeyId, Reason, Signature};
use countersign_policy::{ApprovalId, ApprovalState};
use countersign_store::Command;

use super::{
    ANYBODY, APPROVERS, Asked, Endpoint, PageSize, Route, is_full, own_or_missing, page_size,
    review::{ApprovalView, view},
};
use crate::{Caller, ServiceError, node::approval_of};

record! {
    /// Lists approvals, in the order of their ids.
    pub struct ListApprovals {
        /// Only those that stand here.
        state: Option<ApprovalState>,
        /// Only what comes after this one: the `next` of the page before.
        after: Option<ApprovalId>,
        /// How many at most; 100 if left out.
        limit: Option<PageSize>,
    }
}

record! {
    /// Approvals.
    pub struct ApprovalViews {
        /// Each of them; an agent sees those it asked for.
        approvals: Vec<ApprovalView>,
        /// After which one the next page begins, if there may be one.
        next: Option<ApprovalId>,
    }
}

impl Endpoint for ListApprovals {
    type Reply = ApprovalViews;
    const ROUTE: Route =
        Route::get("/v1/approvals", ANYBODY, "List requests for approvals and what became of them");

    fn ask(self, caller: &Caller) -> Result<Asked<ApprovalViews>, ServiceError> {
        let caller = caller.clone();
        Ok(Asked::question(move |node| {
            let limit = page_size(self.limit);
            let found = node.store().some_approvals(self.state, self.after.as_ref(), limit)?;
            let next = found.last().filter(|_| is_full(&found, limit)).map(|last| last.approval_id.clone());
            // What an agent may not see is left out of its page, which may so be shorter.
            let is_visible = |approval: &Approval| {
                caller.access != Access::Agent || approval.requester == caller.principal
            };
            let views = found.into_iter().filter(is_visible).map(|approval| view(node, approval));
            Ok(ApprovalViews { approvals: views.collect::<Result<_, _>>()?, next })
        }))
    }
}

record! {
    /// Shows an approval as a reviewer sees it.
    pub struct GetApproval {
        /// The approval.
        approval_id: ApprovalId,
    }
}

impl Endpoint for GetApproval {
    type Reply = ApprovalView;
    const ROUTE: Route = Route::get("/v1/approvals/{approval_id}", ANYBODY, "Show a request for an approval");

    fn ask(self, caller: &Caller) -> Result<Asked<ApprovalView>, ServiceError> {
        let caller = caller.clone();
        Ok(Asked::question(move |node| {
            let (found, id) = (node.store().approval(&self.approval_id)?, self.approval_id.as_str());
            let is_own = |approval: &Approval| approval.requester == caller.principal;
            view(node, own_or_missing(&caller, found, is_own, ("approval", id))?)
        }))
    }
}

record! {
    /// Says yes, signed: the signature is over the approval's statement (docs/service.md).
    pub struct GrantApproval {
        /// The approval.
        approval_id: ApprovalId,
        /// The key that signed; it must be registered for whoever asks.
        key_id: KeyId,
        /// The signature.
        signature: Signature,
        /// The statement's `granted_at`.
        granted_at: Timestamp,
        /// For how many seconds it can be used; the statement's `expires_at` is this long after `granted_at`.
        ttl_s: GrantTtl,
        /// The statement's reason.
        reason: Reason,
    }
}

impl GrantApproval {
    /// A person's answer to this request; who says so is known by a credential.
    #[must_use]
    pub fn new(approval_id: ApprovalId, grant: Grant) -> Self {
        let Grant { approver: _, key_id, signature, granted_at, ttl_s, reason } = grant;
        Self { approval_id, key_id, signature, granted_at, ttl_s, reason }
    }
}

impl Endpoint for GrantApproval {
    type Reply = Approval;
    const ROUTE: Route =
        Route::post("/v1/approvals/{approval_id}/grant", APPROVERS, "Say yes to a request, signed");

    fn ask(self, caller: &Caller) -> Result<Asked<Approval>, ServiceError> {
        let Self { approval_id, key_id, signature, granted_at, ttl_s, reason } = self;
        let approver = caller.principal.clone();
        let grant = Grant { approver, key_id, signature, granted_at, ttl_s, reason };
        Ok(Asked::change(Command::Grant(approval_id, Box::new(grant)), approval_of))
    }
}

record! {
    /// Says no.
    pub struct DenyApproval {
        /// The approval.
        approval_id: ApprovalId,
        /// Why.
        reason: Reason,
    }
}

impl Endpoint for DenyApproval {
    type Reply = Approval;
    const ROUTE: Route = Route::post("/v1/approvals/{approval_id}/deny", APPROVERS, "Say no to a request");

    fn ask(self, _: &Caller) -> Result<Asked<Approval>, ServiceError> {
        Ok(Asked::change(Command::Deny(self.approval_id, self.reason), approval_of))
    }
}

record! {
    /// Takes a granted approval back.
    pub struct RevokeApproval {
        /// The approval.
        approval_id: ApprovalId,
    }
}

impl Endpoint for RevokeApproval {
    type Reply = Approval;
    const ROUTE: Route =
        Route::post("/v1/approvals/{approval_id}/revoke", APPROVERS, "Take a granted approval back");

    fn ask(self, _: &Caller) -> Result<Asked<Approval>, ServiceError> {
        Ok(Asked::change(Command::Revoke(self.approval_id), approval_of))
    }
}
