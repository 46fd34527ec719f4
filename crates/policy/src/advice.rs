//! What to do about a problem of a policy, where the problem itself does not say it.

use countersign_canon::{Code, Issue, NonEmpty, canon_codes as canon};

/// What to do, by cause.
const ADVICE: &[(Code, &str)] = &[
    (canon::JSON_SYNTAX, "correct the JSON there; an editor with the schema shows it too"),
    (canon::JSON_UNEXPECTED_END, "close what was opened; the file may be cut off"),
    (canon::JSON_LONE_SURROGATE, "write the character itself, or both halves of the pair"),
    (canon::JSON_NUMBER_AMBIGUOUS, "write a whole number within ±9007199254740991"),
    (canon::JSON_NUMBER_OVERFLOW, "write a whole number within ±9007199254740991"),
    (canon::JSON_NUMBER_UNDERFLOW, "write a whole number within ±9007199254740991"),
    (canon::JSON_TOO_DEEP, "nest less: a condition may be 16 deep"),
    (canon::JSON_TRAILING_DATA, "keep one policy in one file"),
    (canon::JSON_TOO_LARGE, "split the policy"),
    (canon::WIRE_TYPE, "write a value of the expected type"),
    (canon::WIRE_UNKNOWN_FIELD, "remove the field; a policy has no others than the expected ones"),
    (canon::WIRE_MISSING_FIELD, "add the field"),
    (canon::WIRE_VALUE, "use one of the expected words, spelt exactly like that"),
    (canon::WIRE_BOUNDS, "change it to what is expected"),
    (
        canon::NAME_SHAPE,
        "start with a letter and use letters, digits and the signs of the pattern, without spaces",
    ),
    (canon::TIME_SHAPE, "write a date that exists, in UTC, to the second"),
    (canon::HASH_SHAPE, "take it from `countersign action hash`"),
];

/// The same issue with advice, unless it has some.
pub(crate) fn with_hint(issue: Issue) -> Issue {
    if issue.hint.is_some() {
        return issue;
    }
    let cause = issue.cause.unwrap_or(issue.code);
    match ADVICE.iter().find(|(code, _)| *code == cause) {
        Some((_, hint)) => issue.with_hint(*hint),
        None => issue.with_hint("compare with `countersign policy schema`"),
    }
}

pub(crate) fn with_hints(issues: NonEmpty<Issue>) -> NonEmpty<Issue> {
    let advised = issues.iter().cloned().map(with_hint).collect();
    NonEmpty::new(advised).unwrap_or(issues)
}
