//! YAML as plain data with positions: a small, strict part of YAML, so that a rule says what its author meant.
//!
//! Every scalar is text. What YAML would take for a number or a truth value must be in quotes, keys must be plain and
//! unique, and tags, directives and second documents are refused. Anchors and aliases work, a few of them.

use std::{borrow::Cow, collections::BTreeMap};

use countersign_canon::{Code, Issue, Json, Member, Value};
use countersign_scan::codes;
use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput, Tag};

/// How large a rule file may be.
pub(crate) const YAML_BYTES_MAX: usize = 16 * 1024 * 1024;

/// How deep lists and mappings may be nested; a rule needs seven.
const DEPTH_MAX: usize = 16;

/// How many anchors, and how many aliases, a file may have.
const ANCHORS_MAX: usize = 64;

/// How many values all aliases together may stand for.
const ALIASED_VALUES_MAX: usize = 100_000;

/// A YAML file as data, as far as it could be read, and everything that is wrong with it.
pub(crate) struct Parsed {
    /// The document; none if the file has no meaning as a whole.
    pub(crate) document: Option<Json<'static>>,
    /// What is wrong, in order.
    pub(crate) issues: Vec<Issue>,
}

/// Reads one YAML document, with every problem up to the first that leaves the rest without meaning.
pub(crate) fn parse(bytes: &[u8]) -> Parsed {
    let refused = |issue: Issue| Parsed { document: None, issues: Vec::from([issue.under(FAMILY)]) };
    if bytes.len() > YAML_BYTES_MAX {
        let issue = Issue::new(codes::SCAN_YAML_TOO_LARGE, format!("the file has {} bytes", bytes.len()));
        return refused(issue.with_expected(format!("at most {YAML_BYTES_MAX}")).with_offset(0));
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let issue = Issue::new(codes::SCAN_YAML_BAD_UTF8, "the bytes here are not UTF-8");
            return refused(issue.with_offset(error.valid_up_to()).with_hint("save the file as UTF-8"));
        }
    };
    let options = granit_parser::options! { disallow_directives: true, emit_unresolved_aliases: true };
    let mut reader = YamlReader {
        events: Parser::new_from_str_with_options(text, options),
        issues: Vec::new(),
        anchored: BTreeMap::new(),
        aliases: 0,
        aliased_values: 0,
    };
    let document = reader.document();
    let mut issues = reader.issues;
    let document = document.map_err(|Stop(issue)| issues.push(issue)).ok();
    issues.sort_by_key(|issue| issue.offset);
    Parsed { document, issues }
}

const FAMILY: Code = codes::SCAN_RULES_INVALID;

/// A problem after which the rest of the file has no meaning.
struct Stop(Issue);

struct YamlReader<'t> {
    events: Parser<'t, StrInput<'t>>,
    issues: Vec<Issue>,
    /// Values that aliases can stand for, and how many values each holds.
    anchored: BTreeMap<usize, (Json<'static>, usize)>,
    aliases: usize,
    aliased_values: usize,
}

/// A value, and how many values it holds, itself included.
struct Node {
    json: Json<'static>,
    values: usize,
}

