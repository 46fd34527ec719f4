//! The grammar: what is read, in which shape, and what is refused where.

use alloc::{format, string::String, vec::Vec};

use super::*;

/// The tree in one line: lists in brackets, words by their parts, quotes shown.
fn shape(tree: &Tree) -> String {
    list(&tree.list)
}

fn list(list: &List) -> String {
    let items: Vec<String> = list.items.iter().map(item).collect();
    format!("[{}]", items.join("; "))
}

fn item(item: &Item) -> String {
    let mut text = pipeline(&item.first);
    for (condition, next) in &item.rest {
        text.push_str(if *condition == Condition::Success { " && " } else { " || " });
        text.push_str(&pipeline(next));
    }
    if item.is_background { format!("{text} &") } else { text }
}

fn pipeline(pipeline: &Pipeline) -> String {
    let commands: Vec<String> = pipeline.commands.iter().map(command).collect();
    format!("{}{}", if pipeline.is_negated { "! " } else { "" }, commands.join(" | "))
}

fn command(command: &Command) -> String {
    match command {
        Command::Simple(simple) => {
            let assignments =
                simple.assignments.iter().map(|found| format!("{}:={}", found.name, word(&found.word)));
            let words = simple.words.iter().map(word);
            let redirections = simple.redirections.iter().map(redirection);
            assignments.chain(words).chain(redirections).collect::<Vec<_>>().join(" ")
        }
        Command::Compound(inner, redirections) => {
            let redirections: Vec<String> = redirections.iter().map(redirection).collect();
            [compound(inner)].into_iter().chain(redirections).collect::<Vec<_>>().join(" ")
        }
        Command::Function { name, body } => format!("function {} {}", word(name), self::command(body)),
    }
}

fn compound(compound: &Compound) -> String {
    let words = |words: &[Word]| words.iter().map(word).collect::<Vec<_>>().join(" ");
    match compound {
        Compound::Group(inner) => format!("group{}", list(inner)),
        Compound::Subshell(inner) => format!("subshell{}", list(inner)),
        Compound::If { branches, otherwise } => {
            let branches: Vec<String> = branches
                .iter()
                .map(|(condition, body)| format!("{}{}", list(condition), list(body)))
                .collect();
            format!("if{}else{}", branches.join("elif"), otherwise.as_ref().map(list).unwrap_or_default())
        }
        Compound::Loop { condition, body } => format!("loop{}{}", list(condition), list(body)),
        Compound::For { name, words: of, body } => format!("for {name} ({}){}", words(of), list(body)),
        Compound::ArithmeticFor { header, body } => format!("for (({})){}", word(header), list(body)),
        Compound::Case { subject, arms } => {
            let arms: Vec<String> =
                arms.iter().map(|(patterns, body)| format!("({}){}", words(patterns), list(body))).collect();
            format!("case {} {}", word(subject), arms.join(""))
        }
        Compound::Arithmetic(inner) => format!("(({}))", word(inner)),
        Compound::Test(operands) => format!("test({})", words(operands)),
    }
}

fn redirection(redirection: &Redirection) -> String {
    let target = match &redirection.target {
        Target::Word(target) => word(target),
        Target::HereDocument(place) => format!("#{place}"),
    };
    format!("{:?}:{target}", redirection.operator)
}

fn word(word: &Word) -> String {
    word.parts.iter().map(part).collect::<Vec<_>>().join("+")
}

fn part(part: &Part) -> String {
    match part {
        Part::Bare(text) => text.clone(),
        Part::Quoted(text) => format!("{text:?}"),
        Part::Variable { name, inner, is_evaluated } => {
            let inner: Vec<String> = inner.iter().map(word).collect();
            format!("${}{name}{{{}}}", if *is_evaluated { "!" } else { "" }, inner.join(","))
        }
        Part::Substitution(inner) => format!("${}", list(inner)),
        Part::Process(inner) => format!("<{}", list(inner)),
        Part::Arithmetic(inner) => format!("$(({}))", word(inner)),
        Part::Array(words) => format!("({})", words.iter().map(self::word).collect::<Vec<_>>().join(" ")),
    }
}

