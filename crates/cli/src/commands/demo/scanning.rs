//! A scene: a repository is held to its rules, and every violation has its line.

use std::path::Path;

use super::Stage;
use crate::{effects::folder, failure::Failure};

/// A small repository with its rules, as shipped.
const FILES: [(&str, &str); 3] = [
    ("main.tf", include_str!("../../../../../examples/infra-target/terraform/main.tf")),
    (
        "modules/network/main.tf",
        include_str!("../../../../../examples/infra-target/terraform/modules/network/main.tf"),
    ),
    ("rules/boundaries.yml", include_str!("../../../../../examples/infra-target/rules/boundaries.yml")),
];

pub(super) fn play(stage: Stage, scratch: &Path) -> Result<(), Failure> {
    stage.title("A repository is held to its rules: $ countersign scan")?;
    let target = scratch.join("repository");
    for (name, text) in FILES {
        folder::put(&target.join(name), text).map_err(Failure::CouldNotTell)?;
    }
    let arguments = ["countersign", "scan", "--format", "text"].map(Into::into);
    crate::cli::play(arguments.into_iter().chain([target.into_os_string()]), stage.console)?;
    Ok(())
}
