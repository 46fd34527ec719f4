//! Effect: files. Lists the folders of a target and opens its files, never through a link.
#![expect(clippy::disallowed_methods, reason = "Effect: files")]

use std::{
    ffi::{OsStr, OsString},
    fs::{File, FileType, OpenOptions},
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

/// A folder that is open: what it holds, in the order of the file system. Its files are opened from it, so that the way
/// to it is walked once.
pub(crate) struct Listing(listing::Folder);

/// Opens a folder.
pub(crate) fn list(folder: &Path) -> io::Result<Listing> {
    listing::Folder::open(folder).map(Listing)
}

impl Listing {
    /// Opens a regular file of this folder, as [`open`] does.
    pub(crate) fn open(&self, name: &OsStr) -> io::Result<(File, u64)> {
        self.0.file(name).and_then(regular)
    }
}

impl Iterator for Listing {
    type Item = io::Result<(OsString, Kind)>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.entry()
    }
}

/// What the path itself is, without following it.
pub(crate) fn kind(path: &Path) -> io::Result<Kind> {
    path.symlink_metadata().map(|metadata| kind_of(metadata.file_type()))
}

/// A link is an error, and a pipe does not block.
#[cfg(unix)]
const UNFOLLOWED: rustix::fs::OFlags = rustix::fs::OFlags::NOFOLLOW.union(rustix::fs::OFlags::NONBLOCK);

/// Opens a regular file that was listed as one, and says how long it is. A link or a pipe that took its place in the
/// meantime is an error and does not block.
pub(crate) fn open(path: &Path) -> io::Result<(File, u64)> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(i32::try_from(UNFOLLOWED.bits()).unwrap_or(0));
    }
    options.open(path).and_then(regular)
}

fn regular(file: File) -> io::Result<(File, u64)> {
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

#[cfg(unix)]
mod listing {
    use std::{
        ffi::{OsStr, OsString},
        fs::File,
        io,
        os::unix::ffi::OsStrExt as _,
        path::Path,
    };

    use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};

    use super::Kind;

    pub(super) struct Folder(Dir);

    impl Folder {
        pub(super) fn open(path: &Path) -> io::Result<Self> {
            let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
            Ok(Self(Dir::new(openat(CWD, path, flags, Mode::empty())?)?))
        }

        pub(super) fn file(&self, name: &OsStr) -> io::Result<File> {
            let flags = super::UNFOLLOWED | OFlags::CLOEXEC;
            Ok(openat(self.0.fd()?, name, flags, Mode::empty())?.into())
        }

        pub(super) fn entry(&mut self) -> Option<io::Result<(OsString, Kind)>> {
            loop {
                let entry = match self.0.read()? {
                    Ok(entry) => entry,
                    Err(error) => return Some(Err(error.into())),
                };
                let name = entry.file_name().to_bytes();
                if !matches!(name, b"." | b"..") {
                    let name = OsStr::from_bytes(name);
                    return Some(self.kind(name, entry.file_type()).map(|kind| (name.to_owned(), kind)));
                }
            }
        }

        /// Some file systems do not say in the listing what an entry is.
        fn kind(&self, name: &OsStr, listed: FileType) -> io::Result<Kind> {
            let kind = match listed {
                FileType::Unknown => {
                    FileType::from_raw_mode(statat(self.0.fd()?, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode)
                }
                FileType::RegularFile
                | FileType::Directory
                | FileType::Symlink
                | FileType::Fifo
                | FileType::Socket
                | FileType::CharacterDevice
                | FileType::BlockDevice => listed,
            };
            Ok(match kind {
                FileType::RegularFile => Kind::File,
                FileType::Directory => Kind::Folder,
                FileType::Symlink => Kind::Symlink,
                FileType::Fifo => Kind::Fifo,
                FileType::Socket => Kind::Socket,
                FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => Kind::Device,
            })
        }
    }
}

#[cfg(not(unix))]
mod listing {
    use std::{
        ffi::{OsStr, OsString},
        fs::{File, ReadDir, read_dir},
        io,
        path::{Path, PathBuf},
    };

    use super::{Kind, kind_of};

    pub(super) struct Folder {
        path: PathBuf,
        entries: ReadDir,
    }

    impl Folder {
        pub(super) fn open(path: &Path) -> io::Result<Self> {
            Ok(Self { path: path.into(), entries: read_dir(path)? })
        }

        pub(super) fn file(&self, name: &OsStr) -> io::Result<File> {
            File::open(self.path.join(name))
        }

        pub(super) fn entry(&mut self) -> Option<io::Result<(OsString, Kind)>> {
            let entry = self.entries.next()?;
            Some(entry.and_then(|entry| Ok((entry.file_name(), kind_of(entry.file_type()?)))))
        }
    }
}
