//! The table of actions: what each tool, command, option and path means.

use alloc::{
    borrow::Cow,
    collections::{BTreeMap, btree_map::Entry},
    format,
    string::String,
    vec::Vec,
};

use countersign_canon::{
    Issue, Json, List, NonEmpty, Pointer, Reader, Text, Wire as _, choice, record, typed_hash,
};

use crate::{Kind, codes};

typed_hash! {
    /// The hash of a table of actions: what it says, not how its file is laid out.
    pub TableHash
}

/// A name, an option or a pattern in the table.
pub type Label = Text<1, 200>;
/// A list in the table.
pub type Labels = List<Label, 1, 1000>;

choice! {
    /// The name of the table's language.
    pub enum TableSchema {
        /// The first version.
        V1 = "countersign.actions.v1",
    }
}

choice! {
    /// An agent's host, whose tool calls are judged.
    pub enum Host {
        /// Claude Code.
        ClaudeCode = "claude-code",
        /// Codex.
        Codex = "codex",
        /// Gemini CLI.
        Gemini = "gemini",
    }
}

choice! {
    /// What a tool of a host does.
    pub enum Act {
        /// Runs a command line.
        Shell = "shell",
        /// Reads files.
        Read = "read",
        /// Writes a file whole.
        Write = "write",
        /// Replaces one text of a file by another.
        Edit = "edit",
        /// Replaces several texts of a file.
        Edits = "edits",
        /// Applies a patch.
        Patch = "patch",
        /// Asks the network for something.
        Fetch = "fetch",
        /// Calls a tool of an MCP server.
        Mcp = "mcp",
        /// Starts another agent.
        Spawn = "spawn",
        /// Speaks to an agent that is at work.
        Steer = "steer",
        /// Changes what the session may do.
        SetMode = "set_mode",
        /// Changes the settings of the host, which is as severe as writing its files.
        Settings = "settings",
        /// Types into a command that runs.
        Type = "type",
        /// Keeps the host's own books: lists, plans, questions.
        Note = "note",
    }
}

choice! {
    /// What a field of a tool's input holds.
    pub enum Field {
        /// A command line, or the words of one.
        Command = "command",
        /// The folder in which a command line runs.
        Cwd = "cwd",
        /// A file or folder.
        Path = "path",
        /// What a file will hold.
        Content = "content",
        /// The text that is replaced.
        Old = "old",
        /// The text that takes its place.
        New = "new",
        /// Whether every place is meant.
        All = "all",
        /// The list of replacements.
        Edits = "edits",
        /// A patch.
        Patch = "patch",
        /// An address.
        Url = "url",
        /// What is searched for.
        Query = "query",
        /// Which files below the path are meant.
        Filter = "filter",
        /// What an agent is told.
        Prompt = "prompt",
        /// What sort of agent is meant.
        Agent = "agent",
        /// What is typed.
        Keys = "keys",
        /// The server of an MCP tool.
        Server = "server",
    }
}

choice! {
    /// What the words after a command are.
    pub enum Role {
        /// Text without meaning for the judgement.
        Text = "text",
        /// Paths that are read.
        Read = "read",
        /// Paths that are written.
        Write = "write",
        /// Paths that are deleted.
        Delete = "delete",
        /// Paths that are read, the last one written.
        Copy = "copy",
        /// A file of code, then text.
        Script = "script",
        /// Code of this command.
        Code = "code",
        /// A command line for the shell.
        Line = "line",
        /// A command with its arguments, which run as they stand.
        Command = "command",
        /// A command with its arguments, to which more are added.
        Extended = "extended",
        /// A command with its arguments, up to `;` or `+`.
        Enclosed = "enclosed",
        /// The name of a sub-command, then its arguments.
        Subcommand = "subcommand",
        /// A folder in which the rest happens.
        Folder = "folder",
        /// A program of sed, then paths.
        Sed = "sed",
        /// A program of sed, then paths that are written.
        SedWrite = "sed_write",
        /// A program of awk, then paths.
        Awk = "awk",
        /// A patch in the format of apply_patch.
        Patch = "patch",
        /// Names of variables with their values.
        Variables = "variables",
        /// What links lead to, and the links.
        Link = "link",
        /// A file that is written; with a colon it is one of another machine.
        Archive = "archive",
        /// The end of a file's name.
        Suffix = "suffix",
        /// A text that is sent away, or with `@` the file that holds it.
        Sent = "sent",
        /// One more operand.
        Operand = "operand",
        /// Nothing: the command takes no operands.
        Nothing = "nothing",
    }
}

