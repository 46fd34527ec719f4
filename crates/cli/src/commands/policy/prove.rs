//! `countersign policy prove`: theorems about a policy, for all contexts, with a certificate or a counterexample.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

use countersign_canon::{Json, Reader, Wire as _};
use countersign_ledger::ProofStatus;
use countersign_policy::{RuleId, shipped::STANDARD};
use countersign_proof::{
    Documents, Failure as Refutation, Obligation, Outcome, Proof, Subject, Theorem, Witness, check, prove,
};
use countersign_service::this_program;

use super::{document::PolicyFile, facts::facts, proved::object};
use crate::{
    console::Console,
    effects::{clock::Stopwatch, files},
    embedded::{Place, Shown, owner},
    exit::Exit,
    failure::{Failure, codes},
    source::Source,
};

const LATTICE: &str = "urm.capability.lattice.v1.json";
const ALLOW: &str = "urm.allow.v1.json";

/// Prove theorems about a policy for all contexts, with a certificate or a smallest counterexample
///
/// Without another theorem it proves no_write_without_mode_and_approval: an allowed action that writes is in the mode for it
/// and has the approval it needs, once by the rules alone and once by all seven steps. Every certificate is checked before it
/// counts; `countersign proof check` checks it again, anywhere. A proof is evidence beside decisions and changes none.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  countersign policy prove --all
  countersign policy prove --in team.json --certificate team.cert
  countersign policy prove --in new.json --only-tightens old.json
  countersign policy prove --in team.json --obligation auditors-never-deploy.json

Exit: 0 all proved, 1 one is refuted or says nothing, 2 could not tell")]
pub(crate) struct Arguments {
    /// The policy, as JSON or YAML [default: the built-in one]
    #[arg(long = "in", value_name = "FILE")]
    input: Option<PathBuf>,
    /// The lattice [default: the one beside the policy, else the built-in one]
    #[arg(long, value_name = "FILE")]
    lattice: Option<PathBuf>,
    /// The allow policy [default: the one beside the policy, else the built-in one]
    #[arg(long, value_name = "FILE")]
    allow: Option<PathBuf>,
    /// Both pilot obligations: also that an approval is used once, in every state of the protocol
    #[arg(long)]
    all: bool,
    /// An obligation in the policy's own language
    #[arg(long, value_name = "FILE")]
    obligation: Vec<PathBuf>,
    /// That this rule never fires
    #[arg(long, value_name = "RULE", value_parser = RuleId::parse)]
    never_fires: Vec<RuleId>,
    /// That this rule is shadowed by others
    #[arg(long, value_name = "RULE", value_parser = RuleId::parse)]
    shadowed: Vec<RuleId>,
    /// That the policy allows nothing that this one did not
    #[arg(long, value_name = "OLD", conflicts_with = "equivalent")]
    only_tightens: Option<PathBuf>,
    /// That the policy and this one decide every context alike
    #[arg(long, value_name = "OTHER")]
    equivalent: Option<PathBuf>,
    /// Both pilot obligations about the policy in force, kept in the store: decisions then refer to them
    #[arg(long, conflicts_with_all = ["input", "lattice", "allow", "obligation", "never_fires", "shadowed", "only_tightens", "equivalent", "certificate", "pipe"])]
    in_force: bool,
    /// Read policy, lattice and allow policy as one document from standard input, write artifacts with certificates: for
    /// the service, which runs this as a child
    #[arg(long, conflicts_with_all = ["input", "lattice", "allow", "only_tightens", "equivalent", "certificate"])]
    pipe: bool,
    #[command(flatten)]
    place: Place,
    /// Where the certificate goes; a folder, one file for each theorem, if there are several
    #[arg(long, value_name = "OUT")]
    certificate: Option<PathBuf>,
    #[command(flatten)]
    shown: Shown,
}

