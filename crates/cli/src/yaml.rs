//! The one way from YAML to data with positions: a small, strict part of YAML, so that a file says what its author meant.
//!
//! Keys are plain and unique; tags, directives and second documents are refused; no file can multiply itself or nest
//! without end. What a scalar without quotes means, and whether a value may be written once and used again, is the
//! [`Dialect`]'s to say.

use std::{borrow::Cow, collections::BTreeMap};

use countersign_canon::{Code, Issue, Json, Member, Value};
use granit_parser::{Event, Parser, ScalarStyle, ScanError, Span, StrInput, Tag};

/// How large a file may be.
pub(crate) const YAML_BYTES_MAX: usize = 16 * 1024 * 1024;

/// How many anchors, and how many aliases, a file may have.
const ANCHORS_MAX: usize = 64;

/// How many values all aliases together may stand for.
const ALIASED_VALUES_MAX: usize = 100_000;

/// What kind of file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Rules and tables: every scalar is text, and what YAML takes for something else needs quotes, so that a pattern
    /// is never rewritten. A few anchors and aliases work.
    Texts,
    /// JSON with another layout: `true`, `null` and numbers mean what they mean in JSON, and a document says everything
    /// once: there are no anchors.
    Json,
}

impl Dialect {
    /// How deep lists and mappings may be nested; a rule needs seven, a document what its JSON may have.
    const fn depth_max(self) -> usize {
        match self {
            Self::Texts => 16,
            Self::Json => countersign_canon::DEPTH_MAX,
        }
    }
}

/// A YAML file as data, as far as it could be read, and everything that is wrong with it.
pub(crate) struct Parsed {
    /// The document; none if the file has no meaning as a whole.
    pub(crate) document: Option<Json<'static>>,
    /// What is wrong, in order.
    pub(crate) issues: Vec<Issue>,
}