choice! {
    /// Whether an option has a value.
    pub enum TakesValue {
        /// It has none.
        No = "no",
        /// It has one, attached or as the next word.
        Required = "required",
        /// It may have one, attached.
        Optional = "optional",
    }
}

choice! {
    /// What an option that is not in the table means.
    pub enum OtherOptions {
        /// Nothing: no option of the command does harm but those listed.
        Harmless = "harmless",
        /// The command is unknown.
        Unknown = "unknown",
    }
}

choice! {
    /// How many operands a command has before those that are judged.
    pub enum Skip {
        /// One.
        One = "one",
        /// Two.
        Two = "two",
    }
}

choice! {
    /// Where options may stand.
    pub enum Order {
        /// Only before the first operand; elsewhere they are anywhere before `--`.
        OptionsFirst = "options_first",
    }
}

choice! {
    /// What a command takes its operands for.
    pub enum Evaluates {
        /// Names of variables, whose indices the shell expands.
        Names = "names",
    }
}

choice! {
    /// How options are written.
    pub enum Spelling {
        /// `-abc` is three options, `--word` is one.
        Letters = "letters",
        /// `-word` is one option.
        Words = "words",
        /// As letters, also where the first word lacks its dash: `xzf`.
        Bundled = "bundled",
    }
}

record! {
    /// The table of actions as a document.
    pub struct TableDocument {
        /// The name of the language.
        schema: TableSchema,
        /// The tools of each host.
        tools: BTreeMap<Host, List<Tool, 0, 500>>,
        /// What reading, writing and deleting these paths means; the first that fits counts.
        paths: List<PathRule, 0, 500>,
        /// Variables that change what a command does.
        variables: List<Label, 0, 500>,
        /// Folders in which a command is the one its name says.
        folders: List<Label, 0, 50>,
        /// The commands.
        commands: List<CommandRule, 0, 2000>,
    }
}

record! {
    /// What a tool of a host does.
    pub struct Tool {
        /// Its names.
        names: Labels,
        /// What it does.
        act: Act,
        /// Where in its input the parts of the act are.
        fields: Option<BTreeMap<Field, Labels>>,
        /// What of its input does not belong to the act.
        ignore: Option<Labels>,
    }
}

record! {
    /// What happens at a path.
    pub struct PathRule {
        /// Patterns: from `/` or `**` on the whole path, else inside the workspace.
        globs: Labels,
        /// What reading it is.
        read: Option<Kind>,
        /// What writing it is.
        write: Option<Kind>,
        /// What deleting it is.
        delete: Option<Kind>,
    }
}

record! {
    /// What a command does.
    pub struct CommandRule {
        /// Its names.
        names: Labels,
        /// What it is at least.
        kind: Kind,
        /// What it is at least if it has operands.
        with_operands: Option<Kind>,
        /// What it is at least if it has two operands or more.
        with_more: Option<Kind>,
        /// What its operands are.
        operands: Option<Role>,
        /// How many operands stand before those; none if left out.
        skip: Option<Skip>,
        /// What an operand with this start is, in whatever case; with a `*` in it the whole operand has to fit.
        prefixes: Option<List<PrefixRule, 1, 50>>,
        /// What it takes its operands for, so that it runs what they hold.
        evaluates: Option<Evaluates>,
        /// How its options are written.
        spelling: Option<Spelling>,
        /// Where its options may stand.
        order: Option<Order>,
        /// What an option that is not listed means.
        others: Option<OtherOptions>,
        /// Its options.
        options: Option<List<OptionRule, 1, 200>>,
        /// Its sub-commands.
        commands: Option<List<CommandRule, 1, 500>>,
    }
}

record! {
    /// What an operand with this start is.
    pub struct PrefixRule {
        /// The start.
        prefix: Label,
        /// What it is.
        kind: Kind,
    }
}

