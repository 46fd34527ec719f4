//! Programs of sed: whether all they do is print and change the text that passes through.

/// Whether a program neither runs commands nor opens files.
pub(super) fn is_harmless(program: &str) -> bool {
    let mut rest = program;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', ';', '{', '}']);
        if rest.is_empty() {
            return true;
        }
        rest = match skip_addresses(rest).and_then(after_command) {
            Some(rest) => rest,
            None => return false,
        };
    }
}

/// Moves past `1`, `$`, `/x/I`, `1,5`, `1~2`, `2,+3` and `!`.
fn skip_addresses(program: &str) -> Option<&str> {
    let mut rest = skip_address(program)?;
    if let Some(second) = rest.strip_prefix(',') {
        rest = skip_address(second.trim_start())?;
    }
    Some(rest.trim_start().trim_start_matches(['!', ' ']))
}

fn skip_address(program: &str) -> Option<&str> {
    let plain =
        program.trim_start_matches(|sign: char| sign.is_ascii_digit() || matches!(sign, '$' | '+' | '~'));
    let Some(pattern) = plain.strip_prefix('/') else { return Some(plain) };
    Some(after_delimiter(pattern, '/')?.trim_start_matches(['I', 'M']))
}

/// What follows the next delimiter that is not escaped, on this line.
fn after_delimiter(text: &str, delimiter: char) -> Option<&str> {
    let mut is_escaped = false;
    for (index, sign) in text.char_indices() {
        if is_escaped {
            is_escaped = false;
        } else if sign == '\\' {
            is_escaped = true;
        } else if sign == delimiter {
            return text.get(index..)?.get(delimiter.len_utf8()..);
        }
    }
    None
}

/// Moves past one command, if it is harmless.
fn after_command(program: &str) -> Option<&str> {
    let mut signs = program.chars();
    let command = signs.next()?;
    let rest = signs.as_str();
    match command {
        'p' | 'd' | '=' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | 'P' | 'D' | 'z' | 'F' | '{' | '}' => {
            Some(rest)
        }
        'q' | 'Q' | 'l' => Some(rest.trim_start_matches(|sign: char| sign == ' ' || sign.is_ascii_digit())),
        's' | 'y' => {
            let mut signs = rest.chars();
            let delimiter = signs.next().filter(|sign| !matches!(sign, '\n' | '\\'))?;
            let rest = after_delimiter(after_delimiter(signs.as_str(), delimiter)?, delimiter)?;
            let flags =
                |sign: char| sign.is_ascii_digit() || matches!(sign, 'g' | 'p' | 'i' | 'I' | 'm' | 'M');
            let rest = if command == 's' { rest.trim_start_matches(flags) } else { rest };
            let ends = rest.trim_start_matches([' ', '\t']);
            (ends.is_empty() || ends.starts_with(['\n', ';', '}', '#'])).then_some(ends)
        }
        // Text up to the end of the line, with lines joined by a backslash: nothing after it is judged.
        'a' | 'i' | 'c' => (!rest.contains('\n')).then_some(""),
        'b' | 't' | 'T' | ':' => {
            let label = rest.trim_start_matches(|sign: char| sign == ' ' || sign.is_ascii_alphanumeric());
            (label.is_empty() || label.starts_with(['\n', ';', '}'])).then_some(label)
        }
        '#' => rest.split_once('\n').map_or(Some(""), |(_, rest)| Some(rest)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
