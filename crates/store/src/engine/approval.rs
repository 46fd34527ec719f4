//! Answers to requests for approvals, outcomes of executions, and what time ends.

use countersign_canon::{Text, Timestamp, Wire as _};
use countersign_ledger::{
    Access, Approval, EventKind, Execution, ExecutionState, ExecutionTold, Grant, OutcomeStatus, PermitId,
    Reason, detail,
};
use countersign_policy::{ApprovalId, ApprovalState};

use super::not_found;
use crate::{
    request::{CallError, Origin, Refusal, Swept},
    working::Working,
};

/// LIMIT: how much one sweep ends, so that it does not hold up decisions.
const SWEEP_ROWS_MAX: i64 = 1000;
/// LIMIT: for how long a lost answer is found again by the name of its request.
const ANSWER_TTL_S: i64 = 86_400;

impl Working<'_> {
    /// Takes one person's yes.
    pub(super) fn grant(
        &mut self,
        origin: &Origin,
        id: &ApprovalId,
        grant: &Grant,
        now: Timestamp,
    ) -> Result<Approval, CallError> {
        origin.require(&[Access::Approver, Access::Admin])?;
        if grant.approver != origin.principal {
            let message = "nobody grants in somebody else's name".to_owned();
            return Err(Refusal::Forbidden { access: origin.access, message }.into());
        }
        let approval = self.approval(id)?;
        let keys = self.all_keys()?;
        let signed = approval.grant(grant, &keys, now)?;
        self.batch.approvals.put(signed.clone());
        // A signature that is not the last one needed changes the approval, not its state.
        if signed.state == ApprovalState::Granted {
            self.emit_approval(origin, EventKind::ApprovalGranted, &signed, now)?;
        }
        Ok(signed)
    }

    /// Takes one person's no.
    pub(super) fn deny(
        &mut self,
        origin: &Origin,
        id: &ApprovalId,
        reason: &Reason,
        now: Timestamp,
    ) -> Result<Approval, CallError> {
        origin.require(&[Access::Approver, Access::Admin])?;
        let denied = self.approval(id)?.deny(&origin.principal, reason, now)?;
        self.batch.approvals.put(denied.clone());
        self.emit_approval(origin, EventKind::ApprovalDenied, &denied, now)?;
        Ok(denied)
    }

    /// Takes a granted approval back.
    pub(super) fn revoke(
        &mut self,
        origin: &Origin,
        id: &ApprovalId,
        now: Timestamp,
    ) -> Result<Approval, CallError> {
        origin.require(&[Access::Approver, Access::Admin])?;
        let revoked = self.approval(id)?.revoke(&origin.principal, now)?;
        self.batch.approvals.put(revoked.clone());
        self.emit_approval(origin, EventKind::ApprovalRevoked, &revoked, now)?;
        Ok(revoked)
    }

    /// Notes how an execution went: whoever may act in its session says so.
    pub(super) fn finish(
        &mut self,
        origin: &Origin,
        id: &PermitId,
        status: OutcomeStatus,
        said: &Text<0, 4000>,
        now: Timestamp,
    ) -> Result<Execution, CallError> {
        origin.require(&[Access::Agent, Access::Admin])?;
        let execution = self.batch.executions.get(self.sql, id.as_str())?;
        let execution = execution.ok_or_else(|| not_found("permit", id.as_str()))?;
        if let Some(session) = &execution.session_id {
            self.own_session(origin, session)?;
        }
        let finished = execution.finish(status, said.clone(), now)?;
        self.batch.executions.put(finished.clone());
        self.emit_execution(origin, EventKind::ExecutionFinished, &finished, now)?;
        Ok(finished)
    }

    /// Ends what time has ended.
    pub(super) fn sweep(&mut self, origin: &Origin, now: Timestamp) -> Result<Swept, CallError> {
        let query =
            "SELECT approval_id FROM approval WHERE state IN ('pending', 'granted') AND expires_at < $1
            ORDER BY expires_at, approval_id LIMIT $2";
        let rows = self.sql.query(query, &[now.as_unix().into(), SWEEP_ROWS_MAX.into()])?;
        let ids: Vec<&str> = rows.iter().map(|row| row.text(0)).collect::<Result<_, _>>()?;
        self.batch.approvals.load(self.sql, &ids)?;
        let mut swept = Swept { expired: 0, in_doubt: 0, unreported: 0, forgotten: 0 };
        for id in ids {
            let expired = self.batch.approvals.get(self.sql, id)?.and_then(|approval| approval.expire(now));
            if let Some(expired) = expired {
                self.batch.approvals.put(expired.clone());
                self.emit_approval(origin, EventKind::ApprovalExpired, &expired, now)?;
                swept.expired = swept.expired.saturating_add(1);
            }
        }
        let query = "SELECT permit_id FROM execution WHERE state = 'begun' AND due_at < $1
            ORDER BY due_at, permit_id LIMIT $2";
        let rows = self.sql.query(query, &[now.as_unix().into(), SWEEP_ROWS_MAX.into()])?;
        let ids: Vec<&str> = rows.iter().map(|row| row.text(0)).collect::<Result<_, _>>()?;
        self.batch.executions.load(self.sql, &ids)?;
        for id in ids {
            let lapsed = self.batch.executions.get(self.sql, id)?.and_then(|execution| execution.lapse(now));
            if let Some(lapsed) = lapsed {
                let (kind, count) = if lapsed.state == ExecutionState::Unreported {
                    (EventKind::ExecutionFinished, &mut swept.unreported)
                } else {
                    (EventKind::ExecutionInDoubt, &mut swept.in_doubt)
                };
                *count = count.saturating_add(1);
                self.batch.executions.put(lapsed.clone());
                self.emit_execution(origin, kind, &lapsed, now)?;
            }
        }
        let old = now.as_unix().saturating_sub(ANSWER_TTL_S);
        let oldest = "SELECT request_key FROM answer WHERE answered_at < $1 ORDER BY answered_at, request_key LIMIT $2";
        let delete = format!("DELETE FROM answer WHERE request_key IN ({oldest})");
        swept.forgotten = self.sql.execute(&delete, &[old.into(), SWEEP_ROWS_MAX.into()])?;
        Ok(swept)
    }

    fn approval(&mut self, id: &ApprovalId) -> Result<Approval, CallError> {
        let approval = self.batch.approvals.get(self.sql, id.as_str())?;
        Ok(approval.ok_or_else(|| not_found("approval", id.as_str()))?)
    }

    /// The event of an approval, with its hash: the log covers every byte of what was approved.
    pub(super) fn emit_approval(
        &mut self,
        origin: &Origin,
        kind: EventKind,
        approval: &Approval,
        now: Timestamp,
    ) -> Result<(), CallError> {
        let session = self.batch.sessions.get(self.sql, approval.session_id.as_str())?;
        let members = [
            ("approval_id", approval.approval_id.write()),
            ("action_kind", approval.action_kind.write()),
            ("action_hash", approval.action_hash.write()),
            ("state", approval.state.write()),
            ("by", origin.principal.write()),
            ("approval", approval.write()),
        ];
        self.emit(&origin.event(kind, session.as_ref(), now, detail(members)))?;
        Ok(())
    }

    pub(super) fn emit_execution(
        &mut self,
        origin: &Origin,
        kind: EventKind,
        execution: &Execution,
        now: Timestamp,
    ) -> Result<(), CallError> {
        let session = match &execution.session_id {
            Some(id) => self.batch.sessions.get(self.sql, id.as_str())?,
            None => None,
        };
        let told = ExecutionTold {
            permit_id: execution.permit_id.clone(),
            decision_id: execution.decision_id.clone(),
            action_hash: execution.action_hash,
            state: execution.state,
            approval_id: execution.approval_id.clone(),
            detail: execution.detail.clone(),
        };
        self.emit(&origin.event(kind, session.as_ref(), now, told))?;
        Ok(())
    }
}
