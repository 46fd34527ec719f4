//! The service as commands use it: on the embedded store or over HTTP, who asks, and how answers are shown.

use std::path::PathBuf;

use countersign_canon::{Issue, Json};
use countersign_service::{Caller, Client, ClientOptions, Door, Node, NodeOptions};
use countersign_store::store_codes;

use crate::{
    console::Console,
    effects::{environment, files},
    failure::{Failure, codes},
    format::Format,
    hosts::workspace,
};

/// Where the store is.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Place {
    /// The folder of the store
    #[arg(long, value_name = "DIR", default_value = ".countersign")]
    pub(crate) data: PathBuf,
    /// The folder for the copy of the newest checkpoint, outside the store [default: in the user's data folder]
    #[arg(long, value_name = "DIR")]
    checkpoint_dir: Option<PathBuf>,
    /// A PostgreSQL database instead of the embedded one, such as postgres://localhost/countersign
    #[arg(long, value_name = "URL")]
    database: Option<String>,
    /// A running service instead of a store: http://HOST:PORT, https://HOST:PORT or unix:PATH
    #[arg(long, value_name = "URL", conflicts_with_all = ["data", "checkpoint_dir", "database"])]
    url: Option<String>,
    /// The file with the token for the service [default: the variable COUNTERSIGN_TOKEN]
    #[arg(long, value_name = "FILE", requires = "url")]
    token_file: Option<PathBuf>,
    /// The certificates that may vouch for an https:// service, in PEM form [default: the file that the variable
    /// COUNTERSIGN_TLS_CA names, or else what this machine trusts]
    #[arg(long, value_name = "FILE", requires = "url")]
    tls_ca: Option<PathBuf>,
}

impl Place {
    /// The store in this folder.
    pub(crate) const fn at(data: PathBuf) -> Self {
        Self { data, checkpoint_dir: None, database: None, url: None, token_file: None, tls_ca: None }
    }

    /// The service: a store that is there, opened by whoever can open its files, or one that runs somewhere else.
    pub(crate) fn door(&self) -> Result<Door, Failure> {
        self.door_to(Self::open)
    }

    /// The same for what may be the first thing that a store is told: it is made if it is not there.
    pub(crate) fn door_or_make(&self) -> Result<Door, Failure> {
        self.door_to(Self::open_or_make)
    }

    fn door_to(&self, open: impl FnOnce(&Self) -> Result<Node, Failure>) -> Result<Door, Failure> {
        let Some(url) = &self.url else { return Ok(Door::Here(Box::new(open(self)?), owner()?)) };
        let token = match &self.token_file {
            Some(path) => {
                let bytes = files::read(path).map_err(Failure::CouldNotTell)?;
                let text = String::from_utf8(bytes).ok().map(|text| text.trim_end().to_owned());
                Some(text.ok_or_else(|| usage(format!("`{}` holds no token", path.display())))?)
            }
            None => environment::token(),
        };
        let roots = self.tls_ca.clone().or_else(environment::tls_ca);
        Ok(Door::There(Client::new(url, ClientOptions { token, roots })?))
    }

    /// Opens a store that is there: a question about a folder that was mistyped is not answered from a new one.
    pub(crate) fn open(&self) -> Result<Node, Failure> {
        Node::open_existing(&self.options()?).map_err(|error| {
            let issue = Issue::from(&error);
            let is_missing = issue.code == store_codes::STORE_MISSING;
            Failure::CouldNotTell(if is_missing { issue.with_hint(where_to_look()) } else { issue })
        })
    }

    /// Opens the store, making it if it is not there.
    pub(crate) fn open_or_make(&self) -> Result<Node, Failure> {
        Ok(Node::open(&self.options()?)?)
    }

    /// The same with another policy folder.
    pub(crate) fn open_with_policy(&self, folder: PathBuf) -> Result<Node, Failure> {
        Ok(Node::open_with_policy(&self.options()?, folder)?)
    }

    fn options(&self) -> Result<NodeOptions, Failure> {
        if self.url.is_some() {
            return Err(usage("this reads the store itself: give --data or --database instead of --url"));
        }
        let (data, database) = (self.data.clone(), self.database.clone());
        Ok(NodeOptions { data, database, checkpoints: self.checkpoints() })
    }

    /// The folder of the checkpoint's copy, if there is one.
    pub(crate) fn checkpoints(&self) -> Option<PathBuf> {
        self.checkpoint_dir.clone().or_else(|| user_folder("checkpoints"))
    }
}

/// What helps whoever has no store here: the one of the workspace around, or a new one.
fn where_to_look() -> String {
    match environment::current_folder().and_then(|here| workspace::nearest_store(&here)) {
        Some(data) => format!("the nearest store is in `{}`: name it with --data", data.display()),
        None => "`countersign init` makes one; --data names the folder of another".to_owned(),
    }
}

/// A folder of this program in the user's data folder.
pub(crate) fn user_folder(name: &str) -> Option<PathBuf> {
    environment::user_data_folder().map(|folder| folder.join("countersign").join(name))
}

/// Whoever can open the files: the admin of the embedded store.
pub(crate) fn owner() -> Result<Caller, Failure> {
    Ok(Caller::owner("cli")?)
}

/// How an answer is shown.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(crate) struct Shown {
    /// For people, or for machines
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl Shown {
    /// Shows an answer: lines of text, or the JSON that they are a view of.
    pub(crate) fn show(self, console: Console, json: &Json<'_>, text: &str) -> Result<(), Failure> {
        match self.format {
            Format::Json => console.data(&json.to_pretty()),
            Format::Text if text.is_empty() => Ok(()),
            Format::Text => console.data(&format!("{}\n", text.trim_end())),
        }
    }
}

/// The lines of a file, however long it is; `-` reads standard input.
pub(crate) fn lines(path: &std::path::Path) -> Result<Vec<Vec<u8>>, Failure> {
    let is_stdin = path.as_os_str() == "-";
    let bytes = if is_stdin { files::read_stdin() } else { files::read_all(path) };
    let bytes = bytes.map_err(Failure::CouldNotTell)?;
    let mut lines: Vec<Vec<u8>> = bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    if lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    }
    Ok(lines)
}

/// Wrong usage that only shows after the arguments were read.
pub(crate) fn usage(message: impl Into<String>) -> Failure {
    Failure::CouldNotTell(Issue::new(codes::CLI_USAGE, message))
}
