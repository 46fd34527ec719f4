//! The folder that an agent works on, with the settings and the state that belong to it.

use std::path::{Path, PathBuf};

use countersign_action::{AbsolutePath, Place};
use countersign_canon::Issue;
use countersign_policy::Mode;

use super::config::Config;
use crate::{
    effects::{environment, files},
    embedded::user_folder,
    failure::codes,
};

/// The folder of settings and state in a workspace.
pub(crate) const FOLDER: &str = ".countersign";
/// The settings in that folder.
pub(crate) const CONFIG: &str = "config.yml";
/// The store in that folder.
const STORE: &str = "state.db";

/// A workspace and where its state is.
#[derive(Debug, Clone)]
pub(crate) struct Workspace {
    /// The folder that the agent works on.
    pub(crate) root: PathBuf,
    /// The folder of settings and state.
    pub(crate) data: PathBuf,
    /// What a new session may do.
    pub(crate) mode: Mode,
}

impl Workspace {
    /// The workspace around this folder: the nearest one upwards that has `.countersign`, else the folder itself, with the
    /// built-in policy, read-only, and its state among the user's own data.
    ///
    /// # Errors
    ///
    /// Fails if the settings are wrong, and if there is no place for state.
    pub(crate) fn find(start: &Path) -> Result<Self, Issue> {
        let has_folder = |folder: &&Path| files::mode_of(&folder.join(FOLDER)).is_some();
        let Some(root) = start.ancestors().find(has_folder) else {
            let data = user_folder("state").ok_or_else(|| {
                Issue::new(codes::HOOK_STORE_MISSING, "there is no folder for state")
                    .with_hint("run `countersign init`, or set HOME")
            })?;
            return Ok(Self { root: start.to_path_buf(), data, mode: Mode::ReadOnly });
        };
        let data = root.join(FOLDER);
        let mode = Self::mode_in(&data)?;
        Ok(Self { root: root.to_path_buf(), data, mode })
    }

    /// What a new session may do, by the settings in this folder: look, unless they say otherwise.
    ///
    /// # Errors
    ///
    /// Fails if the settings are wrong.
    pub(crate) fn mode_in(data: &Path) -> Result<Mode, Issue> {
        let Some(bytes) = files::read_if_there(&data.join(CONFIG))? else { return Ok(Mode::ReadOnly) };
        Ok(Config::load(&bytes).map_err(|issues| first(issues.into_vec()))?.mode)
    }

    /// Refuses a workspace without a store. Either it has lost it, and a new one would know of no approval and no session; or
    /// the folder came with a repository, and whoever wrote that would govern the agent here without anybody's word.
    ///
    /// # Errors
    ///
    /// Fails if it is so.
    pub(crate) fn check_store(&self) -> Result<(), Issue> {
        let is_there = |path: &Path| files::mode_of(path).is_some();
        if is_there(&self.data.join(STORE)) || self.data != self.root.join(FOLDER) {
            return Ok(());
        }
        let message = format!("the store of `{}` is not there", self.data.display());
        let issue = Issue::new(codes::HOOK_STORE_MISSING, message);
        Err(issue.with_hint("put it back, or start a new one with `countersign init`"))
    }

    /// Where what a probe of this client found is kept.
    pub(crate) fn probe_file(&self, client: &str) -> PathBuf {
        self.data.join("probes").join(format!("{client}.json"))
    }

    /// Where an act takes place that starts in this folder.
    ///
    /// # Errors
    ///
    /// Fails if a folder is not absolute, or not text.
    pub(crate) fn place(&self, cwd: &Path) -> Result<Place, Issue> {
        let absolute = |path: &Path| {
            let text = path.to_str().ok_or_else(|| {
                Issue::new(codes::HOOK_INPUT, format!("the folder `{}` is not UTF-8", path.display()))
            })?;
            AbsolutePath::parse(text)
        };
        let home = environment::home_folder().and_then(|home| absolute(&home).ok());
        Ok(Place { cwd: absolute(cwd)?, workspace: absolute(&self.root)?, home })
    }
}

/// The folder of the nearest store, here or upwards.
pub(crate) fn nearest_store(start: &Path) -> Option<PathBuf> {
    let has_store = |data: &PathBuf| files::mode_of(&data.join(STORE)).is_some();
    start.ancestors().map(|folder| folder.join(FOLDER)).find(has_store)
}

/// The first of several problems: a hook has one reason to give.
pub(crate) fn first(issues: Vec<Issue>) -> Issue {
    let nothing = || Issue::new(codes::CLI_DEFECT, "a problem without an issue");
    issues.into_iter().next().unwrap_or_else(nothing)
}
