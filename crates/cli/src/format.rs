//! How a command shows its answer, where there are no more ways than two.

/// For people, or for machines.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}
