//! What a Codex can do, found by asking it: never from documents, and what is not clear counts as absent.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

use countersign_canon::{Issue, Json, Sha256};

use super::app_server::{AppServer, Experimental, Reply};
use crate::effects::{
    child::{self, Start},
    files, folder,
};

/// A method that nobody has: the refusal lists all that there are.
const CANARY: &str = "countersign/__probe__";

/// What the app-server tells by itself and this product relies on.
const RELIED_ON_NOTIFICATIONS: [&str; 1] = ["app/list/updated"];

/// A thread that nobody has.
const NO_THREAD: &str = "00000000-0000-0000-0000-000000000000";

/// Whether a method is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    /// It is.
    Present,
    /// It is, but only for whoever opts into what is experimental.
    Gated,
    /// It is not, or nobody can tell.
    Absent,
}

/// What a probe found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    /// What `--version` says.
    pub(crate) version: Option<String>,
    /// The hash of the program, if it is a file that can be found.
    pub(crate) program: Option<Sha256>,
    /// Whether the app-server answers: without it there are workers only.
    pub(crate) has_app_server: bool,
    /// Every method that the app-server accepts.
    pub(crate) methods: BTreeSet<String>,
    /// The methods of the generated schemas: stable, and with the experimental ones.
    pub(crate) stable: BTreeSet<String>,
    pub(crate) experimental: BTreeSet<String>,
    /// What the app-server asks of its client, by the generated schema.
    pub(crate) server_requests: BTreeSet<String>,
    /// What the app-server tells its client, by the generated schema.
    pub(crate) notifications: BTreeSet<String>,
    /// The methods that this product relies on.
    pub(crate) relied_on: BTreeMap<&'static str, Presence>,
    /// What the managed settings bound threads by, if the app-server says so.
    pub(crate) requirements: Option<Json<'static>>,
    /// Features by name, and whether they are on.
    pub(crate) features: BTreeMap<String, bool>,
    /// The options of `exec` that this product relies on, as far as they are there.
    pub(crate) exec_options: Vec<&'static str>,
}

/// Probes a Codex, with settings of its own in an empty folder.
///
/// # Errors
///
/// Fails only if there is no room for those settings; a program that cannot be started has nothing.
pub(crate) fn probe(bin: &OsStr) -> Result<Snapshot, Issue> {
    let home = files::temporary_folder()?;
    let home = home.path();
    // A dead provider on loopback: nothing is asked of any network.
    let settings = "model_provider = \"none\"\n[model_providers.none]\nname = \"none\"\nbase_url = \"http://127.0.0.1:9/v1\"\n\
                    wire_api = \"responses\"\nrequest_max_retries = 0\n[analytics]\nenabled = false\n";
    folder::put(&home.join("config.toml"), settings)?;
    let runner = Runner { bin, home };
    let mut snapshot = Snapshot { version: runner.run(&["--version"]), ..Snapshot::default() };
    if snapshot.version.is_none() {
        return Ok(snapshot);
    }
    snapshot.program = program_hash(bin);
    snapshot.features = runner.run(&["features", "list"]).map(|text| features(&text)).unwrap_or_default();
    let help = runner.run(&["exec", "--help"]).unwrap_or_default();
    let options = ["--json", "--output-schema", "--sandbox"];
    snapshot.exec_options = options.into_iter().filter(|option| help.contains(option)).collect();
    let (stable, experimental) = (home.join("stable"), home.join("experimental"));
    runner.run(&["app-server", "generate-json-schema", "--out", &stable.display().to_string()]);
    runner.run(&[
        "app-server",
        "generate-json-schema",
        "--experimental",
        "--out",
        &experimental.display().to_string(),
    ]);
    snapshot.stable = schema_methods(&stable.join("ClientRequest.json"));
    snapshot.experimental = schema_methods(&experimental.join("ClientRequest.json"));
    snapshot.server_requests = schema_methods(&stable.join("ServerRequest.json"));
    snapshot.notifications = schema_methods(&stable.join("ServerNotification.json"));
    let started = |experimental| AppServer::start(bin, home, home, experimental);
    let (Ok(mut plain), Ok(mut open)) = (started(Experimental::Off), started(Experimental::On)) else {
        return Ok(snapshot);
    };
    snapshot.has_app_server = true;
    snapshot.methods = methods(&mut plain);
    for (method, params) in relied_on() {
        let reply = plain.call(method, params.clone());
        if let ("configRequirements/read", Reply::Result(result)) = (method, &reply) {
            snapshot.requirements = result.get("requirements").cloned();
        }
        let presence = match presence(method, &reply) {
            // The gate must be one: with the opt-in the method is there.
            Presence::Gated if presence(method, &open.call(method, params)) != Presence::Present => {
                Presence::Absent
            }
            found @ (Presence::Present | Presence::Gated | Presence::Absent) => found,
        };
        snapshot.relied_on.insert(method, presence);
    }
    Ok(snapshot)
}

