//! The first scene: one action has one name, and what could be read in two ways has none.

use countersign_canon::Json;
use countersign_policy::{ActionKind, action_hash};

use super::{Stage, defect};
use crate::{failure::Failure, source::Source};

const DEPLOY: &[u8] = include_bytes!("../../../../../examples/actions/deploy.json");
const SPELT_OTHERWISE: &[u8] = include_bytes!("../../../../../examples/actions/deploy-spelt-otherwise.json");
const AMBIGUOUS: &[u8] = include_bytes!("../../../../../examples/actions/deploy-ambiguous.json");

pub(super) fn play(stage: Stage) -> Result<(), Failure> {
    stage.title("One action, one name: two spellings of a deployment have the same hash")?;
    let kind = ActionKind::parse("deploy").map_err(|issue| defect("the kind of action", issue))?;
    for payload in [DEPLOY, SPELT_OTHERWISE] {
        let payload = Json::parse(payload).map_err(|issue| defect("the shipped payload", issue))?;
        stage.line("canonical", &payload.to_canonical())?;
        stage.line("action hash", &action_hash(&kind, &payload).to_string())?;
    }

    stage.title("What can be read in two ways is refused, with its place")?;
    let source =
        Source { name: "examples/actions/deploy-ambiguous.json".to_owned(), bytes: AMBIGUOUS.to_vec() };
    match source.parse() {
        Ok(_) => stage.line("accepted", "which it should not be"),
        Err(issue) => stage.line("refused", &stage.console.issue_as_text(Some(&source), &issue)),
    }
}
