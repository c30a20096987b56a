//! Takes archives from outside apart, into a new folder and nowhere else.
//!
//! An archive that names a place outside, a link or a device is refused whole: nobody who means well makes one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Component, Path, PathBuf};

use crate::{Error, Result};

/// How much an archive may hold; a small one can claim to hold anything.
#[derive(Clone, Copy, Debug)]
pub struct UnpackLimits {
    pub files: usize,
    pub bytes: u64,
}

/// Which of an archive's files are wanted, and below the new folder where; `None` for those that are not.
pub type Choose<'a> = &'a dyn Fn(&Path) -> Option<PathBuf>;

/// Unpacks a compressed tar file, such as a package of npm. How many files were written.
pub fn unpack_tar_gz(archive: &Path, into: &Path, choose: Choose<'_>, limits: UnpackLimits) -> Result<usize> {
    let archive = File::open(archive).map_err(|error| Error::io("open", archive, error))?;
    let broken = |error: io::Error| refused(error.to_string());
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(io::BufReader::new(archive)));
    let mut out = Unpacking::new(into, limits)?;
    for entry in archive.entries().map_err(broken)? {
        let mut entry = entry.map_err(broken)?;
        let name = harmless(&entry.path().map_err(broken)?)?;
        let kind = entry.header().entry_type();
        let mode = entry.header().mode().unwrap_or(0o644);
        if !kind.is_file() && !kind.is_dir() && !kind.is_pax_global_extensions() {
            return Err(refused(format!("`{}` is neither a file nor a folder", name.display())));
        }
        if kind.is_file()
            && let Some(place) = choose(&name)
        {
            out.write(&place, mode, &mut entry)?;
        }
    }
    Ok(out.files)
}

/// Unpacks a zip file. How many files were written.
pub fn unpack_zip(archive: &Path, into: &Path, choose: Choose<'_>, limits: UnpackLimits) -> Result<usize> {
    let archive = File::open(archive).map_err(|error| Error::io("open", archive, error))?;
    let broken = |error: zip::result::ZipError| refused(error.to_string());
    let mut archive = zip::ZipArchive::new(io::BufReader::new(archive)).map_err(broken)?;
    let mut out = Unpacking::new(into, limits)?;
    for at in 0..archive.len() {
        let mut entry = archive.by_index(at).map_err(broken)?;
        let name = entry.name().map_err(broken)?.into_owned();
        let name = harmless(Path::new(&name))?;
        let mode = entry.unix_mode().unwrap_or(0o644);
        // The upper bits say what it is: a file, a folder, a link, a device.
        let is_plain = matches!(mode & 0o170_000, 0 | 0o100_000 | 0o040_000);
        if entry.is_symlink() || !is_plain {
            return Err(refused(format!("`{}` is neither a file nor a folder", name.display())));
        }
        if !entry.is_dir()
            && let Some(place) = choose(&name)
        {
            out.write(&place, mode, &mut entry)?;
        }
    }
    Ok(out.files)
}

struct Unpacking<'a> {
    into: &'a Path,
    left: UnpackLimits,
    files: usize,
}

impl<'a> Unpacking<'a> {
    fn new(into: &'a Path, left: UnpackLimits) -> Result<Self> {
        fs::create_dir(into).map_err(|error| Error::io("create the folder", into, error))?;
        Ok(Self { into, left, files: 0 })
    }

    fn write(&mut self, place: &Path, mode: u32, content: &mut impl Read) -> Result<()> {
        if self.left.files == 0 {
            return Err(refused("it holds too many files".to_owned()));
        }
        self.left.files -= 1;
        let path = self.into.join(harmless(place)?);
        let failed = |error| Error::io("write", &path, error);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        // Whoever may read may also run, where the archive says that it is a program.
        let mode = if mode & 0o111 == 0 { 0o644 } else { 0o755 };
        let mut file =
            OpenOptions::new().write(true).create_new(true).mode(mode).open(&path).map_err(failed)?;
        let mut buffer = vec![0; 64 * 1024];
        loop {
            let read = match content.read(&mut buffer) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(refused(error.to_string())),
            };
            self.left.bytes = self
                .left
                .bytes
                .checked_sub(read as u64)
                .ok_or_else(|| refused("it holds too much".to_owned()))?;
            file.write_all(&buffer[..read]).map_err(failed)?;
        }
        self.files += 1;
        Ok(())
    }
}

