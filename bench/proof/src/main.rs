//! Proves and checks theorems about policies of 500 rules, and lets CaDiCaL solve the same formulas if it is there.

use std::{
    fs,
    process::{Command, Stdio},
    time::Instant,
};

use countersign_canon::{Json, Object, Value};
use countersign_proof::{Certificate, Documents, Outcome, Subject, Theorem, check, explore, export, prove};

#[path = "../../../crates/proof/tests/it/policies.rs"]
#[allow(dead_code, reason = "the tests need more of it")]
mod policies;

const ROUNDS: usize = 9;

fn main() {
    let one = policies::five_hundred();
    let two = Documents { other: Some(reordered(&one.policy)), ..one.clone() };
    println!("500 rules, 100 kinds of action; median of {ROUNDS} rounds, one thread");
    println!("{:<38} {:>9} {:>9} {:>9} {:>8} {:>8}", "theorem", "prove ms", "check ms", "CaDiCaL", "clauses", "steps");
    for (theorem, documents) in
        [(Theorem::NoWrite, &one), (Theorem::Equivalent, &two), (Theorem::OnlyTightens, &two)]
    {
        row(&theorem, documents);
    }
    let (explored, found) = median(explore);
    println!("\napproval_single_use_atomicity: {} states in {explored:.0} ms", found.states.get());
}

fn row(theorem: &Theorem, documents: &Documents) {
    let subject = Subject::load(documents.clone()).expect("the documents load");
    let (proving, proof) = median(|| prove(theorem, &subject).expect("the theorem fits"));
    let Outcome::Proved(certificate) = proof.outcome else { panic!("not proved: {:?}", proof.outcome) };
    let text = certificate.to_text();
    let (checking, report) = median(|| check(text.as_bytes()).expect("the certificate holds"));
    let clauses: usize = report.claims.iter().map(|claim| claim.clauses).sum();
    let steps: usize = report.claims.iter().map(|claim| claim.steps).sum();
    let peer = cadical(&certificate).map_or_else(|| "-".to_owned(), |time| format!("{time:.1}"));
    println!("{:<38} {proving:>9.1} {checking:>9.1} {peer:>9} {clauses:>8} {steps:>8}", theorem.id());
}

/// The same meaning in another order: rules of one effect swap places wherever they exclude each other.
fn reordered(policy: &Object<'static>) -> Object<'static> {
    let rules = policy.get("rules").and_then(Json::as_array).expect("a policy has rules");
    let rules = rules.iter().zip((0_i64..).map(|index| 999 - index)).map(|(rule, place)| {
        let members = rule.as_object().expect("a rule is an object").members().iter().map(|member| {
            let value = match (member.key.as_ref(), member.value.as_number()) {
                ("priority", Some(number)) => {
                    let priority = number.as_i64().unwrap_or(0) * 1000 + place;
                    Json::from(u32::try_from(priority).expect("priorities are small"))
                }
                _ => member.value.clone(),
            };
            (member.key.clone(), value)
        });
        Json::object(members)
    });
    let policy = Json::object([("schema", Json::from("odeu.instructions.v1")), ("rules", Json::array(rules))]);
    match policy.value {
        Value::Object(object) => object,
        _ => unreachable!("it was made as an object"),
    }
}

/// How long CaDiCaL takes for all formulas of the certificate, its start included; nothing if it is not installed.
fn cadical(certificate: &Certificate) -> Option<f64> {
    let exports = export(certificate.to_text().as_bytes()).expect("the certificate holds");
    let mut total = 0.0;
    for (number, claim) in exports.iter().enumerate() {
        let path = std::env::temp_dir().join(format!("bench-proof-{}-{number}.cnf", std::process::id()));
        fs::write(&path, &claim.dimacs).expect("a temporary file can be written");
        let run = || Command::new("cadical").arg("-q").arg(&path).stdout(Stdio::null()).status();
        let code = run().ok()?.code();
        assert_eq!(code, Some(20), "CaDiCaL finds no model either");
        total += median(run).0;
        let _gone = fs::remove_file(&path);
    }
    Some(total)
}

/// The median time in milliseconds, and one result.
fn median<T>(work: impl Fn() -> T) -> (f64, T) {
    let mut times = Vec::new();
    let mut last = None;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        last = Some(work());
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    (times[ROUNDS / 2], last.expect("at least one round"))
}