/// Reads one YAML document, with every problem up to the first that leaves the rest without meaning.
pub(crate) fn parse(bytes: &[u8], dialect: Dialect) -> Parsed {
    let refused = |issue: Issue| Parsed { document: None, issues: Vec::from([issue]) };
    if bytes.len() > YAML_BYTES_MAX {
        let issue = Issue::new(codes::YAML_TOO_LARGE, format!("the file has {} bytes", bytes.len()));
        return refused(issue.with_expected(format!("at most {YAML_BYTES_MAX}")).with_offset(0));
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let issue = Issue::new(codes::YAML_BAD_UTF8, "the bytes here are not UTF-8");
            return refused(issue.with_offset(error.valid_up_to()).with_hint("save the file as UTF-8"));
        }
    };
    let options = granit_parser::options! { disallow_directives: true, emit_unresolved_aliases: true };
    let mut reader = YamlReader {
        dialect,
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

/// A problem after which the rest of the file has no meaning.
struct Stop(Issue);

struct YamlReader<'t> {
    dialect: Dialect,
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
                    return Err(Stop(issue(codes::YAML_DOCUMENTS, "a second document starts here", span)));
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
        let depth_max = self.dialect.depth_max();
        if depth > depth_max {
            let issue = issue(codes::YAML_TOO_DEEP, "lists and mappings are nested too deep", span);
            return Err(Stop(issue.with_expected(format!("at most {depth_max} deep"))));
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
                let found = issue(codes::YAML_ALIASES, format!("`*{name}` refers to no anchor"), span);
                self.issues
                    .push(found.with_hint(format!("a text that starts with a star needs quotes: '*{name}'")));
                (Node { json: Json::from(format!("*{name}")).with_offset(offset(span)), values: 1 }, 0)
            }
            _ => return Err(Stop(issue(codes::YAML_SYNTAX, "a value is missing here", span))),
        };
        if anchor > 0 {
            self.check_dialect(span)?;
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
                    let found = issue(codes::YAML_KEY, "the key is not plain text", key_span);
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
                let found =
                    issue(codes::YAML_DUPLICATE_KEY, format!("the key `{key}` is there twice"), key_span);
                self.issues.push(found.with_hint("keep one of the two"));
            }
        }
    }

    /// A text, unless something else is meant by it.
    fn scalar(&mut self, text: Cow<'t, str>, style: ScalarStyle, span: Span) -> Json<'static> {
        let plain = matches!(style, ScalarStyle::Plain).then(|| meaning(&text)).flatten();
        let json = match (self.dialect, plain) {
            (Dialect::Texts | Dialect::Json, Some(Meaning::Null)) => Json::from(Value::Null),
            (Dialect::Texts, Some(Meaning::Truth | Meaning::Number)) => {
                let what = if plain == Some(Meaning::Truth) { "a truth value" } else { "a number" };
                let found = issue(codes::YAML_NOT_TEXT, format!("`{text}` is {what}, not text"), span);
                self.issues.push(found.with_hint(format!("put quotes around it: '{text}'")));
                Json::from(text.into_owned())
            }
            (Dialect::Json, Some(Meaning::Truth | Meaning::Number)) => self.literal(text, span),
            (Dialect::Json, None) if is_old_truth(&text, style) => self.literal(text, span),
            (Dialect::Texts | Dialect::Json, None) => Json::from(text.into_owned()),
        };
        json.with_offset(offset(span))
    }

    /// What JSON means by a scalar; what only YAML has a meaning for is refused.
    fn literal(&mut self, text: Cow<'t, str>, span: Span) -> Json<'static> {
        match Json::parse(text.as_bytes()) {
            Ok(json) => json.into_owned(),
            Err(_) => {
                let found = issue(codes::YAML_AMBIGUOUS, format!("`{text}` is ambiguous"), span);
                let hint = "write true, false, null or a number as JSON does, or put quotes around text";
                self.issues.push(found.with_hint(hint));
                Json::from(text.into_owned())
            }
        }
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<Node, Stop> {
        self.check_dialect(span)?;
        self.aliases = self.aliases.saturating_add(1);
        self.check_count(self.aliases, "aliases", span)?;
        let Some((json, values)) = self.anchored.get(&anchor) else {
            return Err(Stop(issue(codes::YAML_ALIASES, "the alias stands inside its own anchor", span)));
        };
        self.aliased_values = self.aliased_values.saturating_add(*values);
        if self.aliased_values > ALIASED_VALUES_MAX {
            let found = issue(codes::YAML_ALIASES, "the aliases multiply the text", span);
            return Err(Stop(found.with_expected(format!("at most {ALIASED_VALUES_MAX} values by aliases"))));
        }
        Ok(Node { json: json.clone(), values: *values })
    }

    fn check_dialect(&self, span: Span) -> Result<(), Stop> {
        match self.dialect {
            Dialect::Texts => Ok(()),
            Dialect::Json => {
                let found = issue(codes::YAML_ALIASES, "an anchor or an alias stands here", span);
                let hint = "write the value out; put quotes around text that starts with * or &";
                Err(Stop(found.with_hint(hint)))
            }
        }
    }

    fn check_count(&self, count: usize, what: &str, span: Span) -> Result<(), Stop> {
        if count <= ANCHORS_MAX {
            return Ok(());
        }
        let found = issue(codes::YAML_ALIASES, format!("the file has more than {ANCHORS_MAX} {what}"), span);
        Err(Stop(found.with_hint("write the values out")))
    }

    fn check_tag(&mut self, tag: Option<&Tag>, span: Span) {
        if let Some(tag) = tag {
            let found = issue(codes::YAML_TAG, format!("the value has the tag `{}`", tag.original()), span);
            self.issues.push(found.with_hint("remove the tag"));
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Null,
    Truth,
    Number,
}

/// Whether YAML 1.1, which some tools still speak, takes it for a truth value.
fn is_old_truth(text: &str, style: ScalarStyle) -> bool {
    matches!(style, ScalarStyle::Plain) && matches!(text, "yes" | "no" | "on" | "off")
}

/// What the core schema of YAML 1.2 takes a plain scalar for, if not for text.
fn meaning(text: &str) -> Option<Meaning> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Some(Meaning::Null),
        "true" | "True" | "TRUE" | "false" | "False" | "FALSE" => return Some(Meaning::Truth),
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
    (is_special || is_hex || is_octal || is_decimal).then_some(Meaning::Number)
}

fn offset(span: Span) -> usize {
    span.start.byte_offset().unwrap_or(0)
}

fn issue(code: Code, message: impl Into<String>, span: Span) -> Issue {
    Issue::new(code, message).with_offset(offset(span))
}

fn syntax(error: &ScanError) -> Issue {
    let offset = error.marker().byte_offset().unwrap_or(0);
    Issue::new(codes::YAML_SYNTAX, error.info().to_string()).with_offset(offset)
}

/// The codes of files that are not the part of YAML that is read here.
pub mod codes {
    countersign_canon::declare_codes! {
        /// The text is not YAML.
        YAML_SYNTAX
        /// The bytes are not UTF-8.
        YAML_BAD_UTF8
        /// The file is larger than the limit.
        YAML_TOO_LARGE
        /// Lists and mappings are nested deeper than the limit.
        YAML_TOO_DEEP
        /// A mapping names one key twice.
        YAML_DUPLICATE_KEY
        /// Anchors or aliases are not allowed here, are more than the limit, or multiply the text.
        YAML_ALIASES
        /// A value carries a tag.
        YAML_TAG
        /// A key is not plain text.
        YAML_KEY
        /// A value without quotes is a number or a truth value, not text.
        YAML_NOT_TEXT
        /// A value without quotes means one thing in YAML and another, or nothing, in JSON.
        YAML_AMBIGUOUS
        /// The file holds more than one document.
        YAML_DOCUMENTS
    }
}

#[cfg(test)]
mod tests;