impl Snapshot {
    /// The facts that capabilities hang on.
    pub(crate) fn facts(&self) -> Vec<String> {
        let mut facts = Vec::new();
        if self.has_app_server {
            facts.push("app-server".to_owned());
        }
        let present = self.relied_on.iter().filter(|(_, presence)| **presence == Presence::Present);
        facts.extend(present.map(|(method, _)| format!("method:{method}")));
        let told = RELIED_ON_NOTIFICATIONS.iter().filter(|name| self.notifications.contains(**name));
        facts.extend(told.map(|name| format!("notification:{name}")));
        let is_on = |name: &str| self.features.get(name) == Some(&true);
        if is_on("multi_agent") || is_on("collab") {
            facts.push("tool:spawn_agent".to_owned());
        }
        facts.extend(
            self.exec_options.iter().map(|option| format!("exec:{}", option.trim_start_matches('-'))),
        );
        facts
    }

    /// Whether a method can be called, as far as anybody found out.
    pub(crate) fn has(&self, method: &str) -> bool {
        self.methods.contains(method) && self.relied_on.get(method) != Some(&Presence::Absent)
    }

    /// Whether a method is only for those who opt into what is experimental.
    pub(crate) fn is_experimental(&self, method: &str) -> bool {
        let is_documented = self.experimental.contains(method) && !self.stable.contains(method);
        is_documented || self.relied_on.get(method) == Some(&Presence::Gated)
    }

    /// The snapshot as the detail of its event.
    pub(crate) fn to_json(&self) -> Json<'static> {
        let names = |names: &mut dyn Iterator<Item = String>| Json::array(names.map(Json::from));
        let documented: BTreeSet<&String> = self.stable.union(&self.experimental).collect();
        let undocumented = self.methods.iter().filter(|method| !documented.contains(method));
        let unknown = documented.iter().filter(|method| !self.methods.contains(**method));
        let only_experimental = self.experimental.difference(&self.stable);
        let optional = |text: Option<String>| {
            text.map_or_else(|| Json::from(countersign_canon::Value::Null), Json::from)
        };
        Json::object([
            ("client", Json::from("codex")),
            ("version", optional(self.version.clone())),
            ("program_sha256", optional(self.program.map(|hash| hash.to_string()))),
            ("mode", Json::from(if self.has_app_server { "app_server" } else { "worker_only" })),
            ("methods", names(&mut self.methods.iter().cloned())),
            ("server_requests", names(&mut self.server_requests.iter().cloned())),
            ("notifications", names(&mut self.notifications.iter().cloned())),
            (
                "requirements",
                self.requirements.clone().unwrap_or_else(|| Json::from(countersign_canon::Value::Null)),
            ),
            ("experimental_methods", names(&mut only_experimental.cloned())),
            ("undocumented_methods", names(&mut undocumented.cloned())),
            ("documented_but_refused", names(&mut unknown.map(|name| (*name).clone()))),
            (
                "relied_on",
                Json::object(
                    self.relied_on.iter().map(|(method, presence)| (*method, Json::from(presence.as_str()))),
                ),
            ),
            (
                "features",
                Json::object(self.features.iter().map(|(name, is_on)| (name.clone(), Json::from(*is_on)))),
            ),
            ("facts", names(&mut self.facts().into_iter())),
        ])
    }
}

impl Presence {
    /// The word for it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Gated => "gated",
            Self::Absent => "absent",
        }
    }
}

