//! Effect: files. Lists the folders of a target and opens its files, never through a link.
#![expect(clippy::disallowed_methods, reason = "Effect: files")]

use std::{
    ffi::OsString,
    fs::{DirEntry, File, FileType, OpenOptions, ReadDir},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// What stands in a folder under one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Folder,
    File,
    Symlink,
    Fifo,
    Socket,
    Device,
}

/// What a folder holds, in the order of the file system.
pub(crate) struct Listing(ReadDir);

/// Lists a folder.
pub(crate) fn list(folder: &Path) -> io::Result<Listing> {
    std::fs::read_dir(folder).map(Listing)
}

impl Iterator for Listing {
    type Item = io::Result<(OsString, Kind)>;

    fn next(&mut self) -> Option<Self::Item> {
        let named = |entry: DirEntry| entry.file_type().map(|kind| (entry.file_name(), kind_of(kind)));
        self.0.next().map(|entry| entry.and_then(named))
    }
}

/// What the path itself is, without following it.
pub(crate) fn kind(path: &Path) -> io::Result<Kind> {
    path.symlink_metadata().map(|metadata| kind_of(metadata.file_type()))
}

/// Opens a regular file that was listed as one, and says how long it is. A link or a pipe that took its place in the
/// meantime is an error and does not block.
pub(crate) fn open(path: &Path) -> io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;

        use rustix::fs::OFlags;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        options.custom_flags(i32::try_from(flags.bits()).unwrap_or(0));
    }
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() {
        Ok((file, metadata.len()))
    } else {
        Err(io::Error::other("not a regular file any more"))
    }
}

/// The path without links and relative parts, if it is there.
pub(crate) fn canonical(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}

/// The path from the root of the file system on, whether or not it is there.
pub(crate) fn absolute(path: &Path) -> io::Result<PathBuf> {
    std::path::absolute(path)
}

/// Writes a file that appears whole or not at all.
pub(crate) fn write_whole(path: &Path, pieces: impl Iterator<Item = String>) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    let mut writer = io::BufWriter::new(file.as_file_mut());
    for piece in pieces {
        writer.write_all(piece.as_bytes())?;
    }
    writer.flush()?;
    drop(writer);
    file.persist(path)?;
    Ok(())
}

#[cfg(unix)]
fn kind_of(kind: FileType) -> Kind {
    use std::os::unix::fs::FileTypeExt as _;
    if kind.is_file() {
        Kind::File
    } else if kind.is_dir() {
        Kind::Folder
    } else if kind.is_symlink() {
        Kind::Symlink
    } else if kind.is_fifo() {
        Kind::Fifo
    } else if kind.is_socket() {
        Kind::Socket
    } else {
        Kind::Device
    }
}

#[cfg(not(unix))]
fn kind_of(kind: FileType) -> Kind {
    if kind.is_file() {
        Kind::File
    } else if kind.is_dir() {
        Kind::Folder
    } else {
        Kind::Symlink
    }
}
