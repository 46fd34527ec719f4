//! `{a,b}` written out: a glob with braces is the list of globs without.

use alloc::{format, string::String, vec::Vec};

use countersign_canon::Issue;

use super::{GLOB_ALTERNATIVES_MAX, name, syntax};
use crate::codes;

/// How deep braces may be nested.
const DEPTH_MAX: usize = 8;

/// Every glob that `text` stands for, in the order in which they are written.
pub(super) fn expand(text: &str) -> Result<Vec<String>, Issue> {
    let mut reader = Braces { whole: text, rest: text };
    reader.sequence(0)
}

struct Braces<'g> {
    whole: &'g str,
    rest: &'g str,
}

impl<'g> Braces<'g> {
    /// Reads up to the end, or to the `,` or `}` that ends this alternative.
    fn sequence(&mut self, depth: usize) -> Result<Vec<String>, Issue> {
        let mut written = Vec::from([String::new()]);
        while let Some(character) = self.rest.chars().next() {
            match character {
                '{' => {
                    self.skip(1);
                    let alternatives = self.alternatives(depth.saturating_add(1))?;
                    written = self.product(&written, &alternatives)?;
                }
                ',' | '}' if depth > 0 => return Ok(written),
                '}' => {
                    return Err(syntax(
                        format!("`{}` has a `}}` without its `{{`", self.whole),
                        "write `[}]` for a brace that is meant",
                    ));
                }
                _ => {
                    let plain = self.plain(depth);
                    written.iter_mut().for_each(|text| join(text, plain));
                }
            }
        }
        if depth == 0 {
            return Ok(written);
        }
        Err(syntax(
            format!("`{}` has a `{{` without its `}}`", self.whole),
            "write `[{]` for a brace that is meant",
        ))
    }

    /// Reads text up to the next brace or, inside braces, comma.
    fn plain(&mut self, depth: usize) -> &'g str {
        let started = self.rest;
        while let Some(character) = self.rest.chars().next() {
            let length = match character {
                '{' | '}' => break,
                ',' if depth > 0 => break,
                '[' => name::class_length(self.rest).unwrap_or(1),
                _ => character.len_utf8(),
            };
            self.skip(length);
        }
        started.get(..started.len().saturating_sub(self.rest.len())).unwrap_or_default()
    }

    /// Reads `a,b}`.
    fn alternatives(&mut self, depth: usize) -> Result<Vec<String>, Issue> {
        if depth > DEPTH_MAX {
            return Err(Issue::new(
                codes::SCAN_GLOB_SYNTAX,
                format!("`{}` nests braces too deep", self.whole),
            )
            .with_expected(format!("at most {DEPTH_MAX} deep")));
        }
        let mut alternatives = Vec::new();
        loop {
            let started = self.rest;
            alternatives.extend(self.sequence(depth)?);
            self.check_count(alternatives.len())?;
            let ended = self.rest.starts_with('}');
            let written = started.get(..started.len().saturating_sub(self.rest.len())).unwrap_or_default();
            self.skip(1);
            if ended && alternatives.len() == 1 && (written.is_empty() || written.contains("..")) {
                return Err(syntax(
                    format!("`{}` has `{{{written}}}`, which is not a choice", self.whole),
                    "write the alternatives out: `{a,b,c}`",
                ));
            }
            if ended {
                return Ok(alternatives);
            }
        }
    }

    fn product(&self, heads: &[String], tails: &[String]) -> Result<Vec<String>, Issue> {
        self.check_count(heads.len().saturating_mul(tails.len()))?;
        let mut written = Vec::new();
        for head in heads {
            written.extend(tails.iter().map(|tail| {
                let mut text = head.clone();
                join(&mut text, tail);
                text
            }));
        }
        Ok(written)
    }

    fn check_count(&self, count: usize) -> Result<(), Issue> {
        if count <= GLOB_ALTERNATIVES_MAX {
            return Ok(());
        }
        Err(Issue::new(
            codes::SCAN_GLOB_TOO_MANY,
            format!("the braces of `{}` stand for {count} or more alternatives", self.whole),
        )
        .with_expected(format!("at most {GLOB_ALTERNATIVES_MAX}"))
        .with_hint("write several globs"))
    }

    fn skip(&mut self, length: usize) {
        self.rest = self.rest.get(length..).unwrap_or_default();
    }
}

/// Writes `tail` after `head`. A star that meets a star across a brace is still part of one name: `*{,a}*` is `*` or
/// `*a*`, never any number of folders.
fn join(head: &mut String, tail: &str) {
    let is_one = |text: &str| text.ends_with('*') && !text.ends_with("**");
    let tail = match tail.strip_prefix('*') {
        Some(after) if is_one(head) && !after.starts_with('*') => after,
        Some(_) | None => tail,
    };
    head.push_str(tail);
}
