//! Loading: bytes in, checked documents out, or every reason why not.

use alloc::{
    collections::{BTreeMap, BTreeSet},
    format,
    string::String,
    vec::Vec,
};

use countersign_canon::{Checksum, Issue, Issues, Json, NonEmpty, Pointer, Reader, canon_codes};

use crate::{
    DocumentKind, IntentId, Registry,
    code::codes,
    merge::merged_id,
    reach::MERGED_PREFIX,
    redline::{execution_forbidden, intent_red_lines, outcome_red_lines, plan_lineage},
    wire::{
        AnswerPack, EvaluationDocument, IntentDocument, IntentSetDocument, MergePlanDocument, QuestionPack,
        Status,
    },
};

/// An intent that keeps I1 to I5, its checksum and its paths. There is no other way to make one.
#[derive(Debug, Clone)]
pub struct Intent {
    // INVARIANT: passed `Intent::load`.
    document: IntentDocument,
}

impl Intent {
    /// Checks an intent; without a registry the look-up of I5 is skipped.
    ///
    /// # Errors
    ///
    /// Fails with every problem at once, in document order.
    pub fn load(bytes: &[u8], registry: Option<&Registry>) -> Result<Self, NonEmpty<Issue>> {
        let json = Json::parse(bytes).map_err(|issue| NonEmpty::of(issue.under(codes::INTENT_INVALID)))?;
        Self::from_json(&json, registry)
    }

    /// Checks an intent that is parsed already.
    ///
    /// # Errors
    ///
    /// Fails with every problem at once, in document order.
    pub fn from_json(json: &Json<'_>, registry: Option<&Registry>) -> Result<Self, NonEmpty<Issue>> {
        let mut rules = intent_red_lines(json, registry);
        rules.extend(DocumentKind::Intent.verify(json));
        Reader::read_ruled(json, codes::INTENT_INVALID, rules).map(|document| Self { document })
    }

    /// The document.
    #[must_use]
    pub const fn document(&self) -> &IntentDocument {
        &self.document
    }

    /// Its id.
    #[must_use]
    pub const fn id(&self) -> &IntentId {
        &self.document.id
    }

    /// Its checksum, which is right.
    #[must_use]
    pub const fn checksum(&self) -> Checksum {
        self.document.audit.checksum
    }
}

/// A problem and the file it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileIssue {
    /// The file's name, as the user knows it.
    pub file: String,
    /// The problem.
    pub issue: Issue,
}

/// The file of one intent of a set.
#[derive(Debug, Clone)]
pub struct IntentFile {
    /// The id that the set names.
    pub id: IntentId,
    /// The file's name.
    pub file: String,
    /// Its bytes, or why they cannot be read.
    pub bytes: Result<Vec<u8>, String>,
}

/// A set whose intents are all there, all valid and all of one project and repository. Sorted by id.
#[derive(Debug, Clone)]
pub struct IntentSet {
    // INVARIANT: passed `IntentSet::load`; `intents` is sorted by id.
    document: IntentSetDocument,
    intents: Vec<Intent>,
}

impl IntentSet {
    /// Reads the set's own document, so that the caller knows which files to bring. Its ids are safe as file names.
    ///
    /// # Errors
    ///
    /// Fails with every problem at once.
    pub fn read(bytes: &[u8]) -> Result<IntentSetDocument, NonEmpty<Issue>> {
        let json =
            Json::parse(bytes).map_err(|issue| NonEmpty::of(issue.under(codes::INTENT_SET_INVALID)))?;
        read_set(&json)
    }