/// What a reply to a harmless call says about a method. Only these words count; all others leave doubt, which is absence.
fn presence(method: &str, reply: &Reply) -> Presence {
    let message = match reply {
        Reply::Result(_) => return Presence::Present,
        Reply::None => return Presence::Absent,
        Reply::Error(message) => message.as_str(),
    };
    if message == format!("{method} requires experimentalApi capability") {
        return Presence::Gated;
    }
    let starts = [
        "thread not found:",
        "no active turn to steer",
        "invalid thread id:",
        "Invalid request: missing field",
        "Invalid request: invalid type",
    ];
    let is_there =
        starts.iter().any(|start| message.starts_with(start)) || message.contains("authentication required");
    if is_there { Presence::Present } else { Presence::Absent }
}

/// The methods that this product relies on, each with a call that changes nothing.
fn relied_on() -> [(&'static str, Json<'static>); 7] {
    let nothing = || Json::object::<&str>([]);
    let text = Json::object([
        ("type", Json::from("text")),
        ("text", Json::from("probe")),
        ("text_elements", Json::from(Vec::new())),
    ]);
    let steer = Json::object([
        ("threadId", Json::from(NO_THREAD)),
        ("expectedTurnId", Json::from("0")),
        ("input", Json::array([text])),
    ]);
    [
        ("turn/steer", steer),
        ("app/list", nothing()),
        ("configRequirements/read", nothing()),
        ("model/list", nothing()),
        ("hooks/list", Json::object([("cwds", Json::from(Vec::new()))])),
        ("collaborationMode/list", nothing()),
        ("mock/experimentalMethod", Json::object([("value", Json::from("x"))])),
    ]
}

/// Every method that a server accepts: its refusal of the canary lists them, if it is a refusal of just that.
fn methods(server: &mut AppServer) -> BTreeSet<String> {
    let Reply::Error(message) = server.call(CANARY, Json::object::<&str>([])) else { return BTreeSet::new() };
    let start = format!("Invalid request: unknown variant `{CANARY}`, expected one of ");
    let listed = message.strip_prefix(&start).unwrap_or_default();
    listed.split(", ").map(|name| name.trim_matches('`').to_owned()).filter(|name| !name.is_empty()).collect()
}

/// `name  stage words  true|false`, one a line.
fn features(text: &str) -> BTreeMap<String, bool> {
    let feature = |line: &str| {
        let mut words = line.split_whitespace();
        let (name, last) = (words.next()?, words.next_back()?);
        Some((name.to_owned(), last == "true"))
    };
    text.lines().filter_map(feature).collect()
}

/// The program's hash: of the file that is named, or that the shell would find.
fn program_hash(bin: &OsStr) -> Option<Sha256> {
    let path = Path::new(bin);
    let found = if path.components().count() > 1 { Some(path.to_path_buf()) } else { on_path(bin) };
    files::read_all(&found?).ok().map(|bytes| Sha256::of(&bytes))
}

fn on_path(bin: &OsStr) -> Option<PathBuf> {
    let folders = crate::effects::environment::program_folders();
    folders.into_iter().map(|folder| folder.join(bin)).find(|path| files::mode_of(path).is_some())
}

/// Runs the program with settings of its own.
struct Runner<'r> {
    bin: &'r OsStr,
    home: &'r Path,
}

impl Runner<'_> {
    /// What the program says, if it ends well.
    fn run(&self, arguments: &[&str]) -> Option<String> {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        let start = Start {
            program: self.bin,
            arguments: &arguments,
            environment: &[("CODEX_HOME", self.home.as_os_str().to_owned())],
            folder: Some(self.home),
        };
        let output = child::run(&start, b"").ok().filter(|output| output.status.success())?;
        String::from_utf8(output.stdout).ok().map(|text| text.trim().to_owned())
    }
}

/// The methods of a schema that the program has generated; none if it has not.
fn schema_methods(file: &Path) -> BTreeSet<String> {
    let bytes = files::read_all(file).unwrap_or_default();
    let Ok(schema) = Json::parse(&bytes) else { return BTreeSet::new() };
    let requests = schema.get("oneOf").and_then(Json::as_array).unwrap_or_default();
    let method = |request: &Json<'_>| {
        let names = request.get("properties")?.get("method")?.get("enum")?.as_array()?;
        names.first()?.as_str().map(str::to_owned)
    };
    requests.iter().filter_map(method).collect()
}