record! {
    /// What an option does.
    pub struct OptionRule {
        /// Its names.
        names: Labels,
        /// Whether it has a value; if left out, no.
        value: Option<TakesValue>,
        /// What its value is.
        role: Option<Role>,
        /// What the command is at least.
        kind: Option<Kind>,
        /// Values with which that does not hold.
        unless: Option<Labels>,
        /// What the command is instead of its own kind.
        instead: Option<Kind>,
        /// What the operands are.
        operands: Option<Role>,
    }
}

/// What stands in a line of a command where that of a tool has its host.
const NO_HOST: &str = "-";

/// A checked table of actions.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    pub(crate) tools: BTreeMap<(Host, String), Tool>,
    pub(crate) paths: Vec<PathRule>,
    pub(crate) variables: Vec<Label>,
    pub(crate) folders: Vec<Label>,
    commands: Commands,
    /// Tools and commands that are read when they are asked for: see [`Table::from_lines`].
    unread: Unread,
}

/// Rules that were not read.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Unread {
    /// For each rule a line: its host, its names, a tab, and where it begins and ends.
    heads: &'static str,
    /// The rules.
    rules: &'static str,
}

impl Unread {
    /// The rule of what has this name. Byte by byte: the words are short, and there are a thousand of them.
    fn find(&self, host: &str, name: &str) -> Option<Json<'static>> {
        let has_it = |head: &&[u8]| {
            let names = head.split(|byte| *byte == b'\t').next().unwrap_or_default();
            let mut words = names.split(|byte| *byte == b' ');
            words.next() == Some(host.as_bytes()) && words.any(|known| known == name.as_bytes())
        };
        let head = self.heads.as_bytes().split(|byte| *byte == b'\n').find(has_it)?;
        let (_, place) = core::str::from_utf8(head).ok()?.split_once('\t')?;
        let (start, end) = place.split_once(' ')?;
        let rule = self.rules.get(start.parse().ok()?..end.parse().ok()?)?;
        Json::parse(rule.as_bytes()).ok()
    }
}

/// Commands by name.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Commands {
    rules: Vec<(CommandRule, Self)>,
    places: BTreeMap<String, usize>,
}

impl Table {
    /// Checks a table of actions.
    ///
    /// # Errors
    ///
    /// Fails with every problem, in order.
    pub fn load(json: &Json<'_>) -> Result<Self, NonEmpty<Issue>> {
        let document: TableDocument = Reader::read_json(json, codes::ACTION_TABLE_INVALID)?;
        let mut issues = Vec::new();
        let mut tools = BTreeMap::new();
        for (host, of_host) in document.tools {
            for (index, tool) in of_host.into_vec().into_iter().enumerate() {
                let pointer = Pointer::root().key("tools").key(host.as_str()).index(index);
                for name in &*tool.names {
                    if tools.insert((host, String::from(name.as_str())), tool.clone()).is_some() {
                        issues.push(repeated(name, &pointer, json));
                    }
                }
            }
        }
        let pointer = Pointer::root().key("commands");
        let commands = Commands::gather(document.commands.into_vec(), &pointer, json, &mut issues);
        match NonEmpty::new(issues) {
            Some(issues) => Err(issues),
            None => Ok(Self {
                tools,
                paths: document.paths.into_vec(),
                variables: document.variables.into_vec(),
                folders: document.folders.into_vec(),
                commands,
                unread: Unread::default(),
            }),
        }
    }

    /// The table as lines: the table without its tools and commands; then for each of these its host or a dash, its names and
    /// where its rule begins and ends; an empty line, and the rules.
    ///
    /// # Errors
    ///
    /// Fails with every problem of the document, in order.
    pub fn to_lines(json: &Json<'_>) -> Result<String, NonEmpty<Issue>> {
        Self::load(json)?;
        let mut document: TableDocument = Reader::read_json(json, codes::ACTION_TABLE_INVALID)?;
        let tools = core::mem::take(&mut document.tools);
        let commands = core::mem::take(&mut document.commands).into_vec();
        let (mut heads, mut rules) = (String::new(), String::new());
        let mut add = |host: &str, names: &Labels, rule: String| {
            let names: Vec<&str> = names.iter().map(Text::as_str).collect();
            let start = rules.len();
            rules.push_str(&rule);
            heads.push_str(&format!("{host} {}\t{start} {}\n", names.join(" "), rules.len()));
            rules.push('\n');
        };
        for (host, of_host) in &tools {
            of_host.iter().for_each(|tool| add(host.as_str(), &tool.names, tool.to_canonical()));
        }
        commands.iter().for_each(|rule| add(NO_HOST, &rule.names, rule.to_canonical()));
        Ok(format!("{}\n{heads}\n{rules}", document.to_canonical()))
    }

