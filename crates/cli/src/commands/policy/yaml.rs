//! YAML for people who write policies: the part of it that is JSON with another layout, with positions.
//!
//! Plain scalars that are JSON literals mean what they mean in JSON, every other scalar is text. Tags, anchors,
//! aliases, directives and second documents are refused: a policy says everything once.

use std::collections::BTreeMap;

use countersign_canon::{Code, DEPTH_MAX, Issue, Json, Member, Value, canon_codes};
use granit_parser::{Event, Parser, ScalarStyle, Span, StrInput};

use crate::failure::codes;

/// Reads one YAML document as JSON.
#[expect(clippy::wildcard_enum_match_arm, reason = "whatever else the YAML parser finds has no place here")]
pub(super) fn parse(bytes: &[u8]) -> Result<Json<'static>, Issue> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        Issue::new(canon_codes::JSON_BAD_UTF8, "the bytes here are not UTF-8")
            .with_offset(error.valid_up_to())
    })?;
    let options = granit_parser::options! { disallow_directives: true, emit_unresolved_aliases: true };
    let mut reader = Reader { events: Parser::new_from_str_with_options(text, options) };
    let mut document = None;
    loop {
        let (event, span) = reader.next()?;
        match event {
            Event::StreamStart | Event::DocumentEnd => (),
            Event::DocumentStart(..) if document.is_none() => {
                let (event, span) = reader.next()?;
                document = Some(reader.node(event, span, 0)?);
            }
            Event::DocumentStart(..) => return Err(refused("a second document starts here", span)),
            _ => return document.ok_or_else(|| refused("the file has no value", span)),
        }
    }
}

struct Reader<'t> {
    events: Parser<'t, StrInput<'t>>,
}

impl<'t> Reader<'t> {
    fn next(&mut self) -> Result<(Event<'t>, Span), Issue> {
        match self.events.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => {
                let offset = error.marker().byte_offset().unwrap_or(0);
                Err(Issue::new(codes::CLI_YAML, error.info().to_string()).with_offset(offset))
            }
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    /// Reads the value that starts with this event. Recursion is bounded as that of the JSON parser is.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "whatever else the YAML parser finds has no place here"
    )]
    fn node(&mut self, event: Event<'t>, span: Span, depth: usize) -> Result<Json<'static>, Issue> {
        if depth > DEPTH_MAX {
            let message = format!("nested deeper than {DEPTH_MAX}");
            return Err(Issue::new(canon_codes::JSON_TOO_DEEP, message).with_offset(offset(span)));
        }
        let json = match event {
            Event::Scalar(text, style, 0, None) => scalar(&text, style, span)?,
            Event::SequenceStart(_, 0, None) => self.sequence(depth)?,
            Event::MappingStart(_, 0, None) => self.mapping(depth)?,
            _ => {
                let issue = refused("an anchor, an alias or a tag stands here", span);
                return Err(
                    issue.with_hint("write the value out; put quotes around text that starts with * & or !")
                );
            }
        };
        Ok(json.with_offset(offset(span)))
    }

    fn sequence(&mut self, depth: usize) -> Result<Json<'static>, Issue> {
        let mut items = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::SequenceEnd) {
                return Ok(Json::from(items));
            }
            items.push(self.node(event, span, depth.saturating_add(1))?);
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "whatever else the YAML parser finds has no place here"
    )]
    fn mapping(&mut self, depth: usize) -> Result<Json<'static>, Issue> {
        let mut members = BTreeMap::new();
        loop {
            let (event, span) = self.next()?;
            let key = match event {
                Event::MappingEnd => return Ok(Json::object_of(members.into_values())),
                Event::Scalar(text, _, 0, None) => text.into_owned(),
                _ => return Err(refused("the key is not plain text", span)),
            };
            let (event, value_span) = self.next()?;
            let value = self.node(event, value_span, depth.saturating_add(1))?;
            let member = Member::new(key.clone(), offset(span), value);
            if members.insert(key.clone(), member).is_some() {
                let message = format!("the key `{key}` is there already");
                return Err(Issue::new(canon_codes::JSON_DUPLICATE_KEY, message).with_offset(offset(span)));
            }
        }
    }
}

/// A JSON literal, or text.
fn scalar(text: &str, style: ScalarStyle, span: Span) -> Result<Json<'static>, Issue> {
    let plain_text = || Json::from(text.to_owned());
    if style != ScalarStyle::Plain {
        return Ok(plain_text());
    }
    let looks_like_number = text.trim_start_matches('-').starts_with(|first: char| first.is_ascii_digit());
    match text {
        "" | "~" => Ok(Json::from(Value::Null)),
        "true" | "false" | "null" => literal(text, span),
        "True" | "TRUE" | "False" | "FALSE" | "Null" | "NULL" | "yes" | "no" | "on" | "off" => {
            let issue = refused(format!("`{text}` is ambiguous"), span);
            Err(issue.with_hint("write true, false or null, or put quotes around text"))
        }
        _ if looks_like_number && Json::parse(text.as_bytes()).is_ok() => literal(text, span),
        _ => Ok(plain_text()),
    }
}

fn literal(text: &str, span: Span) -> Result<Json<'static>, Issue> {
    Json::parse(text.as_bytes()).map(Json::into_owned).map_err(|issue| issue.with_offset(offset(span)))
}

fn offset(span: Span) -> usize {
    span.start.byte_offset().unwrap_or(0)
}

fn refused(message: impl Into<String>, span: Span) -> Issue {
    const CODE: Code = codes::CLI_YAML;
    Issue::new(CODE, message).with_offset(offset(span))
}
