//! The rule files of a bundle, from a folder or from a git tree, checked.

use std::path::{Path, PathBuf};

use countersign_canon::{Issue, NonEmpty};
use countersign_scan::{Bundle, FileIssue, RuleFileName, RuleFiles, codes};

use crate::{
    effects::{
        files,
        tree::{self, Kind},
    },
    failure::Failure,
    source::Source,
    yaml::{self, Dialect, Parsed},
};

/// Where the rules of a target are.
#[derive(Debug)]
pub(crate) struct Place {
    /// The folder as it is named to people.
    pub(crate) shown: PathBuf,
    /// The folder relative to the target, if it is inside; without a final `/`.
    pub(crate) inside: Option<Vec<u8>>,
}

impl Place {
    /// The folder that was named, or `rules` in the target.
    pub(crate) fn find(target: &Path, named: Option<&Path>) -> Result<Self, Failure> {
        let default = || if target == Path::new(".") { "rules".into() } else { target.join("rules") };
        let shown = named.map_or_else(default, Path::to_path_buf);
        let target = tree::canonical(target).or_else(|_| tree::absolute(target));
        let folder = tree::canonical(&shown).or_else(|_| tree::absolute(&shown));
        let (target, folder) = target.and_then(|target| Ok((target, folder?))).map_err(|error| {
            let message = format!("`{}` could not be found: {error}", shown.display());
            Failure::CouldNotTell(Issue::new(codes::SCAN_RULES_MISSING, message))
        })?;
        let inside = folder.strip_prefix(&target).ok().map(|inside| {
            let names: Vec<&[u8]> = inside.iter().map(|name| name.as_encoded_bytes()).collect();
            names.join(&b'/')
        });
        Ok(Self { shown, inside })
    }

    /// The rule files relative to the target, if they are inside it.
    pub(crate) fn inside_files(&self) -> Vec<Vec<u8>> {
        let paths = RuleFileName::ALL.iter().filter_map(|name| {
            let inside = self.inside.as_ref()?;
            let separator: &[u8] = if inside.is_empty() { b"" } else { b"/" };
            Some([inside, separator, name.as_str().as_bytes()].concat())
        });
        paths.collect()
    }

    /// Reads the rule files from the folder.
    pub(crate) fn read(&self) -> Result<Vec<(RuleFileName, Source)>, Failure> {
        if !matches!(tree::kind(&self.shown), Ok(Kind::Folder | Kind::Symlink)) {
            let message = format!("there is no rule bundle at `{}`", self.shown.display());
            return Err(Failure::CouldNotTell(
                Issue::new(codes::SCAN_RULES_MISSING, message)
                    .with_expected("a folder with boundaries.yml or invariants.yml")
                    .with_hint("name the folder with --rules"),
            ));
        }
        let mut sources = Vec::new();
        for name in RuleFileName::ALL {
            let path = self.shown.join(name.as_str());
            match tree::kind(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => (),
                _ => {
                    let bytes = files::read(&path).map_err(Failure::CouldNotTell)?;
                    sources.push((*name, Source { name: path.display().to_string(), bytes }));
                }
            }
        }
        Ok(sources)
    }
}

/// Checks rule files; what is wrong with them is shown with the file, the line and the column.
pub(crate) fn load(sources: Vec<(RuleFileName, Source)>) -> Result<Bundle, Failure> {
    let mut files = RuleFiles::default();
    let mut found: Vec<FileIssue> = Vec::new();
    let mut is_complete = true;
    for (name, source) in &sources {
        let Parsed { document, issues } = yaml::parse(&source.bytes, Dialect::Texts);
        is_complete &= document.is_some();
        match name {
            RuleFileName::Boundaries => files.boundaries = document,
            RuleFileName::Invariants => files.invariants = document,
            RuleFileName::Deprecated => files.deprecated = document,
        }
        let issues = issues.into_iter().map(|issue| issue.under(codes::SCAN_RULES_INVALID));
        found.extend(issues.map(|issue| FileIssue { file: Some(*name), issue }));
    }
    match Bundle::load(&files) {
        Ok(bundle) if found.is_empty() => return Ok(bundle),
        Ok(_) => (),
        // A file that could not be read at all is no reason to say that it is missing.
        Err(issues) => {
            found.extend(issues.into_vec().into_iter().filter(|issue| is_complete || issue.file.is_some()))
        }
    }
    Err(refuse(sources, found))
}

/// Puts every issue beside its file.
fn refuse(sources: Vec<(RuleFileName, Source)>, found: Vec<FileIssue>) -> Failure {
    let mut documents = Vec::new();
    for (name, source) in sources {
        let mut issues: Vec<Issue> =
            found.iter().filter(|found| found.file == Some(name)).map(|found| found.issue.clone()).collect();
        issues.sort_by_key(|issue| issue.offset);
        documents.extend(NonEmpty::new(issues).map(|issues| (Some(source), issues)));
    }
    let whole = found.into_iter().filter(|found| found.file.is_none()).map(|found| found.issue).collect();
    documents.extend(NonEmpty::new(whole).map(|issues| (None, issues)));
    Failure::Unusable(documents)
}
