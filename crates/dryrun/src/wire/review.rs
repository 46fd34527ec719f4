//! The stub of a review pack: what a reviewer starts from.

use countersign_canon::{Distinct, Json, List, Text, Within, record};
use countersign_intent::wire::{Review, RiskLevel};

use crate::NodeId;

record! {
    /// What a reviewer starts from: the risk, who must look, and how well it is founded.
    pub struct ReviewPackStub {
        /// The risk in short.
        risk_summary: RiskSummary,
        /// Who must look; never nobody where the risk is high (DE5).
        requires_review: Distinct<Review, 0, 7>,
        /// How much of the graph has evidence.
        evidence_coverage: EvidenceCoverage,
        /// How long looking takes.
        estimated_review_time: ReviewTime,
    }
    also review_rules
}

record! {
    /// The risk in short.
    pub struct RiskSummary {
        /// The higher of the intent's own and its riskiest command's.
        dominant_risk: RiskLevel,
        /// What makes it so.
        risk_factors: List<Text<1, 1000>, 1, 200>,
        /// What is done about it.
        mitigation_notes: List<Text<1, 1000>, 0, 200>,
    }
}

record! {
    /// How much of the graph has evidence (DE4).
    pub struct EvidenceCoverage {
        /// All nodes.
        total_nodes: Within<0, 1000>,
        /// Those with at least one reference.
        nodes_with_evidence: Within<0, 1000>,
        /// In whole percent, rounded down.
        coverage_percentage: Within<0, 100>,
        /// Those without.
        gaps: List<NodeId, 0, 1000>,
    }
}

record! {
    /// How long looking takes.
    pub struct ReviewTime {
        /// In minutes.
        minutes: Within<0, 100_000>,
    }
}

/// DE5, as the schema says it.
fn review_rules() -> [(&'static str, Json<'static>); 3] {
    let rule = |text: &'static str| Json::parse(text.as_bytes()).unwrap_or_else(|_| Json::from(false));
    [
        ("$comment", Json::from("DE5: what is risky is reviewed")),
        (
            "if",
            rule(
                r#"{"properties": {"risk_summary": {"properties": {"dominant_risk": {"enum": ["high", "critical"]}}, "required": ["dominant_risk"]}}, "required": ["risk_summary"]}"#,
            ),
        ),
        ("then", rule(r#"{"properties": {"requires_review": {"minItems": 1}}}"#)),
    ]
}
