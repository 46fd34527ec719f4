//! Proof artifacts: what was proved, by what, from what. In the shape of the seed and no other (K4.1).

use alloc::{format, vec::Vec};

use countersign_canon::{Alphabet, Object, Sha256, Shape, Text, Wire as _, checked_name, choice, record};
use countersign_policy::{EvidenceKind, EvidenceRef};

checked_name! {
    /// The id of a proof artifact: made from everything it says, so that the same proof has the same id everywhere.
    pub ProofId, "proof id",
    Shape { prefix: "prf_", first: None, rest: Alphabet("0-9a-f"), rest_min: 32, rest_max: Some(32) }
}

checked_name! {
    /// The name of what is proved.
    pub TheoremId, "theorem id",
    Shape {
        prefix: "",
        first: Some(Alphabet("A-Za-z")),
        rest: Alphabet("A-Za-z0-9_.:@-"),
        rest_min: 0,
        rest_max: Some(127),
    }
}

choice! {
    /// How a proof came out.
    pub enum ProofStatus {
        /// It holds, and a certificate says why.
        Proved = "proved",
        /// It does not hold, or says nothing; the details say which.
        Failed = "failed",
    }
}

record! {
    /// Something that a proof is about.
    pub struct ProofInput {
        /// What it is.
        object_id: Text<1, 128>,
        /// Which part of it.
        json_path: Text<1, 128>,
        /// Its hash.
        formula_hash: Sha256,
    }
}

record! {
    /// What was proved, by what, from what.
    pub struct ProofArtifact {
        /// Its id.
        proof_id: ProofId,
        /// What proved it.
        backend: Text<1, 128>,
        /// What is proved.
        theorem_id: TheoremId,
        /// How it came out.
        status: ProofStatus,
        /// The hash of the certificate; of the details where there is none.
        proof_hash: Sha256,
        /// What it is about: valid for exactly these.
        inputs: Vec<ProofInput>,
        /// What else there is to say.
        details: Object<'static>,
    }
}

impl ProofArtifact {
    /// The same artifact under the id that its other fields give it.
    #[must_use]
    pub fn named(self) -> Self {
        Self { proof_id: self.own_id(), ..self }
    }

    /// Whether its id is the one that its other fields give it.
    #[must_use]
    pub fn is_itself(&self) -> bool {
        self.proof_id == self.own_id()
    }

    fn own_id(&self) -> ProofId {
        let members = self.write().as_object().map(|object| object.members().to_vec()).unwrap_or_default();
        let others = members.into_iter().filter(|member| member.key != "proof_id");
        let others = countersign_canon::Json::object(others.map(|member| (member.key, member.value)));
        let hash = format!("{}", Sha256::of_json(&others));
        ProofId::parse(&format!("prf_{}", hash.get(..32).unwrap_or_default()))
            .unwrap_or_else(|_| ProofId::unnamed())
    }

    /// The reference that decisions carry. CLAUSE: K4.2.
    #[must_use]
    pub fn evidence(&self) -> Option<EvidenceRef> {
        let reference = Text::new(format!("proof:{}", self.proof_id))?;
        Some(EvidenceRef { kind: EvidenceKind::Proof, reference, note: None })
    }
}

impl ProofId {
    /// The id of an artifact that has none yet.
    #[must_use]
    pub fn unnamed() -> Self {
        Self(format!("prf_{:032}", 0).into())
    }
}

#[cfg(test)]
mod tests;