pub(super) fn run(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    if arguments.in_force {
        return prove_in_force(arguments, console);
    }
    let theorems = theorems(arguments)?;
    let subject = if arguments.pipe { piped()? } else { subject(arguments)? };
    let mut proofs = Vec::new();
    for theorem in &theorems {
        console.say(&format!("proving {}\n", theorem.id()));
        let watch = Stopwatch::start();
        let proof = prove(theorem, &subject).map_err(Failure::CouldNotTell)?;
        let proving = watch.elapsed();
        let watch = Stopwatch::start();
        if let Outcome::Proved(certificate) = &proof.outcome {
            let text = certificate.to_text();
            check(text.as_bytes()).map_err(Failure::CouldNotTell)?;
            let (to_prove, to_check) = (proving.as_millis(), watch.elapsed().as_millis());
            console
                .say(&format!("proved in {to_prove} ms, checked in {to_check} ms, {} bytes\n", text.len()));
            if let Some(out) = &arguments.certificate {
                let is_folder = theorems.len() > 1;
                let path = if is_folder { out.join(format!("{}.cert", theorem.id())) } else { out.clone() };
                files::write(&path, text.as_bytes()).map_err(Failure::CouldNotTell)?;
            }
        }
        proofs.push(proof);
    }
    let is_proved = |proof: &Proof| matches!(proof.outcome, Outcome::Proved(_));
    let exit = if proofs.iter().all(is_proved) { Exit::Yes } else { Exit::No };
    if arguments.pipe {
        console.data(&with_certificates(&proofs).to_canonical())?;
        return Ok(exit);
    }
    let report = Json::object([
        ("schema", Json::from("instruction-policy-prove@1")),
        ("policy_hash", subject.policy().hash().write()),
        ("artifacts", Json::array(proofs.iter().map(|proof| proof.artifact.write()))),
    ]);
    let words: String = proofs.iter().map(in_words).collect();
    arguments.shown.show(console, &report, &words)?;
    Ok(exit)
}

/// Has this program prove what is in force, in a child, and keeps it.
fn prove_in_force(arguments: &Arguments, console: Console) -> Result<Exit, Failure> {
    let node = arguments.place.open()?;
    let artifacts = node.prove_in_force(&owner()?, &this_program()?)?;
    let words: String = artifacts
        .iter()
        .map(|artifact| format!("{:<8} {}\n", artifact.status.as_str(), artifact.theorem_id))
        .collect();
    let report = Json::object([
        ("schema", Json::from("instruction-policy-prove@1")),
        ("artifacts", Json::array(artifacts.iter().map(countersign_canon::Wire::write))),
    ]);
    arguments.shown.show(console, &report, &words)?;
    let is_proved = artifacts.iter().all(|artifact| artifact.status == ProofStatus::Proved);
    Ok(if is_proved { Exit::Yes } else { Exit::No })
}

fn piped() -> Result<Subject, Failure> {
    let bytes = files::read_stdin().map_err(Failure::CouldNotTell)?;
    let documents: Result<Documents, _> = Reader::read_document(&bytes, codes::CLI_USAGE);
    let unusable = |issues| Failure::Unusable(vec![(None, issues)]);
    Subject::load(documents.map_err(unusable)?).map_err(unusable)
}

fn with_certificates(proofs: &[Proof]) -> Json<'static> {
    let proofs = proofs.iter().map(|proof| {
        let certificate = match &proof.outcome {
            Outcome::Proved(certificate) => Some(("certificate", Json::from(certificate.to_text()))),
            Outcome::Failed(_) => None,
        };
        Json::object([("artifact", proof.artifact.write())].into_iter().chain(certificate))
    });
    Json::object([("proofs", Json::array(proofs))])
}

