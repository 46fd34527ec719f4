//! Decides what an agent may do: the instruction kernel of seed 004.
//!
//! Policies, contexts and decisions are data: bytes in, checked values and decisions out. The crate does no input
//! or output and reads no clock; the time of an evaluation is an argument.
//!
//! [`Policy::load`] checks, hashes and compiles a policy; [`authorize`] is the one way to a decision about an action,
//! and [`Policy::trace`] what the rules alone say about a context.
#![no_std]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod action;
mod advice;
mod algebra;
mod approval;
mod asked;
mod atom;
mod authorize;
mod cases;
mod cdcl;
mod circuit;
pub mod codes;
mod compare;
mod compile;
mod context;
mod decide;
mod difference;
mod explain;
mod expr;
mod lattice;
mod lint;
mod matched;
mod names;
mod policy;
mod quorum;
mod render;
mod rule;
pub mod shipped;
mod solve;
mod steps;
mod trace;

pub use crate::{
    action::{ActionHash, ActionKind, action_hash},
    algebra::Algebra,
    approval::{ApprovalFacts, ApprovalRecord, ApprovalState, ApprovalSubject, ProvidedApproval},
    asked::AskedWires,
    atom::{Atom, AtomName},
    authorize::{Authorization, InForce, Request, SessionFacts, authorize, build_context},
    cases::{CaseFile, CasesSchema, Coverage, Expectation, TestCase},
    cdcl::Cdcl,
    circuit::{Circuit, Lit, Model},
    compare::{CompareError, DecisionChange, Outcome, compare},
    context::{Context, ContextHash, ExampleContext},
    decide::{Case, Decision, Evaluation, Gate, Verdict, asking, deciding_rule, verdict},
    difference::{RuleChange, rule_changes, rule_in_words},
    explain::{Explanation, FailedAtom, RuleExplanation, condition_in_words, in_words},
    expr::{Expr, Operator},
    lattice::{
        ActionEntry, AllowDocument, AllowHash, AllowPolicy, AllowSchema, CapabilityEntry, Lattice,
        LatticeDocument, LatticeHash, LatticeSchema, Probe, ProbeFacts, ProbeHash, ProbeSchema,
    },
    lint::{Idle, idle_rules},
    matched::Matched,
    names::{
        ApprovalId, Capability, Effect, EvidenceKind, Kind, Mode, NameSet, ProbeFact, Role, RuleCode, RuleId,
        SessionId, Warrant,
    },
    policy::{
        EXPR_DEPTH_MAX, EXPR_NODES_MAX, Policy, PolicyDocument, PolicyHash, PolicySchema, RULES_MAX, RuleList,
    },
    quorum::{APPROVALS_MAX, Need, QuorumRule, settled},
    render::{agents_view, skills_view},
    rule::{Examples, Params, Rule, Then},
    solve::{Session, Solver},
    steps::{Needs, Unseen, kind_with, steps},
    trace::{
        Advisory, Bindings, EVALUATOR_VERSION, EvidenceRef, PolicySchemaVersion, Trace, TraceDocument,
        TraceVersion,
    },
};