    /// A table from its lines, which [`Table::to_lines`] has checked: a tool or a command is read when it is asked for, so
    /// that what judges one call does not read the whole table first. A rule that cannot be read stands for none.
    ///
    /// # Errors
    ///
    /// Fails if the first line is not that of a table.
    pub fn from_lines(lines: &'static str) -> Result<Self, NonEmpty<Issue>> {
        let (first, rest) = lines.split_once('\n').unwrap_or((lines, ""));
        let (heads, rules) = rest.split_once("\n\n").unwrap_or((rest, ""));
        let refused = |issue: Issue| NonEmpty::of(issue.under(codes::ACTION_TABLE_INVALID));
        let table = Self::load(&Json::parse(first.as_bytes()).map_err(refused)?)?;
        Ok(Self { unread: Unread { heads, rules }, ..table })
    }

    /// Finds a tool of a host.
    pub(crate) fn tool(&self, host: Host, name: &str) -> Option<Cow<'_, Tool>> {
        if let Some(tool) = self.tools.get(&(host, name.into())) {
            return Some(Cow::Borrowed(tool));
        }
        let json = self.unread.find(host.as_str(), name)?;
        Reader::read_json(&json, codes::ACTION_TABLE_INVALID).ok().map(Cow::Owned)
    }

    /// Finds a command: its rule, and its sub-commands.
    pub(crate) fn command(&self, name: &str) -> Option<Cow<'_, (CommandRule, Commands)>> {
        if let Some(place) = self.commands.places.get(name) {
            return self.commands.rules.get(*place).map(Cow::Borrowed);
        }
        let json = self.unread.find(NO_HOST, name)?;
        let rule = Reader::read_json(&json, codes::ACTION_TABLE_INVALID).ok()?;
        let mut read = Commands::gather([rule].into(), &Pointer::root(), &json, &mut Vec::new());
        read.rules.pop().map(Cow::Owned)
    }

    /// What a table says, as a hash.
    ///
    /// # Errors
    ///
    /// Fails with every problem of the document, in order.
    pub fn hash(json: &Json<'_>) -> Result<TableHash, NonEmpty<Issue>> {
        let document: TableDocument = Reader::read_json(json, codes::ACTION_TABLE_INVALID)?;
        Ok(TableHash::of_json(&document.write()))
    }
}

impl Commands {
    /// Finds a sub-command.
    pub(crate) fn find(&self, name: &str) -> Option<(&CommandRule, &Self)> {
        let place = self.places.get(name)?;
        self.rules.get(*place).map(|(rule, commands)| (rule, commands))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The depth of this recursion is that of the document.
    fn gather(rules: Vec<CommandRule>, pointer: &Pointer, json: &Json<'_>, issues: &mut Vec<Issue>) -> Self {
        let mut commands = Self::default();
        for (index, mut rule) in rules.into_iter().enumerate() {
            let pointer = pointer.index(index);
            for name in &*rule.names {
                match commands.places.entry(name.as_str().into()) {
                    Entry::Vacant(entry) => {
                        entry.insert(index);
                    }
                    Entry::Occupied(_) => issues.push(repeated(name, &pointer, json)),
                }
            }
            let inner = rule.commands.take().map_or_else(Vec::new, List::into_vec);
            let inner = Self::gather(inner, &pointer.key("commands"), json, issues);
            commands.rules.push((rule, inner));
        }
        commands
    }
}

fn repeated(name: &Label, pointer: &Pointer, json: &Json<'_>) -> Issue {
    let issue =
        Issue::new(codes::ACTION_TABLE_REPEATED, format!("`{}` is in the table already", name.as_str()));
    let issue = issue
        .with_expected("every name once")
        .with_pointer(pointer.clone())
        .under(codes::ACTION_TABLE_INVALID);
    match pointer.find(json) {
        Some(place) => issue.with_offset(place.offset()),
        None => issue,
    }
}
