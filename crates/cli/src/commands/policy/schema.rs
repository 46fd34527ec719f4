//! `countersign policy schema`: the JSON Schemas of policies and their neighbours.

use clap::ValueEnum;
use countersign_canon::{Json, schema_document};
use countersign_policy::{
    AllowDocument, CaseFile, Context, LatticeDocument, PolicyDocument, ProbeFacts, TraceDocument,
};

use crate::{console::Console, exit::Exit, failure::Failure};

/// Print a JSON Schema (draft 2020-12), for editors and other people's validators
#[derive(Debug, Clone, Copy, clap::Args)]
#[command(after_help = "\
Examples:
  countersign policy schema > instruction_policy.schema.json
  countersign policy schema context

Exit: 0 printed")]
pub(super) struct Arguments {
    /// Of what
    #[arg(value_enum, default_value_t = Document::Policy)]
    document: Document,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Document {
    Policy,
    Context,
    Lattice,
    Allow,
    Probe,
    Cases,
    Trace,
}

pub(super) fn run(arguments: Arguments, console: Console) -> Result<Exit, Failure> {
    console.data(&schema(arguments.document).to_pretty())?;
    Ok(Exit::Yes)
}

fn schema(document: Document) -> Json<'static> {
    match document {
        Document::Policy => {
            schema_document::<PolicyDocument>("instruction_policy", "A policy, odeu.instructions.v1")
        }
        Document::Context => {
            schema_document::<Context>("policy_context", "The facts a decision is made from")
        }
        Document::Lattice => schema_document::<LatticeDocument>(
            "capability_lattice",
            "What each action needs, urm.capability.lattice.v1",
        ),
        Document::Allow => {
            schema_document::<AllowDocument>("capability_allow", "Which role may what, urm.allow.v1")
        }
        Document::Probe => schema_document::<ProbeFacts>("probe_facts", "What a client was found able to do"),
        Document::Cases => {
            schema_document::<CaseFile>("policy_cases", "Test cases for a policy, countersign.policy-cases@1")
        }
        Document::Trace => schema_document::<TraceDocument>(
            "decision_trace",
            "How a decision came about, odeu.instruction-trace.v1",
        ),
    }
}
