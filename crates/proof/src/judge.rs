//! Theorems about one witness, as the evaluator itself sees it: no formula is asked here.

use countersign_policy::{Context, Decision, Effect, Evaluation, Mode, Outcome, Rule, RuleId, authorize};

use crate::{Never, Scope, Subject, Theorem, Witness};

/// What a witness shows about a theorem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shown {
    /// The theorem is broken here.
    pub(crate) is_broken: bool,
    /// The theorem says something here.
    pub(crate) is_twin: bool,
}

/// Decides the witness with the evaluator and holds the theorem against it; nothing if the witness is of the wrong sort.
pub(crate) fn judge(theorem: &Theorem, scope: Scope, subject: &Subject, witness: &Witness) -> Option<Shown> {
    match (scope, witness) {
        (Scope::Kernel, Witness { context: Some(context), request: None }) => {
            Some(shown(theorem, subject, context, &subject.policy().evaluate(context, false)))
        }
        (Scope::Authorize, Witness { context: None, request: Some(document) }) => {
            let decided = authorize(subject.in_force(), &document.request(), document.evaluation_ts);
            Some(shown(theorem, subject, &decided.context, &decided.trace.evaluation))
        }
        (Scope::Kernel | Scope::Authorize, Witness { context: _, request: _ }) => None,
    }
}

fn shown(theorem: &Theorem, subject: &Subject, context: &Context, evaluation: &Evaluation<'_>) -> Shown {
    let is_allowed = evaluation.decision == Decision::Allow;
    match theorem {
        Theorem::NoWrite => {
            let entry = subject.in_force().lattice.action(&context.action_kind);
            let acts = is_allowed && entry.is_some_and(|entry| entry.requires_writes_allowed);
            let needs = evaluation.required_approval || entry.is_some_and(|entry| entry.requires_approval);
            let available = context.approval_present
                && context.approval_valid
                && context.approval_unexpired
                && context.approval_unused;
            let is_safe = context.mode == Mode::WritesAllowed && (!needs || available);
            Shown { is_broken: acts && !is_safe, is_twin: acts && is_safe }
        }
        // Nothing about one context.
        Theorem::SingleUse => Shown { is_broken: false, is_twin: false },
        Theorem::NeverFires(rule) => Shown { is_broken: matches(evaluation, rule), is_twin: true },
        Theorem::Shadowed(rule) => {
            let fires = matches(evaluation, rule);
            Shown { is_broken: fires && !is_settled(evaluation, rule), is_twin: fires }
        }
        Theorem::OnlyTightens => {
            let old = subject.other().map(|other| Outcome::of(other, context));
            let new = Outcome::of(subject.policy(), context);
            let is_looser =
                old.is_some_and(|old| old.decision == Decision::Deny || !new.asks_no_less_than(&old));
            Shown { is_broken: is_allowed && is_looser, is_twin: true }
        }
        Theorem::Equivalent => {
            let old = subject.other().map(|other| Outcome::of(other, context));
            let is_broken = old.is_some_and(|old| old != Outcome::of(subject.policy(), context));
            Shown { is_broken, is_twin: true }
        }
        Theorem::Custom(obligation) => {
            let Never { decision, decision_code, required_approval } = &obligation.never;
            let is_within = obligation.when.holds(context);
            let is_so = decision.is_none_or(|decision| evaluation.decision == decision)
                && decision_code.as_ref().is_none_or(|code| evaluation.decision_code == code.as_str())
                && required_approval.is_none_or(|required| evaluation.required_approval == required);
            Shown { is_broken: is_within && is_so, is_twin: is_within }
        }
    }
}

fn matches(evaluation: &Evaluation<'_>, id: &RuleId) -> bool {
    evaluation.matched.iter().any(|rule| rule.rule_id == *id)
}

/// Whether the matching rules settle what this one would.
fn is_settled(evaluation: &Evaluation<'_>, id: &RuleId) -> bool {
    let of = |effect: Effect| evaluation.matched.with_effect(effect);
    let is_first = |effect: Effect| of(effect).next().is_some_and(|rule| rule.rule_id == *id);
    let effect = evaluation.matched.iter().find(|rule| rule.rule_id == *id).map(|rule| rule.then.effect);
    match effect {
        None | Some(Effect::SetWarrantInvalid | Effect::EmitAdvisory) => false,
        Some(effect @ Effect::DenyAction) => !is_first(effect),
        Some(effect @ Effect::RequireApproval) => {
            let earlier = of(effect).take_while(|rule| rule.rule_id != *id).filter_map(Rule::quorum);
            let asked = earlier.reduce(|strictest, asked| strictest.and(&asked));
            let own = of(effect).find(|rule| rule.rule_id == *id).and_then(Rule::quorum);
            asked.zip(own).is_some_and(|(asked, own)| asked.covers(&own))
        }
        Some(effect @ Effect::AllowAction) => of(Effect::DenyAction).next().is_some() || !is_first(effect),
    }
}
