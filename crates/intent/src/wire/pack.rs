//! Question and answer packs: how a decision goes to a person and comes back.

use countersign_canon::{Checksum, List, Text, Timestamp, choice, record};

use crate::{
    AnswerPackId, ConflictId, EvaluationId, EvidenceRef, IntentId, IntentSetId, OptionId, QuestionId,
    QuestionPackId, wire::SchemaVersion,
};

choice! {
    /// The type of a question pack.
    pub enum QuestionPackType {
        /// The only type there is.
        QuestionPack = "question_pack",
    }
}

choice! {
    /// The type of an answer pack.
    pub enum AnswerPackType {
        /// The only type there is.
        AnswerPack = "answer_pack",
    }
}

record! {
    /// What a person must answer before a rejected set can go on.
    pub struct QuestionPack {
        /// Its id.
        id: QuestionPackId,
        /// Always `question_pack`.
        kind = "type": QuestionPackType,
        /// The version of this form.
        schema_version: SchemaVersion,
        /// The set that was rejected.
        intent_set_id: IntentSetId,
        /// The result that rejected it.
        evaluation_id: EvaluationId,
        /// The questions.
        questions: List<Question, 1, 1000>,
        /// When it was made.
        created_at: Timestamp,
        /// The SHA-256 of the canonical document without this member.
        checksum: Checksum,
    }
}

record! {
    /// One question: about which conflicts, why, and what one may choose.
    pub struct Question {
        /// Its id, made from its content.
        question_id: QuestionId,
        /// The conflicts that the answer decides.
        conflict_ids: List<ConflictId, 1, 1000>,
        /// Why it must be asked.
        reason: Text<1, 4000>,
        /// Where one sees it.
        evidence_refs: List<EvidenceRef, 1, 8000>,
        /// What one may choose.
        options: List<Choice, 2, 100>,
        /// Whether the intents' own question budget or policy keeps it from being asked.
        blocked_by_policy: Option<bool>,
    }
}

record! {
    /// One option of a question.
    pub struct Choice {
        /// Its id.
        option_id: OptionId,
        /// What it is called.
        label: Text<1, 400>,
        /// What follows from it.
        implications: Text<1, 4000>,
        /// The intents that would be superseded.
        supersedes: List<IntentId, 0, 20>,
    }
}

record! {
    /// What a person answered to a question pack.
    pub struct AnswerPack {
        /// Its id.
        id: AnswerPackId,
        /// Always `answer_pack`; may be left out.
        kind = "type": Option<AnswerPackType>,
        /// The version of this form; may be left out.
        schema_version: Option<SchemaVersion>,
        /// The pack that is answered.
        question_pack_id: QuestionPackId,
        /// Its checksum, so that the answers are to these very questions.
        question_pack_checksum: Checksum,
        /// The answers.
        answers: List<Answer, 1, 1000>,
        /// When it was made; may be left out.
        created_at: Option<Timestamp>,
        /// The SHA-256 of the canonical document without this member.
        checksum: Checksum,
    }
}

record! {
    /// One answer.
    pub struct Answer {
        /// The question.
        question_id: QuestionId,
        /// What was chosen.
        option_id: OptionId,
        /// By whom.
        provided_by: Text<1, 256>,
        /// What the answer is founded on.
        evidence_refs: List<EvidenceRef, 1, 100>,
    }
}
