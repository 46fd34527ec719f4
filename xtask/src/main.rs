//! Effect: arguments and terminal. The house's own commands: `cargo xtask codegen [--check]` and `cargo xtask tidy`.
#![expect(clippy::disallowed_methods, reason = "Effect: arguments, terminal")]

mod checkout;
mod codegen;
mod tidy;

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use crate::checkout::{CheckoutError, Tree};

const USAGE: &str = "\
usage: cargo xtask codegen [--check]   write the generated files, or compare them
       cargo xtask tidy                check what compiler and lints cannot
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let answer = match words.as_slice() {
        ["codegen"] => codegen::write(),
        ["codegen", "--check"] => Tree::load().map(|tree| codegen::check(&tree)),
        ["tidy"] => Tree::load().map(|tree| tidy::run(&tree)),
        _ => Ok(Answer { text: USAGE.to_owned(), exit: ExitCode::from(2) }),
    };
    let Answer { text, exit } = answer.unwrap_or_else(|error: CheckoutError| Answer {
        text: format!("error: {error}\n"),
        exit: ExitCode::from(2),
    });
    match io::stdout().write_all(text.as_bytes()) {
        Ok(()) => exit,
        Err(_) => ExitCode::from(2),
    }
}

/// What a command has to say, and how the program ends.
#[derive(Debug)]
struct Answer {
    text: String,
    exit: ExitCode,
}

impl Answer {
    /// Good if there are no complaints, otherwise all of them.
    fn of(complaints: &[String], good: &str) -> Self {
        if complaints.is_empty() {
            return Self { text: format!("{good}\n"), exit: ExitCode::SUCCESS };
        }
        Self { text: format!("{}\n", complaints.join("\n")), exit: ExitCode::FAILURE }
    }
}
