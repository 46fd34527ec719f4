//! Machine codes of this crate: the frozen names of everything it can refuse.

/// The codes of this crate.
pub mod codes {
    countersign_canon::declare_codes! {
        /// An intent does not have the form of an intent; the cause says how.
        INTENT_INVALID
        /// An intent set does not have the form of one; the cause says how.
        INTENT_SET_INVALID
        /// An evaluation result does not have the form of one; the cause says how.
        EVALUATION_INVALID
        /// A merge plan does not have the form of one; the cause says how.
        MERGE_PLAN_INVALID
        /// A question pack does not have the form of one; the cause says how.
        QUESTION_PACK_INVALID
        /// An answer pack does not have the form of one; the cause says how.
        ANSWER_PACK_INVALID
        /// A registry does not have the form of one; the cause says how.
        REGISTRY_INVALID
        /// A document says no type, or one that this command does not know.
        DOCUMENT_TYPE_UNKNOWN
        /// I1: an intent carries something to execute.
        I1_EXECUTION_PAYLOAD
        /// I2: an intent that runs by itself wants to ask.
        I2_FULL_AUTO_ASKS
        /// I3: an intent of high or critical risk wants to run by itself.
        I3_HIGH_RISK_FULL_AUTO
        /// I3: an intent's overall risk is below that of one of its commands.
        I3_RISK_UNDERSTATED
        /// I4: a command names no evidence.
        I4_COMMAND_WITHOUT_EVIDENCE
        /// I4: a reference has no known scheme, so it is free text and not evidence.
        I4_NOT_EVIDENCE
        /// I5: one of the three constants is missing or has another value.
        I5_CONSTRAINT_MISSING
        /// I5: a workflow is not in the registry.
        I5_UNKNOWN_WORKFLOW
        /// I5: an agent is not in the registry.
        I5_UNKNOWN_AGENT
        /// I5: a command is not in the registry.
        I5_UNKNOWN_COMMAND
        /// A command changes something and no review is asked for.
        WRITE_WITHOUT_REVIEW
        /// A path is absolute, leaves the repository or holds a forbidden character.
        INTENT_PATH
        /// A checksum is not that of the content.
        CHECKSUM_MISMATCH
        /// A file holds a document with another id than its name says.
        FILE_ID_MISMATCH
        /// A file that is needed cannot be read.
        FILE_UNREADABLE
        /// An intent belongs to another project than its set.
        PROJECT_MISMATCH
        /// The intents of a set name different repository roots.
        REPO_ROOT_MISMATCH
        /// A rejected or superseded intent stands in a set.
        INTENT_NOT_OPEN
        /// RL-E1: an outcome carries something to execute.
        RL_E1_EXECUTION_PAYLOAD
        /// RL-E1: an outcome does not forbid execution.
        RL_E1_EXECUTION_NOT_FORBIDDEN
        /// RL-E2: a merged intent does not name what it was made from.
        RL_E2_NO_DERIVED_FROM
        /// RL-E2: an override does not name what it supersedes.
        RL_E2_NO_SUPERSEDES
        /// RL-E2: a plan's lineage does not name exactly its sources.
        RL_E2_LINEAGE_MISMATCH
        /// A plan that merges has no result intent.
        PLAN_RESULT_MISSING
        /// A plan that rejects has a result intent all the same.
        PLAN_RESULT_UNEXPECTED
        /// A result rejects and asks nothing.
        REJECT_WITHOUT_QUESTION
        /// AP1: an answer is to a question that the pack does not ask, or picks an option it does not offer.
        AP1_UNKNOWN_QUESTION
        /// AP1: an answer pack belongs to another question pack.
        AP1_OTHER_PACK
        /// AP1: an answer is to a question that policy keeps from being asked.
        AP1_BLOCKED_QUESTION
        /// AP2: an answer names no evidence.
        AP2_ANSWER_WITHOUT_EVIDENCE
        /// AP3: an answer tries to change commands, workflows or agents.
        AP3_OVERRIDE
        /// An outcome would break its own form: a defect of this program.
        EVALUATION_INTERNAL
        /// A conflict does not fit its own form, so that the answer would not be whole.
        CONFLICT_TOO_LARGE
        /// A merged intent has another id than its content gives.
        MERGED_ID_MISMATCH
        /// Two intents name one id.
        INTENT_DUPLICATE
        /// The registry names one id twice.
        REGISTRY_DUPLICATE
        /// A registry command names an agent that the registry does not have.
        REGISTRY_UNKNOWN_AGENT
    }
}
