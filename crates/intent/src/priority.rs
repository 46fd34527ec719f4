//! The priority ladder: which of two intents wins, by which rung, or why nobody can say.

use alloc::{format, string::String};

use crate::{
    Intent,
    wire::{Effect, Status},
};

/// Which of two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    First,
    Second,
}

/// What the ladder says about two intents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// One wins, and this is why.
    Wins(Side, String),
    /// Nobody can say, and this is why.
    Unclear(String),
}

/// Goes down the ladder: explicit priority, lower risk, newer, further along.
pub(crate) fn decide(first: &Intent, second: &Intent) -> Verdict {
    let (a, b) = (first.document(), second.document());
    let priority =
        |intent: &Intent| intent.document().metadata.as_ref().and_then(|metadata| metadata.priority);
    match (priority(first), priority(second)) {
        (Some(a), Some(b)) if a == b => {
            return Verdict::Unclear(format!("both declare priority {a}, which is a tie"));
        }
        (Some(a), Some(b)) => {
            let text = format!("explicit priority: {} over {}", a.max(b), a.min(b));
            return Verdict::Wins(if a > b { Side::First } else { Side::Second }, text);
        }
        (Some(_), None) | (None, Some(_)) => {
            return Verdict::Unclear("one declares a priority and the other does not".into());
        }
        (None, None) => (),
    }
    let (risk_a, risk_b) = (a.risk.overall, b.risk.overall);
    if risk_a != risk_b {
        let text = format!("lower risk: {} before {}", risk_a.min(risk_b), risk_a.max(risk_b));
        return Verdict::Wins(if risk_a < risk_b { Side::First } else { Side::Second }, text);
    }
    if has_exclusive_effect(first) || has_exclusive_effect(second) {
        return Verdict::Unclear(format!(
            "both are of {risk_a} risk, and neither time nor status decides where something is deployed, rolled back, \
             deleted or done to data or security"
        ));
    }
    if a.created_at != b.created_at {
        let (newer, older) = (a.created_at.max(b.created_at), a.created_at.min(b.created_at));
        let side = if a.created_at > b.created_at { Side::First } else { Side::Second };
        return Verdict::Wins(side, format!("newer: {newer} after {older}"));
    }
    let (rank_a, rank_b) = (rank(a.status), rank(b.status));
    if rank_a != rank_b {
        let (side, text) = if rank_a > rank_b {
            (Side::First, format!("status: {} over {}", a.status, b.status))
        } else {
            (Side::Second, format!("status: {} over {}", b.status, a.status))
        };
        return Verdict::Wins(side, text);
    }
    Verdict::Unclear("no rung of the ladder tells them apart".into())
}

fn has_exclusive_effect(intent: &Intent) -> bool {
    let mut effects = intent.document().planned_commands.iter().flat_map(|command| command.effects.iter());
    effects.any(|effect: &Effect| effect.is_exclusive())
}

const fn rank(status: Status) -> u8 {
    match status {
        Status::Approved => 3,
        Status::Proposed => 2,
        Status::Draft => 1,
        Status::Rejected | Status::Superseded => 0,
    }
}
