//! The syntax tree of a command line.

use alloc::{boxed::Box, string::String, vec::Vec};

/// A whole command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    /// The commands.
    pub list: List,
    /// The here-documents, which redirections name by place.
    pub here_documents: Vec<Word>,
}

/// Commands one after another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct List {
    /// The commands.
    pub items: Vec<Item>,
}

/// One part of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The first pipeline.
    pub first: Pipeline,
    /// The others, each run if what came before it succeeded or failed.
    pub rest: Vec<(Condition, Pipeline)>,
    /// Whether the shell goes on without waiting.
    pub is_background: bool,
}

/// When the next pipeline of an item runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// `&&`
    Success,
    /// `||`
    Failure,
}

/// Commands of which each reads what the one before it writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pipeline {
    /// Whether success and failure are exchanged.
    pub is_negated: bool,
    /// The commands, at least one unless the pipeline is only timed or negated.
    pub commands: Vec<Command>,
}

/// One command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// A name with arguments.
    Simple(Simple),
    /// A construct with commands inside.
    Compound(Box<Compound>, Vec<Redirection>),
    /// The definition of a function.
    Function {
        /// Its name.
        name: Word,
        /// What it does.
        body: Box<Self>,
    },
}

/// A simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Simple {
    /// The assignments in front.
    pub assignments: Vec<Assignment>,
    /// The name and the arguments.
    pub words: Vec<Word>,
    /// Where it reads and writes.
    pub redirections: Vec<Redirection>,
    /// The byte where it starts.
    pub at: usize,
}

/// An assignment to a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The variable, without its index.
    pub name: String,
    /// The whole word, index and value.
    pub word: Word,
}

/// Where a command reads or writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// The number in front, or `{name}`.
    pub descriptor: String,
    /// What it does.
    pub operator: Operator,
    /// What with.
    pub target: Target,
    /// The byte where it starts.
    pub at: usize,
}

/// What a redirection does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `<`
    Read,
    /// `>`, `>|`, `&>`
    Write,
    /// `>>`, `&>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `<&`
    DuplicateInput,
    /// `>&`
    DuplicateOutput,
    /// `<<`, `<<-`
    HereDocument,
    /// `<<<`
    HereString,
}

/// What a redirection reads or writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A file, a descriptor or a text.
    Word(Word),
    /// The here-document with this place in [`Tree::here_documents`].
    HereDocument(usize),
}

/// A construct with commands inside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Compound {
    /// `{ …; }`
    Group(List),
    /// `( … )`
    Subshell(List),
    /// `if …; then …; elif …; then …; else …; fi`
    If {
        /// Conditions with what follows them.
        branches: Vec<(List, List)>,
        /// What follows if none of them holds.
        otherwise: Option<List>,
    },
    /// `while …; do …; done`, `until …; do …; done`
    Loop {
        /// The condition.
        condition: List,
        /// What is repeated.
        body: List,
    },
    /// `for x in …; do …; done`, `select x in …; do …; done`
    For {
        /// The variable.
        name: String,
        /// What it takes on.
        words: Vec<Word>,
        /// What is repeated.
        body: List,
    },
    /// `for ((…; …; …)); do …; done`
    ArithmeticFor {
        /// The three expressions as one text.
        header: Word,
        /// What is repeated.
        body: List,
    },
    /// `case … in …) …;; esac`
    Case {
        /// What is compared.
        subject: Word,
        /// The patterns with what follows them.
        arms: Vec<(Vec<Word>, List)>,
    },
    /// `(( … ))`
    Arithmetic(Word),
    /// `[[ … ]]`, as its operands
    Test(Vec<Word>),
}

/// A word as it is written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    /// Its parts from left to right.
    pub parts: Vec<Part>,
    /// The byte where it starts.
    pub at: usize,
}

impl Word {
    /// The word where the shell takes it for an expression.
    pub(crate) fn evaluated(self) -> Self {
        let at = self.at;
        Self { parts: Vec::from([Part::Arithmetic(self)]), at }
    }
}

/// One part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Text without quotes, in which braces, tildes and globs have a meaning.
    Bare(String),
    /// Text in quotes, which stands for itself.
    Quoted(String),
    /// A variable, with the words inside its braces.
    Variable {
        /// Its name.
        name: String,
        /// The words inside its braces: index, default, pattern.
        inner: Vec<Word>,
        /// Whether its value is expanded once more (`${x@P}`, `${!x}`).
        is_evaluated: bool,
    },
    /// `$(…)` or `` `…` ``
    Substitution(List),
    /// `<(…)` or `>(…)`
    Process(List),
    /// `$((…))`, as its text
    Arithmetic(Word),
    /// `(…)` after `name=`
    Array(Vec<Word>),
}
