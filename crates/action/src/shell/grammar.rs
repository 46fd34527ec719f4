//! Lists, pipelines, simple commands and redirections.

use alloc::{boxed::Box, string::String, vec::Vec};

use countersign_canon::Issue;

use super::{
    cursor::{Cursor, is_meta, is_name},
    tree::{Command, Condition, Item, List, Operator, Part, Pipeline, Redirection, Simple, Target, Word},
    word::{Arrays, assignment, has_open_index},
};

/// What may end a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// The end of the text.
    Text,
    /// `)`
    Parenthesis,
    /// `;;`, `;&`, `;;&` or `esac`
    Arm,
    /// One of these reserved words.
    Words(&'static [&'static str]),
}

/// Words that have a meaning where a command starts.
const RESERVED: [&str; 22] = [
    "!", "[[", "]]", "{", "}", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for",
    "function", "if", "in", "select", "then", "time", "until", "while",
];

/// Builtins whose arguments may be arrays.
const DECLARATIONS: [&str; 6] = ["declare", "export", "local", "readonly", "typeset", "eval"];

impl Cursor<'_> {
    /// Reads the whole text as a list.
    pub(super) fn whole(&mut self) -> Result<List, Issue> {
        let list = self.list(End::Text)?;
        if self.peek().is_some() {
            return Err(self.unexpected("a command"));
        }
        if let Some(pending) = self.pending.first() {
            let message = alloc::format!("the here-document ended by `{}` has no body", pending.delimiter);
            return Err(self.refuse(crate::codes::SHELL_UNEXPECTED_END, message));
        }
        Ok(list)
    }

    /// Reads commands up to, not including, what ends them.
    pub(super) fn list(&mut self, end: End) -> Result<List, Issue> {
        let mut list = List::default();
        self.line_breaks()?;
        while !self.is_at(end) {
            let mut item = self.item()?;
            self.skip_blanks();
            let is_separated = match self.peek() {
                Some(b'&') => {
                    self.skip(1);
                    item.is_background = true;
                    true
                }
                Some(b';') if !self.sees(";;") && !self.sees(";&") => {
                    self.skip(1);
                    true
                }
                Some(b'\n') => true,
                Some(_) | None => false,
            };
            list.items.push(item);
            if !is_separated {
                break;
            }
            self.line_breaks()?;
        }
        // Only a text, a substitution and an arm of a case may be empty.
        if list.items.is_empty() && matches!(end, End::Words(_)) {
            return Err(self.unexpected("a command"));
        }
        Ok(list)
    }

    /// Moves past blanks, comments and line breaks.
    pub(super) fn line_breaks(&mut self) -> Result<(), Issue> {
        self.skip_blanks();
        while self.peek() == Some(b'\n') {
            self.line_break()?;
            self.skip_blanks();
        }
        Ok(())
    }

    fn is_at(&mut self, end: End) -> bool {
        match end {
            End::Text => self.peek().is_none(),
            End::Parenthesis => self.peek() == Some(b')'),
            End::Arm => self.sees(";;") || self.sees(";&") || self.reserved() == Some("esac"),
            End::Words(words) => self.reserved().is_some_and(|word| words.contains(&word)),
        }
    }

    /// The reserved word that stands here, if one does.
    pub(super) fn reserved(&mut self) -> Option<&'static str> {
        let start = self.at;
        let mut word = String::new();
        while let Some(byte) = self.peek() {
            if is_meta(byte) {
                break;
            }
            if word.len() > 8 || !byte.is_ascii() {
                self.at = start;
                return None;
            }
            word.push(char::from(byte));
            self.skip(1);
        }
        self.at = start;
        RESERVED.iter().find(|reserved| **reserved == word).copied()
    }

    /// Moves past a reserved word that was seen.
    pub(super) fn take_reserved(&mut self, word: &str) -> Result<(), Issue> {
        self.skip_blanks();
        if self.reserved() == Some(word) && self.take(word) {
            return Ok(());
        }
        Err(self.unexpected(&alloc::format!("`{word}`")))
    }

    fn item(&mut self) -> Result<Item, Issue> {
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip_blanks();
            let condition = if self.take("&&") {
                Condition::Success
            } else if self.take("||") {
                Condition::Failure
            } else {
                return Ok(Item { first, rest, is_background: false });
            };
            self.line_breaks()?;
            rest.push((condition, self.pipeline()?));
        }
    }

    fn pipeline(&mut self) -> Result<Pipeline, Issue> {
        let mut pipeline = Pipeline { is_negated: false, commands: Vec::new() };
        loop {
            self.skip_blanks();
            match self.reserved() {
                Some("!") => {
                    self.take("!");
                    pipeline.is_negated = !pipeline.is_negated;
                }
                Some("time") => {
                    self.take("time");
                    self.skip_blanks();
                    if self.sees("-p ") {
                        self.take("-p");
                    }
                }
                _ => break,
            }
        }
        loop {
            pipeline.commands.push(self.command()?);
            self.skip_blanks();
            let is_piped = if self.sees("||") { false } else { self.take("|&") || self.take("|") };
            if !is_piped {
                return Ok(pipeline);
            }
            self.line_breaks()?;
        }
    }

    pub(super) fn command(&mut self) -> Result<Command, Issue> {
        self.nested(|cursor| {
            cursor.skip_blanks();
            match cursor.compound()? {
                Some(command) => Ok(command),
                None => cursor.simple(),
            }
        })
    }

    fn simple(&mut self) -> Result<Command, Issue> {
        let mut simple = Simple { at: self.at, ..Simple::default() };
        loop {
            self.skip_blanks();
            if let Some(redirection) = self.redirection()? {
                simple.redirections.push(redirection);
                continue;
            }
            let Some(word) = self.word(arrays_after(&simple))? else { break };
            if simple.words.is_empty() {
                if has_open_index(&word) && !is_test(&word) {
                    return Err(self.unsupported("an index with spaces in it"));
                }
                match assignment(word) {
                    Ok(assignment) => simple.assignments.push(assignment),
                    Err(word) => simple.words.push(word),
                }
            } else {
                simple.words.push(word);
            }
            let is_first =
                simple.words.len() == 1 && simple.assignments.is_empty() && simple.redirections.is_empty();
            if is_first && self.takes_parentheses()? {
                let name = simple.words.pop().unwrap_or_default();
                return self.function(name);
            }
        }
        if simple.words.is_empty() && simple.assignments.is_empty() && simple.redirections.is_empty() {
            return Err(self.unexpected("a command"));
        }
        Ok(Command::Simple(simple))
    }

    /// Takes `()` after the first word of a command: it defines a function.
    fn takes_parentheses(&mut self) -> Result<bool, Issue> {
        self.skip_blanks();
        if self.peek() != Some(b'(') {
            return Ok(false);
        }
        self.skip(1);
        self.skip_blanks();
        if self.take(")") { Ok(true) } else { Err(self.unexpected("`)`, for a function")) }
    }

    /// Reads the body of a function.
    pub(super) fn function(&mut self, name: Word) -> Result<Command, Issue> {
        self.line_breaks()?;
        let body = self.nested(Self::compound)?;
        let Some(body) = body else { return Err(self.unexpected("the body of the function")) };
        Ok(Command::Function { name, body: Box::new(body) })
    }

    /// Reads the redirections after a compound command.
    pub(super) fn redirections(&mut self) -> Result<Vec<Redirection>, Issue> {
        let mut redirections = Vec::new();
        loop {
            self.skip_blanks();
            match self.redirection()? {
                Some(redirection) => redirections.push(redirection),
                None => return Ok(redirections),
            }
        }
    }

    /// Reads a redirection, if one starts here.
    fn redirection(&mut self) -> Result<Option<Redirection>, Issue> {
        self.peek();
        let at = self.at;
        let descriptor = self.descriptor();
        let Some((spelling, operator)) = self.operator() else {
            self.at = at;
            return Ok(None);
        };
        self.skip_blanks();
        let before = self.at;
        self.descriptor();
        if self.at != before {
            return Err(self.unexpected("what to read or write"));
        }
        let target = match operator {
            Operator::HereDocument => self.here_document(spelling == "<<-")?,
            Operator::Read
            | Operator::Write
            | Operator::Append
            | Operator::ReadWrite
            | Operator::DuplicateInput
            | Operator::DuplicateOutput
            | Operator::HereString => match self.word(Arrays::Refused)? {
                Some(word) => Target::Word(word),
                None => return Err(self.unexpected("what to read or write")),
            },
        };
        Ok(Some(Redirection { descriptor, operator, target, at }))
    }

    /// Takes a number or `{name}` that stands directly before a redirection.
    fn descriptor(&mut self) -> String {
        let start = self.at;
        let mut found = String::new();
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            found.push(char::from(digit));
            self.skip(1);
        }
        if self.at == start && self.peek() == Some(b'{') {
            self.skip(1);
            found = self.name();
            if !(is_name(&found) && self.take("}")) {
                self.at = start;
                return String::new();
            }
        }
        if !matches!(self.peek(), Some(b'<' | b'>')) {
            self.at = start;
            return String::new();
        }
        found
    }

    fn operator(&mut self) -> Option<(&'static str, Operator)> {
        const OPERATORS: [(&str, Operator); 12] = [
            ("&>>", Operator::Append),
            ("&>", Operator::Write),
            ("<<<", Operator::HereString),
            ("<<-", Operator::HereDocument),
            ("<<", Operator::HereDocument),
            ("<&", Operator::DuplicateInput),
            ("<>", Operator::ReadWrite),
            (">>", Operator::Append),
            (">&", Operator::DuplicateOutput),
            (">|", Operator::Write),
            ("<", Operator::Read),
            (">", Operator::Write),
        ];
        if self.sees("<(") || self.sees(">(") {
            return None;
        }
        OPERATORS.into_iter().find(|(spelling, _)| self.take(spelling))
    }
}

/// Whether the word is the command `[`, or starts with a pattern rather than with a name.
fn is_test(word: &Word) -> bool {
    matches!(word.parts.first(), Some(Part::Bare(text)) if text.starts_with('['))
}

/// Arrays may follow where assignments may: in front of a command, and after a declaration.
fn arrays_after(simple: &Simple) -> Arrays {
    let Some(first) = simple.words.first() else { return Arrays::Allowed };
    let [Part::Bare(name)] = first.parts.as_slice() else { return Arrays::Refused };
    if DECLARATIONS.contains(&name.as_str()) { Arrays::Allowed } else { Arrays::Refused }
}