    /// Puts the set together with its intents.
    ///
    /// # Errors
    ///
    /// Fails with every problem of every file at once: nothing is weighed on guesses.
    pub fn load(
        document: IntentSetDocument,
        files: &[IntentFile],
        registry: Option<&Registry>,
    ) -> Result<Self, NonEmpty<FileIssue>> {
        let mut problems = Vec::new();
        let mut intents = Vec::new();
        for file in files {
            match load_member(file, &document, registry) {
                Ok(intent) => intents.push(intent),
                Err(issues) => problems.extend(
                    issues.into_vec().into_iter().map(|issue| FileIssue { file: file.file.clone(), issue }),
                ),
            }
        }
        let given: BTreeSet<&IntentId> = files.iter().map(|file| &file.id).collect();
        for id in document.intent_ids.iter().filter(|id| !given.contains(id)) {
            let issue = Issue::new(codes::FILE_UNREADABLE, format!("the intent `{id}` is missing"));
            problems.push(FileIssue { file: format!("{id}.json"), issue });
        }
        let roots: BTreeMap<&str, &IntentId> = intents
            .iter()
            .map(|intent: &Intent| (intent.document.scope.repo_root.as_str(), intent.id()))
            .collect();
        if roots.len() > 1 {
            let message = format!("the intents name {} different repository roots", roots.len());
            let named: Vec<String> = roots.iter().map(|(root, id)| format!("{id}: {root}")).collect();
            let issue = Issue::new(codes::REPO_ROOT_MISMATCH, message).with_hint(named.join("; "));
            problems.push(FileIssue { file: format!("{}.json", document.id), issue });
        }
        intents.sort_by(|a, b| a.id().cmp(b.id()));
        match NonEmpty::new(problems) {
            None => Ok(Self { document, intents }),
            Some(problems) => Err(problems),
        }
    }

    /// The set's own document.
    #[must_use]
    pub const fn document(&self) -> &IntentSetDocument {
        &self.document
    }

    /// Its intents, sorted by id.
    #[must_use]
    pub fn intents(&self) -> &[Intent] {
        &self.intents
    }
}

fn load_member(
    file: &IntentFile,
    set: &IntentSetDocument,
    registry: Option<&Registry>,
) -> Result<Intent, NonEmpty<Issue>> {
    let bytes = file.bytes.as_ref().map_err(|reason| {
        let message = format!("the intent `{}` cannot be read: {reason}", file.id);
        NonEmpty::of(Issue::new(codes::FILE_UNREADABLE, message))
    })?;
    let intent = Intent::load(bytes, registry)?;
    let mut issues = Issues::new();
    issues.extend(file_id(file.id.as_str(), intent.id().as_str()));
    let (found, wanted) = (intent.document.scope.project_id.as_str(), set.context.project_id.as_str());
    if found != wanted {
        issues.push(
            Issue::new(codes::PROJECT_MISMATCH, format!("the project is `{found}`"))
                .with_pointer(Pointer::root().key("scope").key("project_id"))
                .with_expected(format!("the set's project, `{wanted}`")),
        );
    }
    let status = intent.document.status;
    if matches!(status, Status::Rejected | Status::Superseded) {
        issues.push(
            Issue::new(codes::INTENT_NOT_OPEN, format!("the intent is {status}"))
                .with_pointer(Pointer::root().key("status"))
                .with_expected("draft, proposed or approved")
                .with_hint("take it out of the set"),
        );
    }
    match NonEmpty::new(issues.into_sorted()) {
        None => Ok(intent),
        Some(issues) => Err(issues),
    }
}

/// The issue of a file whose name is not its content's id.
fn file_id(name: &str, id: &str) -> Option<Issue> {
    (name != id).then(|| {
        Issue::new(codes::FILE_ID_MISMATCH, format!("the file is named `{name}` and holds `{id}`"))
            .with_pointer(Pointer::root().key("id"))
            .with_expected(String::from(name))
    })
}