#[track_caller]
fn reads(text: &str, expected: &str) {
    match parse_line(text) {
        Ok(tree) => assert_eq!(shape(&tree), expected, "{text}"),
        Err(issue) => panic!("{text}: {} at {:?}: {issue}", issue.code, issue.offset),
    }
}

#[track_caller]
fn refuses(text: &str, code: &str, at: usize) {
    let issue = parse_line(text).expect_err(text);
    assert_eq!((issue.code.as_str(), issue.offset), (code, Some(at)), "{text}: {issue}");
}

#[test]
fn lists_and_pipelines() {
    reads("", "[]");
    reads(" # nothing", "[]");
    reads("a b; c", "[a b; c]");
    reads("a && b || c & d", "[a && b || c &; d]");
    reads("a | b |& c", "[a | b | c]");
    reads("a\n\nb # c\nd", "[a; b; d]");
    reads("! time -p a", "[! a]");
    reads("a &&\n b", "[a && b]");
    reads("a \\\n b", "[a b]");
    reads("a &\\\n& b", "[a && b]");
}

#[test]
fn quotes() {
    reads(r#"a 'b c' "d e" f\ g"#, r#"[a "b c" "d e" f+" "+g]"#);
    reads(r#""r"m r''m \rm"#, r#"["r"+m r+""+m "r"+m]"#);
    reads(r"$'\x72m' $'a\tb\'' $'\u00e9\101'", r#"["rm" "a\tb'" "éA"]"#);
    reads(r#"$"a" "a\$b\c\"" "" "#, r#"["a" "a$b\\c\"" ""]"#);
    reads("r\\\nm 'a\\\nb'", r#"[rm "a\\\nb"]"#);
}

#[test]
fn expansions() {
    reads(
        "$a ${b} ${c:-d} ${e[1]} ${#f} ${!g} ${h@P} $1 $?",
        "[$a{} $b{} $c{-d} $e{$((1))} $#{} $!g{} $!h{@P} $1{} $?{}]",
    );
    reads("$(a $(b)) `c \\`d\\`` \"`e`\"", "[$[a $[b]] $[c $[d]] \"\"+$[e]]");
    reads("$((1+$(a))) $( (b) ) $((c) | d)", "[$((\"1+\"+$[a])) $[subshell[b]] $[subshell[c] | d]]");
    reads("<(a) b>(c)", "[<[a] b+<[c]]");
    reads("${a:-$(b)} \"${c:-$(d)}\"", "[$a{-+$[b]} \"\"+$c{\"-\"+$[d]}]");
}

#[test]
fn assignments() {
    reads("a=b c+=d e[1]=f g=(h 'i') j", "[a:=a=b c:=c+=d e:=e[1]=f g:=g=+(h \"i\") j]");
    reads("env a=b", "[env a=b]");
    reads("declare -a x=(1)", "[declare -a x=+(1)]");
    reads("\"a\"=b", "[\"a\"+=b]");
}

#[test]
fn redirections() {
    reads("a >b 2>&1 <c >>d &>e <<<f", "[a Write:b DuplicateOutput:1 Read:c Append:d Write:e HereString:f]");
    reads("{fd}<>a echo 2 >b", "[echo 2 ReadWrite:a Write:b]");
    reads("(a) >b", "[subshell[a] Write:b]");
}

#[test]
fn here_documents() {
    let tree = parse_line("a <<X; b <<'Y'\n$(c)\nX\n$(d)\nY\ne").unwrap();
    assert_eq!(shape(&tree), "[a HereDocument:#0; b HereDocument:#1; e]");
    let documents: Vec<String> = tree.here_documents.iter().map(word).collect();
    assert_eq!(documents, ["$[c]+\"\\n\"", "\"$(d)\\n\""]);
    let tree = parse_line("a <<-X\n\tb\\\n\tX\n\tX").unwrap();
    assert_eq!(word(&tree.here_documents[0]), "\"b\\tX\\n\"");
    reads("a \"$(b <<'X'\nit's\nX\n)\"", "[a \"\"+$[b HereDocument:#0]]");
    refuses("a <<X\nb", "SHELL_UNEXPECTED_END", 7);
    refuses("a <<X $(b\n)\nX", "SHELL_UNSUPPORTED", 10);
}

#[test]
fn constructs() {
    reads("{ a; } | (b)", "[group[a] | subshell[b]]");
    reads("if a; then b; elif c; then d; else e; fi", "[if[a][b]elif[c][d]else[e]]");
    reads("while a; do b; done", "[loop[a][b]]");
    reads("for x in a $b; do c; done", "[for x (a $b{})[c]]");
    reads("for ((i=0;i<2;i++)); do a; done", "[for ((\"i=0;i<2;i++\"))[a]]");
    reads("case $a in b|c) d;; *) ;; esac", "[case $a{} (b c)[d](*)[]]");
    reads("((a<<1)) && ((b) ; c)", "[((\"a<<1\")) && subshell[subshell[b]; c]]");
    reads("[[ -f a && ! ( b == c* || d =~ ^(e|f)$ ) ]]", "[test(a b c* d ^+\"(\"+e+\"|\"+f+\")$\")]");
    reads("f() { a; }; function g { b; }", "[function f group[a]; function g group[b]]");
    reads("echo if }", "[echo if }]");
}

#[test]
fn what_is_not_shell_is_refused_at_its_place() {
    refuses("a |", "SHELL_UNEXPECTED_END", 3);
    refuses("a && ; b", "SHELL_SYNTAX", 5);
    refuses("echo (a)", "SHELL_SYNTAX", 6);
    refuses("if a; then fi", "SHELL_SYNTAX", 11);
    refuses("a 'b", "SHELL_UNEXPECTED_END", 3);
    refuses("a \"b", "SHELL_UNEXPECTED_END", 4);
    refuses("a `b", "SHELL_UNEXPECTED_END", 4);
    refuses("a )", "SHELL_SYNTAX", 2);
    refuses("fi", "SHELL_SYNTAX", 0);
    refuses("a\0b", "SHELL_SYNTAX", 1);
    refuses("a `b ; ; c`", "SHELL_SYNTAX", 2);
}

#[test]
fn what_shells_read_differently_is_refused() {
    refuses("coproc a", "SHELL_UNSUPPORTED", 0);
    refuses("a $[1]", "SHELL_UNSUPPORTED", 2);
    refuses("a \"${b:-'$(c)'}\"", "SHELL_UNSUPPORTED", 8);
    refuses(r"$'rm\0x'", "SHELL_UNSUPPORTED", 6);
    refuses(r"$'\xff'", "SHELL_UNSUPPORTED", 6);
    refuses("a[ 1 ]=2", "SHELL_UNSUPPORTED", 2);
}

#[test]
fn limits_are_exact() {
    let nested = |levels: usize| format!("{}a{}", "{ ".repeat(levels), "; }".repeat(levels));
    let levels = (1..100).take_while(|levels| parse_line(&nested(*levels)).is_ok()).count();
    assert_eq!(levels, usize::try_from(NESTING_MAX - 1).unwrap());
    assert_eq!(parse_line(&nested(levels + 1)).unwrap_err().code, codes::SHELL_TOO_DEEP);
    let long = "a".repeat(LINE_BYTES_MAX);
    assert!(parse_line(&long).is_ok());
    assert_eq!(parse_line(&format!("{long}a")).unwrap_err().code, codes::SHELL_TOO_LARGE);
}

#[test]
fn hostile_nesting_ends_soon() {
    for text in ["$((", "((", "$(", "`", "\"${a:-", "<(", "[[ (", "{ ", "if "] {
        assert!(parse_line(&text.repeat(10_001)).is_err(), "{text}");
        assert!(parse_line(&text.repeat(41)).is_err(), "{text}");
    }
}