fn refused(reason: String) -> Error {
    Error::BadArchive { reason }
}

/// The name without what does not matter; one that leads elsewhere is refused.
fn harmless(name: &Path) -> Result<PathBuf> {
    let mut clean = PathBuf::new();
    for part in name.components() {
        match part {
            Component::Normal(part) => clean.push(part),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(refused(format!("`{}` leads out of the folder", name.display())));
            }
        }
    }
    if name.to_string_lossy().contains(['\\', '\0']) {
        return Err(refused(format!("`{}` is no name of a file", name.display())));
    }
    Ok(clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: UnpackLimits = UnpackLimits { files: 3, bytes: 10_000 };

    /// Name, kind and content.
    type TarEntry<'a> = (&'a str, tar::EntryType, &'a [u8]);

    fn tarred(entries: &[TarEntry<'_>]) -> tempfile::NamedTempFile {
        let mut builder = tar::Builder::new(flate2::write::GzEncoder::new(
            tempfile::NamedTempFile::new().unwrap(),
            flate2::Compression::fast(),
        ));
        for (name, kind, content) in entries {
            let mut header = tar::Header::new_gnu();
            // The library refuses to write such names; whoever means harm does not ask it.
            let field = &mut header.as_gnu_mut().unwrap().name;
            field[..name.len()].copy_from_slice(name.as_bytes());
            header.set_size(content.len() as u64);
            header.set_entry_type(*kind);
            header.set_mode(if name.ends_with("run") { 0o755 } else { 0o644 });
            if kind.is_symlink() {
                header.set_link_name("/etc/passwd").unwrap();
            }
            header.set_cksum();
            builder.append(&header, *content).unwrap();
        }
        builder.into_inner().unwrap().finish().unwrap()
    }

    #[allow(clippy::unnecessary_wraps, reason = "it is one way to choose")]
    fn everything(path: &Path) -> Option<PathBuf> {
        Some(path.to_path_buf())
    }

    /// What came of it, and what lies in and around the folder.
    fn outcome(unpack: impl FnOnce(&Path) -> Result<usize>) -> (String, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let said =
            unpack(&folder.path().join("new")).map_or_else(|error| error.to_string(), |n| n.to_string());
        let mut found = Vec::new();
        let mut folders = vec![folder.path().to_path_buf()];
        while let Some(at) = folders.pop() {
            for entry in fs::read_dir(at).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.push(path.strip_prefix(folder.path()).unwrap().display().to_string());
                }
            }
        }
        found.sort();
        (said, found)
    }

    #[test]
    fn p19_only_files_inside_are_unpacked() {
        use tar::EntryType::{Regular, Symlink};
        let big = vec![0; 20_000];
        let rows: [(&[TarEntry<'_>], &str); 7] = [
            (&[("./a/run", Regular, b"1"), ("b", Regular, b"2")], "2"),
            (&[("../evil", Regular, b"x")], "the archive is refused: `../evil` leads out of the folder"),
            (
                &[("a/../../evil", Regular, b"x")],
                "the archive is refused: `a/../../evil` leads out of the folder",
            ),
            (&[("/evil", Regular, b"x")], "the archive is refused: `/evil` leads out of the folder"),
            (&[("link", Symlink, b"")], "the archive is refused: `link` is neither a file nor a folder"),
            (&[("big", Regular, &big)], "the archive is refused: it holds too much"),
            (
                &[("1", Regular, b""), ("2", Regular, b""), ("3", Regular, b""), ("4", Regular, b"")],
                "the archive is refused: it holds too many files",
            ),
        ];
        for (entries, expected) in rows {
            let archive = tarred(entries);
            let (said, found) = outcome(|into| unpack_tar_gz(archive.path(), into, &everything, LIMITS));
            assert_eq!(said, expected);
            assert!(found.iter().all(|path| path.starts_with("new/")), "{found:?}");
        }
    }
}