fn theorems(arguments: &Arguments) -> Result<Vec<Theorem>, Failure> {
    let mut theorems = Vec::new();
    if arguments.all {
        theorems.extend(Theorem::PILOTS);
    }
    for path in &arguments.obligation {
        let source = Source::read(path)?;
        let obligation = Obligation::load(&source.bytes)
            .map_err(|issues| Failure::Unusable(vec![(Some(source), issues)]))?;
        theorems.push(Theorem::Custom(Box::new(obligation)));
    }
    theorems.extend(arguments.never_fires.iter().cloned().map(Theorem::NeverFires));
    theorems.extend(arguments.shadowed.iter().cloned().map(Theorem::Shadowed));
    theorems.extend(arguments.only_tightens.as_ref().map(|_| Theorem::OnlyTightens));
    theorems.extend(arguments.equivalent.as_ref().map(|_| Theorem::Equivalent));
    if theorems.is_empty() {
        theorems.push(Theorem::NoWrite);
    }
    Ok(theorems)
}

fn subject(arguments: &Arguments) -> Result<Subject, Failure> {
    let beside = |name: &str| {
        let folder = arguments.input.as_deref().and_then(Path::parent)?;
        files::names_in(folder).into_iter().find(|path| path.ends_with(name))
    };
    let read =
        |given: &Option<PathBuf>, name: &str, shipped: &[u8]| match given.clone().or_else(|| beside(name)) {
            Some(path) => Source::read(&path).map(|source| source.bytes),
            None => Ok(shipped.to_vec()),
        };
    let parsed = |bytes: Vec<u8>| {
        let json = Json::parse(&bytes).map(Json::into_owned).map_err(Failure::CouldNotTell)?;
        object(json)
    };
    let policy = |path: &PathBuf| {
        let file = PolicyFile::read(path)?;
        let document = file.policy().map(|policy| policy.to_document());
        object(document.map_err(|issues| Failure::Unusable(vec![(Some(file.source), issues)]))?)
    };
    let documents = Documents {
        policy: match &arguments.input {
            Some(path) => policy(path)?,
            None => parsed(STANDARD.policy.to_vec())?,
        },
        lattice: parsed(read(&arguments.lattice, LATTICE, STANDARD.lattice)?)?,
        allow: parsed(read(&arguments.allow, ALLOW, STANDARD.allow)?)?,
        other: arguments.only_tightens.as_ref().or(arguments.equivalent.as_ref()).map(policy).transpose()?,
    };
    Subject::load(documents).map_err(|issues| Failure::Unusable(vec![(None, issues)]))
}

fn in_words(proof: &Proof) -> String {
    let Proof { artifact, outcome, sizes } = proof;
    let mut text = String::new();
    let _infallible = match outcome {
        Outcome::Proved(certificate) => {
            let _infallible = writeln!(text, "proved   {}", artifact.theorem_id);
            for size in sizes {
                let words = format!("{} clauses, {} steps of proof", size.clauses, size.steps);
                let _infallible = writeln!(text, "         {}: {words}, checked", size.scope);
            }
            if let Some(exploration) = &certificate.body.exploration {
                let (states, steps) = (exploration.states.get(), exploration.transitions.get());
                let _infallible =
                    writeln!(text, "         {states} states, {steps} steps between them, twice");
            }
            writeln!(text, "         {}", artifact.proof_id)
        }
        Outcome::Failed(Refutation::Refuted { scope, counterexample }) => {
            writeln!(
                text,
                "refuted  {}\n         {scope}: {}",
                artifact.theorem_id,
                witness_in_words(counterexample)
            )
        }
        Outcome::Failed(Refutation::Vacuous { scope }) => {
            writeln!(
                text,
                "vacuous  {}\n         {scope}: there is nothing that it is about",
                artifact.theorem_id
            )
        }
        Outcome::Failed(Refutation::Explored(what)) => {
            writeln!(text, "refuted  {}\n         {what}", artifact.theorem_id)
        }
    };
    text
}

fn witness_in_words(witness: &Witness) -> String {
    match witness {
        Witness { context: Some(context), .. } => facts(&context.write()),
        Witness { context: None, request: Some(request) } => facts(&request.write()),
        Witness { context: None, request: None } => String::new(),
    }
}
