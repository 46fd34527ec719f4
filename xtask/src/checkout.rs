//! Effect: files and one git call. Reads the files of this checkout, and writes the generated ones.
#![expect(clippy::disallowed_methods, reason = "Effect: files, process")]

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

/// The files of a checkout that git tracks or would track: path from the root, with `/`, to text.
///
/// Bytes that are no UTF-8 are replaced: every rule looks at text only.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) files: BTreeMap<String, String>,
}

/// Why the checkout could not be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckoutError {
    /// A file failed.
    #[error("{path}: {error}")]
    File {
        /// Which file.
        path: String,
        /// What the system said.
        error: io::Error,
    },
    /// git could not be run, or said no.
    #[error(
        "`git ls-files` failed: {0}; these checks look at the files that git tracks, so they need git and a clone"
    )]
    Git(String),
}

impl Tree {
    /// Reads the checkout this program was built from.
    pub(crate) fn load() -> Result<Self, CheckoutError> {
        let listing = Command::new("git")
            .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
            .current_dir(root())
            .output()
            .map_err(|error| CheckoutError::Git(error.to_string()))?;
        if !listing.status.success() {
            return Err(CheckoutError::Git(String::from_utf8_lossy(&listing.stderr).trim().to_owned()));
        }
        let names = String::from_utf8_lossy(&listing.stdout);
        let mut files = BTreeMap::new();
        for name in names.split('\0').filter(|name| !name.is_empty()) {
            let path = root().join(name);
            // A tracked file may be deleted in the work tree, and a tracked link may point anywhere.
            if fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_file()) {
                let bytes = fs::read(&path).map_err(|error| file_error(name, error))?;
                files.insert(name.to_owned(), String::from_utf8_lossy(&bytes).into_owned());
            }
        }
        Ok(Self { files })
    }
}

/// Writes one file, making its folder, unless it has these contents already; says whether it wrote.
pub(crate) fn write_if_changed(name: &str, contents: &str) -> Result<bool, CheckoutError> {
    let path = root().join(name);
    if fs::read(&path).is_ok_and(|bytes| bytes == contents.as_bytes()) {
        return Ok(false);
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| file_error(name, error))?;
    }
    fs::write(&path, contents).map_err(|error| file_error(name, error))?;
    Ok(true)
}

fn file_error(path: &str, error: io::Error) -> CheckoutError {
    CheckoutError::File { path: path.to_owned(), error }
}

fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_path_buf()
}