/// Checks a document of any known type, as `intent validate` does. `stem` is the file's name without `.json`, if
/// the name should be that of an intent.
///
/// # Errors
///
/// Fails with every problem at once.
pub fn validate_document(
    bytes: &[u8],
    stem: Option<&str>,
    registry: Option<&Registry>,
) -> Result<DocumentKind, NonEmpty<Issue>> {
    let json = Json::parse(bytes).map_err(|issue| NonEmpty::of(issue.under(codes::DOCUMENT_TYPE_UNKNOWN)))?;
    let kind = DocumentKind::of(&json).map_err(|issue| {
        // Nobody knows what it should be, but what it must not hold is known.
        let mut issues = outcome_red_lines(&json);
        issues.push(issue);
        NonEmpty::new(issues.into_sorted())
            .unwrap_or_else(|| NonEmpty::of(Issue::new(codes::DOCUMENT_TYPE_UNKNOWN, "unknown type")))
    })?;
    match kind {
        DocumentKind::Intent => {
            let intent = Intent::from_json(&json, registry)?;
            match stem.and_then(|stem| file_id(stem, intent.id().as_str())) {
                None => Ok(()),
                Some(issue) => Err(NonEmpty::of(issue)),
            }
        }
        DocumentKind::IntentSet => read_set(&json).map(drop),
        DocumentKind::Evaluation => read_evaluation(&json).map(drop),
        DocumentKind::MergePlan => read_merge_plan(&json, registry).map(drop),
        DocumentKind::QuestionPack => read_question_pack(&json).map(drop),
        DocumentKind::AnswerPack => read_answer_pack(&json).map(drop),
    }
    .map(|()| kind)
}

fn read_set(json: &Json<'_>) -> Result<IntentSetDocument, NonEmpty<Issue>> {
    let mut rules = outcome_red_lines(json);
    rules.extend(DocumentKind::IntentSet.verify(json));
    let set: IntentSetDocument = Reader::read_ruled(json, codes::INTENT_SET_INVALID, rules)?;
    match &set.context.time_window {
        Some(window) if window.end < window.start => Err(NonEmpty::of(
            Issue::new(canon_codes::WIRE_BOUNDS, "the time window ends before it starts")
                .under(codes::INTENT_SET_INVALID)
                .with_pointer(Pointer::root().key("context").key("time_window")),
        )),
        Some(_) | None => Ok(set),
    }
}

