//! The part of YAML that registries need: mappings, lists, texts and truth values; anything else is refused.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "the parser's events may grow; whatever is not listed is refused"
)]

use countersign_canon::{Issue, Json, canon_codes};
use countersign_intent::intent_codes;
use granit_parser::{Event, Parser, ScalarStyle, StrInput};

/// How deep a registry may be nested; it needs four.
const DEPTH_MAX: usize = 16;

/// Reads one YAML document.
pub(super) fn parse(bytes: &[u8]) -> Result<Json<'static>, Issue> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        refused("the bytes here are not UTF-8")
            .with_offset(error.valid_up_to())
            .with_hint("save the file as UTF-8")
    })?;
    let mut reader = YamlReader { events: Parser::new_from_str(text) };
    loop {
        match reader.next()? {
            Event::StreamStart | Event::DocumentStart(..) => (),
            first => return reader.value(&first, 0),
        }
    }
}

struct YamlReader<'t> {
    events: Parser<'t, StrInput<'t>>,
}

impl<'t> YamlReader<'t> {
    fn next(&mut self) -> Result<Event<'t>, Issue> {
        match self.events.next_event() {
            Some(Ok((event, _))) => Ok(event),
            Some(Err(error)) => {
                let offset = error.marker().byte_offset().unwrap_or(0);
                Err(refused(error.info().to_string()).with_offset(offset))
            }
            None => Ok(Event::StreamEnd),
        }
    }

    fn value(&mut self, first: &Event<'t>, depth: usize) -> Result<Json<'static>, Issue> {
        if depth > DEPTH_MAX {
            return Err(refused(format!("nested deeper than {DEPTH_MAX}")));
        }
        let below = depth.saturating_add(1);
        match first {
            Event::Scalar(text, style, 0, None) => Ok(match (style, text.as_ref()) {
                (ScalarStyle::Plain, "true") => Json::from(true),
                (ScalarStyle::Plain, "false") => Json::from(false),
                (_, text) => Json::from(text.to_owned()),
            }),
            Event::SequenceStart(_, 0, None) => {
                let mut items = Vec::new();
                loop {
                    match self.next()? {
                        Event::SequenceEnd => return Ok(Json::from(items)),
                        item => items.push(self.value(&item, below)?),
                    }
                }
            }
            Event::MappingStart(_, 0, None) => {
                let mut members: Vec<(String, Json<'static>)> = Vec::new();
                loop {
                    match self.next()? {
                        Event::MappingEnd => return Ok(Json::object(members)),
                        Event::Scalar(key, ..) if members.iter().any(|(known, _)| *known == *key) => {
                            return Err(refused(format!("the key `{key}` is there twice")));
                        }
                        Event::Scalar(key, ..) => {
                            let value = self.next()?;
                            members.push((key.into_owned(), self.value(&value, below)?));
                        }
                        _ => return Err(refused("a key is not plain text")),
                    }
                }
            }
            _ => Err(refused("an anchor, alias, tag or empty document stands here")
                .with_hint("a registry is mappings, lists and texts only")),
        }
    }
}

fn refused(message: impl Into<String>) -> Issue {
    Issue::new(canon_codes::WIRE_VALUE, message).under(intent_codes::REGISTRY_INVALID)
}
