//! Constructs with commands inside.

use alloc::{boxed::Box, string::String, vec::Vec};

use countersign_canon::Issue;

use super::{
    cursor::{Cursor, is_name},
    grammar::End,
    tree::{Command, Compound, List, Part, Word},
    word::Arrays,
};

impl Cursor<'_> {
    /// Reads a compound command with its redirections, if one starts here.
    pub(super) fn compound(&mut self) -> Result<Option<Command>, Issue> {
        let compound = match self.reserved() {
            Some("{") => self.group()?,
            Some("if") => self.conditional()?,
            Some("while") => self.repetition("while")?,
            Some("until") => self.repetition("until")?,
            Some("for") => self.enumeration("for")?,
            Some("select") => self.enumeration("select")?,
            Some("case") => self.case()?,
            Some("[[") => self.test()?,
            Some("function") => return self.named_function().map(Some),
            Some("coproc") => return Err(self.unsupported("a coprocess")),
            // `time` may stand after a bar too, where it is a command like any other.
            Some("time") | None => match self.peek() {
                Some(b'(') => self.parentheses()?,
                _ => return Ok(None),
            },
            Some(_) => return Err(self.unexpected("a command")),
        };
        let redirections = self.redirections()?;
        Ok(Some(Command::Compound(Box::new(compound), redirections)))
    }

    fn group(&mut self) -> Result<Compound, Issue> {
        self.take("{");
        let list = self.list(End::Words(&["}"]))?;
        self.take_reserved("}")?;
        Ok(Compound::Group(list))
    }

    /// Reads `(…)` or `((…))`.
    fn parentheses(&mut self) -> Result<Compound, Issue> {
        let arithmetic =
            self.attempt(|cursor| if cursor.take("((") { cursor.arithmetic().map(Some) } else { Ok(None) })?;
        if let Some(Some(word)) = arithmetic {
            return Ok(Compound::Arithmetic(word));
        }
        self.skip(1);
        // Unlike a substitution, a subshell is part of the line: its here-documents may begin after it.
        let list = self.list(End::Parenthesis)?;
        if list.items.is_empty() {
            return Err(self.unexpected("a command"));
        }
        if !self.take(")") {
            return Err(self.unexpected("`)`"));
        }
        Ok(Compound::Subshell(list))
    }

    fn conditional(&mut self) -> Result<Compound, Issue> {
        let mut branches = Vec::new();
        let mut word = "if";
        loop {
            self.take_reserved(word)?;
            let condition = self.list(End::Words(&["then"]))?;
            self.take_reserved("then")?;
            let body = self.list(End::Words(&["elif", "else", "fi"]))?;
            branches.push((condition, body));
            self.skip_blanks();
            if self.reserved() != Some("elif") {
                break;
            }
            word = "elif";
        }
        let otherwise = if self.reserved() == Some("else") {
            self.take_reserved("else")?;
            Some(self.list(End::Words(&["fi"]))?)
        } else {
            None
        };
        self.take_reserved("fi")?;
        Ok(Compound::If { branches, otherwise })
    }

    fn repetition(&mut self, word: &str) -> Result<Compound, Issue> {
        self.take_reserved(word)?;
        let condition = self.list(End::Words(&["do"]))?;
        let body = self.body()?;
        Ok(Compound::Loop { condition, body })
    }

    /// Reads `do …; done`.
    fn body(&mut self) -> Result<List, Issue> {
        self.take_reserved("do")?;
        let body = self.list(End::Words(&["done"]))?;
        self.take_reserved("done")?;
        Ok(body)
    }

    fn enumeration(&mut self, word: &str) -> Result<Compound, Issue> {
        self.take_reserved(word)?;
        self.skip_blanks();
        if word == "for" && self.take("((") {
            let header = self.arithmetic()?;
            self.skip_blanks();
            self.take(";");
            self.line_breaks()?;
            let body = self.body()?;
            return Ok(Compound::ArithmeticFor { header, body });
        }
        let name = self.plain_word("the name of a variable")?;
        if !is_name(&name) {
            return Err(self.unexpected("the name of a variable"));
        }
        self.line_breaks()?;
        let mut words = Vec::new();
        if self.reserved() == Some("in") {
            self.take_reserved("in")?;
            self.skip_blanks();
            while let Some(word) = self.word(Arrays::Refused)? {
                words.push(word);
                self.skip_blanks();
            }
            if !matches!(self.peek(), Some(b';' | b'\n')) || self.sees(";;") {
                return Err(self.unexpected("`;` or a line break"));
            }
        }
        self.skip_blanks();
        self.take(";");
        self.line_breaks()?;
        let body = self.body()?;
        Ok(Compound::For { name, words, body })
    }

    fn case(&mut self) -> Result<Compound, Issue> {
        self.take_reserved("case")?;
        self.skip_blanks();
        let Some(subject) = self.word(Arrays::Refused)? else { return Err(self.unexpected("a word")) };
        self.line_breaks()?;
        self.take_reserved("in")?;
        let mut arms = Vec::new();
        loop {
            self.line_breaks()?;
            if self.reserved() == Some("esac") {
                break;
            }
            let patterns = self.patterns()?;
            let list = self.list(End::Arm)?;
            arms.push((patterns, list));
            self.skip_blanks();
            if !(self.take(";;&") || self.take(";;") || self.take(";&")) {
                break;
            }
        }
        self.take_reserved("esac")?;
        Ok(Compound::Case { subject, arms })
    }

    /// Reads `a | b)` with or without a parenthesis in front.
    fn patterns(&mut self) -> Result<Vec<Word>, Issue> {
        self.take("(");
        let mut patterns = Vec::new();
        loop {
            self.skip_blanks();
            match self.word(Arrays::Refused)? {
                Some(word) => patterns.push(word),
                None => return Err(self.unexpected("a pattern")),
            }
            self.skip_blanks();
            if self.take(")") {
                return Ok(patterns);
            }
            if self.sees("||") || !self.take("|") {
                return Err(self.unexpected("`|` or `)`"));
            }
        }
    }

    fn named_function(&mut self) -> Result<Command, Issue> {
        self.take_reserved("function")?;
        self.skip_blanks();
        let at = self.at;
        let name = self.plain_word("the name of the function")?;
        self.skip_blanks();
        if self.take("(") {
            self.skip_blanks();
            if !self.take(")") {
                return Err(self.unexpected("`)`"));
            }
        }
        self.function(Word { parts: Vec::from([Part::Bare(name)]), at })
    }

    /// Reads a word without quotes or expansions.
    fn plain_word(&mut self, expected: &str) -> Result<String, Issue> {
        match self.word(Arrays::Refused)?.map(|word| word.parts) {
            Some(parts) => match parts.as_slice() {
                [Part::Bare(text)] => Ok(text.clone()),
                _ => Err(self.unexpected(expected)),
            },
            None => Err(self.unexpected(expected)),
        }
    }
}
