//! What the service does by itself: it notes what time has ended, and has the policy in force proved.

use std::{path::PathBuf, sync::Arc, time::Duration};

use countersign_ledger::VersionNumber;

use super::Site;
use crate::Caller;

/// How often what time has ended is noted.
const SWEEP_EVERY: Duration = Duration::from_secs(5);
/// How often a policy without proofs is looked for; the first time only then, so that start-up is for decisions.
const PROVE_EVERY: Duration = Duration::from_secs(60);
/// LIMIT: how often the proofs of one policy are tried.
const TRIES_MAX: u32 = 5;

/// Notes what time has ended, again and again.
pub(crate) async fn sweep(site: Arc<Site>) {
    let mut due = tokio::time::interval(SWEEP_EVERY);
    loop {
        due.tick().await;
        if let Err(error) = site.question(|node| node.sweep(&Caller::owner("service")?)).await {
            site.journal.say(&error, "sweep");
        }
    }
}

/// Has every policy that comes into force proved by this program; decisions wait for none of it.
pub(crate) async fn prove(site: Arc<Site>, prover: PathBuf) {
    let mut due = tokio::time::interval(PROVE_EVERY);
    due.reset();
    let mut tries = Tries::default();
    loop {
        due.tick().await;
        let in_force = site.question(|node| Ok(node.store().version_in_force()?)).await;
        let Ok(Some(version)) = in_force else { continue };
        if !tries.is_due(version.version) {
            continue;
        }
        let program = prover.clone();
        let proved = site.question(move |node| node.prove_in_force(&Caller::owner("service")?, &program));
        if let Err(error) = proved.await {
            site.journal.say(&error, "prove");
            if tries.fail() {
                let message = format!(
                    "given up after {TRIES_MAX} tries, until another policy comes into force; \
                     `countersign policy prove --in-force` says what is wrong"
                );
                site.journal.tell("prove", &message);
            }
        }
    }
}

/// How often a policy's proofs were tried in vain, and how many looks are left out before the next try.
#[derive(Debug, Default)]
struct Tries {
    version: Option<VersionNumber>,
    failures: u32,
    left_out: u32,
}

impl Tries {
    /// Whether it is time to try; another policy starts afresh.
    fn is_due(&mut self, version: VersionNumber) -> bool {
        if self.version != Some(version) {
            *self = Self { version: Some(version), ..Self::default() };
        }
        match self.left_out.checked_sub(1) {
            Some(left_out) => {
                self.left_out = left_out;
                false
            }
            None => self.failures < TRIES_MAX,
        }
    }

    /// Notes a failure: each pause is twice as long as the one before. Whether that was the last try.
    fn fail(&mut self) -> bool {
        self.failures = self.failures.saturating_add(1);
        self.left_out = 1_u32.checked_shl(self.failures).unwrap_or(u32::MAX).saturating_sub(1);
        self.failures >= TRIES_MAX
    }
}

#[cfg(test)]
mod tests;
