//! Rego on regorus' virtual machine: a set of matching rules, helper rules for groups; the host folds.

use countersign_policy::{Atom, Expr, Policy};
use regorus::{Engine, Rc, Value, languages::rego::compiler::Compiler, rvm::vm::RegoVM};

use crate::answer::trace;

pub struct Rego<'p> {
    policy: &'p Policy,
    vm: RegoVM,
}

/// The policies as Rego text.
pub fn text(policy: &Policy) -> String {
    let mut helpers = String::new();
    let mut count = 0_usize;
    let mut rules = String::from("package bench\n\nimport rego.v1\n\n");
    for (index, rule) in policy.rules().iter().enumerate() {
        let body = conjuncts(&rule.when, &mut helpers, &mut count).join("; ");
        rules.push_str(&format!("matched contains {index} if {{ {body} }}\n"));
    }
    rules + &helpers
}

fn conjuncts(expr: &Expr, helpers: &mut String, count: &mut usize) -> Vec<String> {
    match expr {
        Expr::And(parts) => parts.iter().flat_map(|part| conjuncts(part, helpers, count)).collect(),
        Expr::Leaf(atom) => vec![atom_text(atom)],
        Expr::Not(inner) => match inner.as_ref() {
            Expr::Leaf(atom) => vec![format!("not {}", atom_text(atom))],
            group => vec![format!("not {}", helper(&[group], helpers, count))],
        },
        Expr::Or(parts) => vec![helper(&parts.iter().collect::<Vec<_>>(), helpers, count)],
    }
}

/// A rule that holds if one of these does.
fn helper(parts: &[&Expr], helpers: &mut String, count: &mut usize) -> String {
    let name = format!("h{count}");
    *count += 1;
    for part in parts {
        let body = conjuncts(part, helpers, count).join("; ");
        helpers.push_str(&format!("{name} if {{ {body} }}\n"));
    }
    name
}

fn atom_text(atom: &Atom) -> String {
    match atom {
        Atom::RoleIs(role) => format!("input.role == \"{role}\""),
        Atom::ActionKindIs(kind) => format!("input.action_kind == \"{kind}\""),
        Atom::ModeIs(mode) => format!("input.mode == \"{mode}\""),
        Atom::WarrantIs(warrant) => format!("input.warrant == \"{warrant}\""),
        Atom::ActionHashMatches(hash) => format!("input.action_hash == \"{hash}\""),
        Atom::CapabilityPresent(name) => format!("\"{name}\" in input.capabilities_present"),
        Atom::CapabilityAllowed(name) => format!("\"{name}\" in input.capabilities_allowed"),
        Atom::HasEvidenceKind(kind) => format!("\"{kind}\" in input.evidence_kinds"),
        bare => format!("input.{}", bare.name()),
    }
}

impl<'p> Rego<'p> {
    pub fn new(policy: &'p Policy) -> Self {
        let mut engine = Engine::new();
        engine.add_policy("bench.rego".into(), text(policy)).expect("the policy parses");
        let entry: Rc<str> = "data.bench.matched".into();
        let compiled = engine.compile_with_entrypoint(&entry).expect("the policy compiles");
        let program = Compiler::compile_from_policy(&compiled, &["data.bench.matched"]).expect("it compiles");
        let mut vm = RegoVM::new();
        vm.load_program(program);
        Self { policy, vm }
    }

    /// JSON bytes in, trace out.
    pub fn answer(&mut self, bytes: &[u8]) -> String {
        let text = std::str::from_utf8(bytes).expect("contexts are UTF-8");
        let input = Value::from_json_str(text).expect("the context parses");
        let truth = |key: &str| matches!(input[key], Value::Bool(true));
        let approvals = ["approval_present", "approval_valid", "approval_unexpired", "approval_unused"];
        let approved = approvals.iter().all(|key| truth(key));
        let canonical = serde_json::to_string(&input).expect("a context is JSON");
        self.vm.set_input(input);
        let result = self.vm.execute().expect("it runs");
        let matched = match &result {
            Value::Set(set) => {
                set.iter().filter_map(|item| item.as_u64().ok()).map(|index| index as usize).collect()
            }
            _ => Vec::new(),
        };
        trace(self.policy, matched, approved, canonical.as_bytes())
    }
}
