//! From a word to the arguments that a command gets, as far as they can be known beforehand.

use alloc::{string::String, vec::Vec};

use crate::shell::{Part, Word};

/// LIMIT: braces can double with each pair; more than this is not followed.
const ALTERNATIVES_MAX: usize = 256;
/// LIMIT: arguments that the braces of one command may become; those of the words behind are not followed.
const ARGUMENTS_MAX: usize = 4096;
/// LIMIT: pairs of braces in one word, each of which is one level of recursion.
const GROUPS_MAX: usize = 32;

/// One argument of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Argument {
    /// The text as far as it is known: all of it, or what stands before the first expansion.
    pub(super) text: String,
    pub(super) form: Form,
    /// Whether a `~` in front stands for the user's own folder.
    pub(super) has_tilde: bool,
}

/// How much of an argument is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The text is the argument.
    Exact,
    /// The text is a pattern for names of files.
    Glob,
    /// The text is only how the argument starts.
    Open,
    /// The argument is data that never looks like an option.
    Data,
}

impl Argument {
    pub(super) fn exact(text: &str) -> Self {
        Self { text: text.into(), form: Form::Exact, has_tilde: false }
    }

    /// An argument of which nothing is known.
    pub(super) fn open() -> Self {
        Self { form: Form::Open, ..Self::exact("") }
    }

    /// The whole text, if it is known.
    pub(super) fn known(&self) -> Option<&str> {
        (self.form == Form::Exact && !self.has_tilde).then_some(self.text.as_str())
    }

    /// Whether the command could take it for an option.
    pub(super) fn may_be_option(&self) -> bool {
        match self.form {
            Form::Exact | Form::Glob => self.text.len() > 1 && self.text.starts_with('-'),
            Form::Open => self.text.is_empty() || self.text.starts_with('-'),
            Form::Data => false,
        }
    }

    /// The same argument where `{}` is replaced by data.
    pub(super) fn with_placeholder(&self, form: Form) -> Self {
        match self.text.split_once("{}") {
            Some((before, _)) => Self { text: before.into(), form, has_tilde: self.has_tilde },
            None => self.clone(),
        }
    }
}

/// One sign of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Bare(char),
    Quoted(char),
    /// Something that is only known when the command runs.
    Open,
    /// Quotes around nothing, which still make an argument.
    Empty,
}

/// The arguments that a word becomes.
pub(super) fn arguments(word: &Word) -> Vec<Argument> {
    match alternatives(&signs(word), GROUPS_MAX) {
        Some(alternatives) => alternatives.iter().map(|signs| argument(signs)).collect(),
        None => Vec::from([Argument::open()]),
    }
}

/// The arguments of a whole command; a name that comes out of braces is not a literal.
pub(super) fn all_arguments(words: &[Word]) -> Vec<Argument> {
    let mut given: Vec<Argument> = Vec::new();
    for word in words {
        if given.len() > ARGUMENTS_MAX {
            given.push(Argument::open());
        } else {
            given.extend(arguments(word));
        }
    }
    let is_single = words.first().is_none_or(|name| arguments(name).len() == 1);
    if let Some(name) = given.first_mut().filter(|_| !is_single) {
        name.form = Form::Open;
    }
    given
}

/// The one argument that a word becomes where the shell does not expand braces.
pub(super) fn single(word: &Word) -> Argument {
    argument(&signs(word))
}

fn signs(word: &Word) -> Vec<Sign> {
    let mut signs = Vec::new();
    for part in &word.parts {
        match part {
            Part::Bare(text) => signs.extend(text.chars().map(Sign::Bare)),
            Part::Quoted(text) if text.is_empty() => signs.push(Sign::Empty),
            Part::Quoted(text) => signs.extend(text.chars().map(Sign::Quoted)),
            Part::Variable { .. }
            | Part::Substitution(_)
            | Part::Process(_)
            | Part::Arithmetic(_)
            | Part::Array(_) => signs.push(Sign::Open),
        }
    }
    signs
}

