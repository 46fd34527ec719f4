//! SARIF 2.1.0: one run, one result for each violation, all of level error.

use alloc::{format, string::String, vec::Vec};
use core::fmt::Write as _;

use countersign_canon::{Json, Number, Sha256};

use super::{Broken, Report};
use crate::{load::Rule, verdict::Encoding};

pub(super) fn pieces<'r>(report: &'r Report<'_>) -> impl Iterator<Item = String> + use<'r> {
    let results = report.broken().enumerate().map(|(index, broken)| {
        let separator = if index == 0 { "\n" } else { ",\n" };
        format!("{separator}{}", result(&broken).to_canonical())
    });
    [head(report)].into_iter().chain(results).chain([String::from("\n]}]}\n")])
}

fn head(report: &Report<'_>) -> String {
    let rules: Vec<Json<'_>> = report.bundle.rules().iter().map(rule).collect();
    let driver = Json::object([
        ("name", Json::from("countersign")),
        ("semanticVersion", Json::from(env!("CARGO_PKG_VERSION"))),
        ("rules", Json::from(rules)),
    ]);
    let invocations = Json::array([Json::object([("executionSuccessful", Json::from(true))])]);
    let properties = Json::object([
        ("policy_hash", Json::from(format!("{}", report.bundle.hash()))),
        ("verdict", Json::from(report.outcome().as_str())),
    ]);
    format!(
        concat!(
            "{{\"$schema\":\"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/",
            "sarif-schema-2.1.0.json\",\"version\":\"2.1.0\",\"runs\":[{{\"tool\":{},\"invocations\":{},",
            "\"properties\":{},\"results\":["
        ),
        Json::object([("driver", driver)]).to_canonical(),
        invocations.to_canonical(),
        properties.to_canonical(),
    )
}

fn rule(rule: &Rule) -> Json<'_> {
    let text = |text: &str| Json::object([("text", Json::from(String::from(text)))]);
    // GitHub's code scanning refuses a rule without a full description.
    let full = rule
        .description
        .as_ref()
        .or(rule.rationale.as_ref())
        .map_or(rule.title.as_str(), |prose| prose.as_str());
    let help = rule.remediation.as_ref().map(|prose| ("help", text(prose.as_str())));
    let tags = Json::array([Json::from(rule.rule_type.as_str())]);
    let required = [
        ("id", Json::from(rule.id.as_str())),
        ("shortDescription", text(rule.title.as_str())),
        ("fullDescription", text(full)),
        ("defaultConfiguration", Json::object([("level", Json::from("error"))])),
        ("properties", Json::object([("tags", tags)])),
    ];
    Json::object(required.into_iter().chain(help))
}

fn result(broken: &Broken<'_>) -> Json<'static> {
    let Broken { rule_index, rule, path, pattern, finding } = broken;
    let length = match finding.encoding {
        None => pattern.as_str().len(),
        Some(Encoding::Utf16Le | Encoding::Utf16Be) => {
            pattern.as_str().encode_utf16().count().saturating_mul(2)
        }
    };
    // Columns count bytes with us and characters in SARIF; the line and the bytes say the place exactly.
    let region = Json::object([
        ("startLine", number(finding.line)),
        ("byteOffset", number(finding.offset)),
        ("byteLength", number(u64::try_from(length).unwrap_or(u64::MAX))),
        ("snippet", Json::object([("text", Json::from(String::from(&*finding.excerpt)))])),
    ]);
    let artifact = Json::object([("uri", Json::from(uri(path))), ("uriBaseId", Json::from("%SRCROOT%"))]);
    let location = Json::object([(
        "physicalLocation",
        Json::object([("artifactLocation", artifact), ("region", region)]),
    )]);
    let identity =
        Sha256::of_pieces([rule.id.as_str().as_bytes(), b"\0", path, b"\0", pattern.as_str().as_bytes()]);
    let message = format!("{}: {}", rule.title.as_str(), broken.reason());
    Json::object([
        ("ruleId", Json::from(String::from(rule.id.as_str()))),
        ("ruleIndex", Json::from(*rule_index)),
        ("level", Json::from("error")),
        ("message", Json::object([("text", Json::from(message))])),
        ("locations", Json::array([location])),
        (
            "partialFingerprints",
            Json::object([("countersignViolation/v1", Json::from(format!("{identity}")))]),
        ),
    ])
}

fn number(value: u64) -> Json<'static> {
    let value = i64::try_from(value).unwrap_or(i64::MAX).min(countersign_canon::INTEGER_MAX);
    Number::from_i64(value).map_or_else(|| Json::from(false), Json::from)
}

/// The path as a relative URI reference: everything but unreserved characters and slashes is percent-encoded.
fn uri(path: &[u8]) -> String {
    let mut uri = String::with_capacity(path.len());
    for &byte in path {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(byte))
            }
            _ => {
                let _infallible = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}