impl<'t> YamlReader<'t> {
    #[expect(clippy::wildcard_enum_match_arm, reason = "the parser's list of events is not closed")]
    fn document(&mut self) -> Result<Json<'static>, Stop> {
        let mut document = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamStart | Event::DocumentEnd => (),
                Event::DocumentStart(..) if document.is_some() => {
                    return Err(Stop(issue(
                        codes::SCAN_YAML_DOCUMENTS,
                        "a second document starts here",
                        span,
                    )));
                }
                Event::DocumentStart(..) => {
                    let (event, span) = self.next()?;
                    document = Some(self.node(event, span, 0)?.json);
                }
                // A file of comments, or of nothing, has no value.
                _ => return Ok(document.unwrap_or_else(|| Json::from(Value::Null))),
            }
        }
    }

    fn next(&mut self) -> Result<(Event<'t>, Span), Stop> {
        match self.events.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(Stop(syntax(&error))),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    /// Reads the value that starts with this event.
    #[expect(clippy::wildcard_enum_match_arm, reason = "the parser's list of events is not closed")]
    fn node(&mut self, event: Event<'t>, span: Span, depth: usize) -> Result<Node, Stop> {
        if depth > DEPTH_MAX {
            let issue = issue(codes::SCAN_YAML_TOO_DEEP, "lists and mappings are nested too deep", span);
            return Err(Stop(issue.with_expected(format!("at most {DEPTH_MAX} deep"))));
        }
        let (node, anchor) = match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.check_tag(tag.as_deref(), span);
                (Node { json: self.scalar(text, style, span), values: 1 }, anchor)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.check_tag(tag.as_deref(), span);
                (self.sequence(span, depth)?, anchor)
            }
            Event::MappingStart(_, anchor, tag) => {
                self.check_tag(tag.as_deref(), span);
                (self.mapping(span, depth)?, anchor)
            }
            Event::Alias(anchor) => (self.alias(anchor, span)?, 0),
            Event::UnresolvedAlias(name) => {
                let found = issue(codes::SCAN_YAML_ALIASES, format!("`*{name}` refers to no anchor"), span);
                self.issues
                    .push(found.with_hint(format!("a text that starts with a star needs quotes: '*{name}'")));
                (Node { json: Json::from(format!("*{name}")).with_offset(offset(span)), values: 1 }, 0)
            }
            _ => return Err(Stop(issue(codes::SCAN_YAML_SYNTAX, "a value is missing here", span))),
        };
        if anchor > 0 {
            self.check_count(self.anchored.len().saturating_add(1), "anchors", span)?;
            self.anchored.insert(anchor, (node.json.clone(), node.values));
        }
        Ok(node)
    }

    fn sequence(&mut self, span: Span, depth: usize) -> Result<Node, Stop> {
        let (mut items, mut values) = (Vec::new(), 1_usize);
        loop {
            let (event, item_span) = self.next()?;
            if matches!(event, Event::SequenceEnd) {
                return Ok(Node { json: Json::array(items).with_offset(offset(span)), values });
            }
            let node = self.node(event, item_span, depth.saturating_add(1))?;
            values = values.saturating_add(node.values);
            items.push(node.json);
        }
    }

    #[expect(clippy::wildcard_enum_match_arm, reason = "the parser's list of events is not closed")]
    fn mapping(&mut self, span: Span, depth: usize) -> Result<Node, Stop> {
        let (mut members, mut values) = (BTreeMap::new(), 1_usize);
        loop {
            let (event, key_span) = self.next()?;
            let key = match event {
                Event::MappingEnd => {
                    let members = members.into_values();
                    return Ok(Node { json: Json::object_of(members).with_offset(offset(span)), values });
                }
                Event::Scalar(text, _, 0, None) => text.into_owned(),
                _ => {
                    let found = issue(codes::SCAN_YAML_KEY, "the key is not plain text", key_span);
                    return Err(Stop(
                        found.with_hint("put quotes around a key that starts with a special character"),
                    ));
                }
            };
            let (event, value_span) = self.next()?;
            let node = self.node(event, value_span, depth.saturating_add(1))?;
            values = values.saturating_add(node.values);
            let member = Member::new(key.clone(), offset(key_span), node.json);
            if members.insert(key.clone(), member).is_some() {
                let found = issue(
                    codes::SCAN_YAML_DUPLICATE_KEY,
                    format!("the key `{key}` is there twice"),
                    key_span,
                );
                self.issues.push(found.with_hint("keep one of the two"));
            }
        }
    }

    /// A text, unless YAML means something else by it.
    fn scalar(&mut self, text: Cow<'t, str>, style: ScalarStyle, span: Span) -> Json<'static> {
        let plain = matches!(style, ScalarStyle::Plain).then(|| meaning(&text)).flatten();
        match plain {
            Some(Meaning::Null) => Json::from(Value::Null).with_offset(offset(span)),
            Some(Meaning::Other(what)) => {
                let found = issue(codes::SCAN_YAML_NOT_TEXT, format!("`{text}` is {what}, not text"), span);
                self.issues.push(found.with_hint(format!("put quotes around it: '{text}'")));
                Json::from(text.into_owned()).with_offset(offset(span))
            }
            None => Json::from(text.into_owned()).with_offset(offset(span)),
        }
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<Node, Stop> {
        self.aliases = self.aliases.saturating_add(1);
        self.check_count(self.aliases, "aliases", span)?;
        let Some((json, values)) = self.anchored.get(&anchor) else {
            return Err(Stop(issue(
                codes::SCAN_YAML_ALIASES,
                "the alias stands inside its own anchor",
                span,
            )));
        };
        self.aliased_values = self.aliased_values.saturating_add(*values);
        if self.aliased_values > ALIASED_VALUES_MAX {
            let found = issue(codes::SCAN_YAML_ALIASES, "the aliases multiply the text", span);
            return Err(Stop(found.with_expected(format!("at most {ALIASED_VALUES_MAX} values by aliases"))));
        }
        Ok(Node { json: json.clone(), values: *values })
    }

    fn check_count(&self, count: usize, what: &str, span: Span) -> Result<(), Stop> {
        if count <= ANCHORS_MAX {
            return Ok(());
        }
        let found =
            issue(codes::SCAN_YAML_ALIASES, format!("the file has more than {ANCHORS_MAX} {what}"), span);
        Err(Stop(found.with_hint("write the values out")))
    }

    fn check_tag(&mut self, tag: Option<&Tag>, span: Span) {
        if let Some(tag) = tag {
            let found =
                issue(codes::SCAN_YAML_TAG, format!("the value has the tag `{}`", tag.original()), span);
            self.issues.push(found.with_hint("remove the tag"));
        }
    }
}

enum Meaning {
    Null,
    Other(&'static str),
}

/// What the core schema of YAML 1.2 takes a plain scalar for, if not for text.
fn meaning(text: &str) -> Option<Meaning> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Some(Meaning::Null),
        "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => {
            return Some(Meaning::Other("a truth value"));
        }
        _ => (),
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_special = matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN");
    let is_based = |prefix, digit: fn(char) -> bool| {
        text.strip_prefix(prefix).is_some_and(|digits: &str| !digits.is_empty() && digits.chars().all(digit))
    };
    let is_hex = is_based("0x", |digit| digit.is_ascii_hexdigit());
    let is_octal = is_based("0o", |digit| digit.is_digit(8));
    let is_decimal = unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && unsigned.contains(|character: char| character.is_ascii_digit())
        && unsigned.parse::<f64>().is_ok();
    (is_special || is_hex || is_octal || is_decimal).then_some(Meaning::Other("a number"))
}

fn offset(span: Span) -> usize {
    span.start.byte_offset().unwrap_or(0)
}

fn issue(code: Code, message: impl Into<String>, span: Span) -> Issue {
    Issue::new(code, message).with_offset(offset(span)).under(FAMILY)
}

fn syntax(error: &ScanError) -> Issue {
    let offset = error.marker().byte_offset().unwrap_or(0);
    Issue::new(codes::SCAN_YAML_SYNTAX, error.info().to_string()).with_offset(offset).under(FAMILY)
}

#[cfg(test)]
mod tests;