/// Checks an evaluation result.
///
/// # Errors
///
/// Fails with every problem at once.
pub fn read_evaluation(json: &Json<'_>) -> Result<EvaluationDocument, NonEmpty<Issue>> {
    let mut rules = outcome_red_lines(json);
    rules.extend(execution_forbidden(json));
    rules.extend(DocumentKind::Evaluation.verify(json));
    let place = Pointer::root().key("evaluation").key("merge_plan");
    let plan = place.find(json);
    let is_reject = plan.and_then(|plan| plan.get("strategy")).and_then(Json::as_str) == Some("reject");
    let result_id = plan.and_then(|plan| plan.get("result_intent_id"));
    let questions = json.get("requires_questions").and_then(Json::as_array);
    if is_reject && questions.is_some_and(<[Json<'_>]>::is_empty) {
        let at = Pointer::root().key("requires_questions");
        rules.push(
            Issue::new(codes::REJECT_WITHOUT_QUESTION, "the set is rejected and nothing is asked")
                .with_pointer(at),
        );
    }
    match (plan, is_reject, result_id) {
        (Some(_), false, None) => rules.push(
            Issue::new(codes::PLAN_RESULT_MISSING, "the set is merged and no result intent is named")
                .with_pointer(place.key("result_intent_id")),
        ),
        (Some(_), true, Some(found)) => rules.push(
            Issue::new(codes::PLAN_RESULT_UNEXPECTED, "a rejected set has no result intent")
                .with_pointer(place.key("result_intent_id"))
                .with_offset(found.offset()),
        ),
        (Some(_) | None, _, _) => (),
    }
    Reader::read_ruled(json, codes::EVALUATION_INVALID, rules)
}

/// Checks a merge plan, and the intent in it as any other intent.
///
/// # Errors
///
/// Fails with every problem at once.
pub fn read_merge_plan(
    json: &Json<'_>,
    registry: Option<&Registry>,
) -> Result<MergePlanDocument, NonEmpty<Issue>> {
    let mut rules = outcome_red_lines(json);
    rules.extend(execution_forbidden(json));
    rules.extend(plan_lineage(json).into_sorted());
    rules.extend(DocumentKind::MergePlan.verify(json));
    if let Some(result) = json.get("result_intent") {
        rules.extend(merged_name(result));
        // What the scan of the whole document finds is said already.
        let mut inner = intent_red_lines(result, registry);
        inner.extend(DocumentKind::Intent.verify(result));
        let inner = inner.into_sorted().into_iter().filter(|issue| issue.code != codes::I1_EXECUTION_PAYLOAD);
        rules.extend(inner.map(|issue| {
            let pointer = Pointer::parse(&format!("/result_intent{}", issue.pointer)).unwrap_or_default();
            issue.with_pointer(pointer)
        }));
    }
    Reader::read_ruled(json, codes::MERGE_PLAN_INVALID, rules)
}

/// The issue of a merged intent that is not the one its id was made from.
fn merged_name(result: &Json<'_>) -> Option<Issue> {
    let found = result.get("id").filter(|id| id.as_str().is_some_and(|id| id.starts_with(MERGED_PREFIX)))?;
    let expected = merged_id(result);
    (found.as_str() != Some(expected.as_str())).then(|| {
        Issue::new(codes::MERGED_ID_MISMATCH, "the merged intent's id is not that of its content")
            .with_pointer(Pointer::root().key("result_intent").key("id"))
            .with_offset(found.offset())
            .with_expected(expected)
            .with_hint("a merged intent is never edited; change its sources and evaluate them again")
    })
}

/// Checks a question pack.
///
/// # Errors
///
/// Fails with every problem at once.
pub fn read_question_pack(json: &Json<'_>) -> Result<QuestionPack, NonEmpty<Issue>> {
    let mut rules = outcome_red_lines(json);
    rules.extend(DocumentKind::QuestionPack.verify(json));
    Reader::read_ruled(json, codes::QUESTION_PACK_INVALID, rules)
}

/// Checks an answer pack by itself: its form, AP2 and AP3. Whether it answers the right questions is seen later.
///
/// # Errors
///
/// Fails with every problem at once.
pub fn read_answer_pack(json: &Json<'_>) -> Result<AnswerPack, NonEmpty<Issue>> {
    let mut rules = outcome_red_lines(json);
    rules.extend(DocumentKind::AnswerPack.verify(json));
    for (index, answer) in json.get("answers").and_then(Json::as_array).unwrap_or_default().iter().enumerate()
    {
        let at = Pointer::root().key("answers").index(index);
        let references = answer.get("evidence_refs");
        if references.and_then(Json::as_array).is_none_or(<[Json<'_>]>::is_empty) {
            rules.push(
                Issue::new(codes::AP2_ANSWER_WITHOUT_EVIDENCE, format!("answer {index} names no evidence"))
                    .with_pointer(at.key("evidence_refs"))
                    .with_offset(references.unwrap_or(answer).offset())
                    .with_hint("say what the answer is founded on, for example doc://decisions/2026-01"),
            );
        }
        override_keys(answer, &at, &mut rules);
    }
    Reader::read_ruled(json, codes::ANSWER_PACK_INVALID, rules)
}

/// AP3: an answer chooses between intents; it does not rewrite them.
fn override_keys(json: &Json<'_>, at: &Pointer, issues: &mut Issues) {
    for member in json.as_object().map(|object| object.members()).unwrap_or_default() {
        let here = at.key(&member.key);
        let key = member.key.to_lowercase();
        if ["command", "workflow", "agent"].iter().any(|word| key.contains(word)) {
            issues.push(
                Issue::new(codes::AP3_OVERRIDE, format!("`{}` would change what the intents do", member.key))
                    .with_pointer(here.clone())
                    .with_offset(member.key_offset())
                    .with_hint(
                        "choose an option; to change commands, workflows or agents, change the intent",
                    ),
            );
        }
        override_keys(&member.value, &here, issues);
    }
    for (index, item) in json.as_array().unwrap_or_default().iter().enumerate() {
        override_keys(item, &at.index(index), issues);
    }
}
