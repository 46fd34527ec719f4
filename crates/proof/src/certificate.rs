//! A certificate: one file with what it is about, and why it is so.
//!
//! The first line has the hash of all that follows. The second is a document: the theorem, the policy, lattice and allow
//! policy, and of each claim the hash of its formula and a witness that it says something. Then come the proofs, in the
//! LRAT format, one after the other.

use alloc::{
    format,
    string::{String, ToString as _},
    vec::Vec,
};

use countersign_canon::{Issue, Reader, Sha256, Wire as _, choice, record};

use crate::{Documents, Exploration, Scope, TheoremDocument, Witness, code::codes, explore::Count};

choice! {
    /// The version of certificates.
    pub enum CertificateSchema {
        /// The only one so far.
        V1 = "countersign.certificate@1",
    }
}

record! {
    /// What a certificate says before its proofs.
    pub struct CertificateBody {
        /// The theorem.
        theorem: TheoremDocument,
        /// What it is about.
        documents: Documents,
        /// The version of the encoding that makes formulas of them.
        encoder_version: String,
        /// What is claimed, one formula each.
        claims: Vec<ClaimDocument>,
        /// What an exploration found, for the theorem that is explored.
        exploration: Option<Exploration>,
    }
}

record! {
    /// One claim.
    pub struct ClaimDocument {
        /// About which part of the way to a decision.
        scope: Scope,
        /// The hash of the formula in the DIMACS format.
        formula_hash: Sha256,
        /// How many wires the formula has.
        wires: Count,
        /// How many clauses.
        clauses: Count,
        /// How many lines of proof.
        steps: Count,
        /// Something that shows that the claim says something.
        witness: Witness,
    }
}

/// A certificate as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Certificate {
    /// What it says.
    pub body: CertificateBody,
    /// The proof of each claim.
    pub proofs: Vec<String>,
}

impl Certificate {
    /// The file.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut rest = self.body.to_canonical();
        rest.push('\n');
        for proof in &self.proofs {
            rest.push_str(proof);
        }
        format!("{} {}\n{rest}", CertificateSchema::V1, Sha256::of(rest.as_bytes()))
    }

    /// Reads a file, and checks that every byte of it is as it was written.
    ///
    /// # Errors
    ///
    /// Fails if it is damaged, under `PROOF_CERTIFICATE_INVALID`.
    pub fn parse(bytes: &[u8]) -> Result<Self, Issue> {
        let text = core::str::from_utf8(bytes).map_err(|_| damaged("it is not text"))?;
        let (header, rest) = text.split_once('\n').ok_or_else(|| damaged("it has no first line"))?;
        if header != format!("{} {}", CertificateSchema::V1, Sha256::of(rest.as_bytes())) {
            return Err(damaged("its first line is not the hash of the rest"));
        }
        let (body, mut proofs) = rest.split_once('\n').ok_or_else(|| damaged("it has no second line"))?;
        let body: CertificateBody = Reader::read_document(body.as_bytes(), codes::PROOF_CERTIFICATE_INVALID)
            .map_err(|issues| issues.first().cloned().unwrap_or_else(|| damaged("its document is none")))?;
        let mut found = Vec::new();
        for claim in &body.claims {
            let steps = usize::try_from(claim.steps.get()).unwrap_or(usize::MAX);
            let mut ends = proofs.match_indices('\n').map(|(at, _)| at.saturating_add(1));
            let end = steps.checked_sub(1).and_then(|last| ends.nth(last));
            let (proof, others) = end
                .and_then(|end| proofs.split_at_checked(end))
                .ok_or_else(|| damaged("a proof is shorter than it says"))?;
            found.push(proof.to_string());
            proofs = others;
        }
        if !proofs.is_empty() {
            return Err(damaged("something stands after the last proof"));
        }
        Ok(Self { body, proofs: found })
    }
}

fn damaged(what: &str) -> Issue {
    Issue::new(codes::PROOF_CERTIFICATE_INVALID, format!("the certificate is damaged: {what}"))
        .with_hint("get it again from where it was made, or make it again with `countersign policy prove`")
}