/// Expands the braces of a word; nothing if there are too many.
fn alternatives(signs: &[Sign], groups_max: usize) -> Option<Vec<Vec<Sign>>> {
    let Some(braces) = Braces::find(signs) else {
        return Some(Vec::from([signs.to_vec()]));
    };
    let groups_max = groups_max.checked_sub(1)?;
    let mut expanded = Vec::new();
    for choice in braces.choices {
        // The choice and what follows may hold more braces.
        let whole: Vec<Sign> = choice.iter().chain(braces.after).copied().collect();
        for rest in alternatives(&whole, groups_max)? {
            expanded.push(braces.before.iter().copied().chain(rest).collect());
            if expanded.len() > ALTERNATIVES_MAX {
                return None;
            }
        }
    }
    Some(expanded)
}

/// The first pair of braces that the shell expands.
struct Braces<'s> {
    before: &'s [Sign],
    choices: Vec<Vec<Sign>>,
    after: &'s [Sign],
}

impl<'s> Braces<'s> {
    fn find(signs: &'s [Sign]) -> Option<Self> {
        let starts =
            signs.iter().enumerate().filter(|(_, sign)| **sign == Sign::Bare('{')).map(|(start, _)| start);
        // LIMIT: a text of open braces alone would be searched once from each.
        starts.take(64).find_map(|start| Self::at(signs, start))
    }

    fn at(signs: &'s [Sign], start: usize) -> Option<Self> {
        let mut depth = 0_usize;
        let mut choices: Vec<Vec<Sign>> = Vec::from([Vec::new()]);
        for (index, sign) in signs.iter().enumerate().skip(start.saturating_add(1)) {
            match sign {
                Sign::Bare(',') if depth == 0 => {
                    choices.push(Vec::new());
                    continue;
                }
                Sign::Bare('}') if depth == 0 => {
                    let choices = Self::meaning(choices)?;
                    let before = signs.get(..start)?;
                    return Some(Self { before, choices, after: signs.get(index.saturating_add(1)..)? });
                }
                Sign::Bare('{') => depth = depth.saturating_add(1),
                Sign::Bare('}') => depth = depth.saturating_sub(1),
                Sign::Bare(_) | Sign::Quoted(_) | Sign::Open | Sign::Empty => (),
            }
            choices.last_mut()?.push(*sign);
        }
        None
    }

    /// Several choices stay; one with `..` in it is a range, of which only the place is known.
    fn meaning(choices: Vec<Vec<Sign>>) -> Option<Vec<Vec<Sign>>> {
        let is_range =
            |choice: &[Sign]| choice.windows(2).any(|pair| pair == [Sign::Bare('.'), Sign::Bare('.')]);
        match choices.as_slice() {
            [choice] if is_range(choice) => Some(Vec::from([Vec::from([Sign::Open])])),
            [_] => None,
            _ => Some(choices),
        }
    }
}

fn argument(signs: &[Sign]) -> Argument {
    let mut text = String::new();
    let mut form = Form::Exact;
    let mut is_in_class = false;
    for sign in signs {
        match sign {
            Sign::Bare(letter) => {
                // A bracket alone, as in `[ -f x ]`, is itself.
                is_in_class = is_in_class || *letter == '[';
                if matches!(letter, '*' | '?') || is_in_class && *letter == ']' {
                    form = Form::Glob;
                }
                text.push(*letter);
            }
            Sign::Quoted(letter) => text.push(*letter),
            Sign::Empty => (),
            Sign::Open => {
                form = Form::Open;
                break;
            }
        }
    }
    let has_tilde = signs.first() == Some(&Sign::Bare('~'));
    if has_tilde && !matches!(signs.get(1), None | Some(Sign::Bare('/'))) {
        // `~user`, `~+`: another folder that is not known.
        return Argument::open();
    }
    Argument { text, form, has_tilde }
}
