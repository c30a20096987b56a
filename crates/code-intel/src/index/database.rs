//! The file the index is kept in.
//!
//! Opening it reads what tells which file has which names. The outlines, most of the bytes, stay where they are until
//! somebody asks for one: those of a large tree take hundreds of megabytes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, params};
use sha2::{Digest, Sha256};
use stepwell_workspace::files::{self, FileStamp, Privacy};

use super::{FileEntry, Omission, Outline, codec};
use crate::error::{Error, Result};
use crate::facts::Facts;
use crate::languages::Language;

/// Raised with every change to the table or to what is read of a file; another version is built anew.
const VERSION: i64 = 15;
const PATIENCE: Duration = Duration::from_secs(3);

// With rows numbered by SQLite: in a table without, a row of more than a quarter of a page has pages of its own, of which
// half is empty on average, and most outlines are that long.
const TABLE: &str = "CREATE TABLE files (
    path TEXT PRIMARY KEY,
    language TEXT,
    omission INTEGER,
    bytes INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    modified INTEGER NOT NULL,
    is_fresh INTEGER NOT NULL,
    hash BLOB NOT NULL,
    uses BLOB NOT NULL,
    defines BLOB NOT NULL,
    imports TEXT NOT NULL,
    outline BLOB NOT NULL
);";

/// A cache: whatever fails while it is written is made up for by reading the sources the next time.
pub(super) struct Database {
    connection: Option<Connection>,
    path: PathBuf,
}

impl Database {
    /// Opens the file of a workspace and gives what is in it; where that cannot be done, nothing is kept.
    pub fn open(folder: &Path, root: &Path) -> (Self, Vec<FileEntry>) {
        let path = folder.join(format!("{}.sqlite", name_of(root)));
        let attempt = || -> Result<(Vec<FileEntry>, Connection)> {
            files::create_private_dir(folder)?;
            let connection = connect(&path)?;
            Ok((load(&connection)?, connection))
        };
        let mut opened = attempt();
        if opened.as_ref().is_err_and(is_worthless) {
            for ending in ["sqlite", "sqlite-wal", "sqlite-shm"] {
                files::remove_file(&path.with_extension(ending)).ok();
            }
            opened = attempt();
        }
        match opened {
            Ok((rows, connection)) => (Self { connection: Some(connection), path }, rows),
            Err(_) => (Self { connection: None, path }, Vec::new()),
        }
    }

    pub fn is_kept(&self) -> bool {
        self.connection.is_some()
    }

    pub fn beside(&self, ending: &str) -> PathBuf {
        self.path.with_extension(ending)
    }

    pub fn size(&self) -> u64 {
        let sizes = ["sqlite", "sqlite-wal"].map(|ending| files::stamp(&self.path.with_extension(ending)));
        sizes.into_iter().flatten().flatten().map(|stamp| stamp.len).sum()
    }

    /// Writes what was read of files. What is on the disk then needs no memory.
    pub fn write(&mut self, entries: &mut [FileEntry]) {
        let is_written = self.attempt(|connection| {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            {
                let mut insert = transaction.prepare(
                    "INSERT OR REPLACE INTO files VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
                )?;
                let mut restamp = transaction.prepare(
                    "UPDATE files SET bytes = ?3, inode = ?4, modified = ?5, is_fresh = ?6
                     WHERE path = ?1 AND hash = ?2",
                )?;
                for entry in &*entries {
                    let (bytes, inode) = (entry.stamp.len as i64, entry.stamp.inode as i64);
                    let (modified, hash) = (entry.stamp.modified_ns, entry.hash.as_slice());
                    let Outline::Here(outline) = &entry.outline else {
                        restamp.execute(params![entry.path, hash, bytes, inode, modified, entry.is_fresh])?;
                        continue;
                    };
                    insert.execute(params![
                        entry.path,
                        entry.language.map(Language::name),
                        entry.omission.and_then(|omission| Omission::ALL
                            .iter()
                            .position(|known| *known == omission)
                            .map(|place| place as i64)),
                        bytes,
                        inode,
                        modified,
                        entry.is_fresh,
                        hash,
                        bytes_of(&entry.uses),
                        bytes_of(&entry.defines),
                        &*entry.imports,
                        lz4_flex::compress_prepend_size(outline),
                    ])?;
                }
            }
            transaction.commit()
        });
        if is_written {
            for entry in entries {
                entry.outline = Outline::Stored;
            }
        }
    }

    /// The outline of a file as it was when it had this hash, unless another process has read a newer one.
    pub fn outline(&self, path: &str, hash: [u8; 16]) -> Option<Facts> {
        let connection = self.connection.as_ref()?;
        let mut select =
            connection.prepare_cached("SELECT outline FROM files WHERE path = ?1 AND hash = ?2").ok()?;
        let row = select.query_row(params![path, hash.as_slice()], |row| row.get::<_, Vec<u8>>(0));
        let packed = row.optional().ok()??;
        let outline =
            lz4_flex::decompress_size_prepended(&packed).ok().and_then(|bytes| codec::decode(&bytes));
        if outline.is_none() {
            // Damaged: who opens the index next reads the file again.
            connection.execute("DELETE FROM files WHERE path = ?1", [path]).ok();
        }
        outline
    }

    pub fn remove(&mut self, paths: &[String]) {
        if paths.is_empty() {
            return;
        }
        self.attempt(|connection| {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            for path in paths {
                transaction.execute("DELETE FROM files WHERE path = ?1", [path])?;
            }
            transaction.commit()
        });
    }

    pub fn clear(&mut self) {
        self.attempt(|connection| connection.execute_batch("DELETE FROM files; VACUUM;"));
    }

    /// A write that fails (a full disk, another process that holds the file) leaves the old rows, which the next
    /// look at the files finds out of date.
    fn attempt(&mut self, work: impl FnOnce(&mut Connection) -> rusqlite::Result<()>) -> bool {
        self.connection.as_mut().is_some_and(|connection| work(connection).is_ok())
    }
}

/// Whether a file is damaged, of another version, or not ours: it only repeats what the sources say. One that another
/// process uses, or that cannot be reached now, is left alone.
fn is_worthless(error: &Error) -> bool {
    let Error::Database { source, .. } = error else { return false };
    !matches!(
        source.sqlite_error_code(),
        Some(
            ErrorCode::DatabaseBusy
                | ErrorCode::DatabaseLocked
                | ErrorCode::ReadOnly
                | ErrorCode::DiskFull
                | ErrorCode::CannotOpen
                | ErrorCode::PermissionDenied
                | ErrorCode::SystemIoFailure
        )
    )
}

/// A name for the file that says which workspace it is of and is no other's.
fn name_of(root: &Path) -> String {
    let digest = Sha256::digest(root.as_os_str().as_encoded_bytes());
    let hash = digest.iter().take(8).fold(0_u64, |hash, byte| hash << 8 | u64::from(*byte));
    let name: String = root
        .file_name()
        .map(|name| name.to_string_lossy())
        .unwrap_or_default()
        .chars()
        .filter(|character| character.is_ascii_alphanumeric() || *character == '-')
        .take(40)
        .collect();
    format!("{name}-{hash:016x}")
}

fn connect(path: &Path) -> Result<Connection> {
    let failed = |source| Error::Database { path: path.to_path_buf(), source };
    if files::stamp(path)?.is_none() {
        // SQLite would make the file readable by all; an empty file is an empty database.
        files::write_atomic(path, b"", Privacy::Private)?;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
    let prepare = || {
        connection.busy_timeout(PATIENCE)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "OFF")?;
        let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if version == 0 {
            connection.execute_batch(&format!(
                "BEGIN IMMEDIATE; {TABLE} PRAGMA user_version = {VERSION}; COMMIT;"
            ))?;
        } else if version != VERSION {
            return Err(rusqlite::Error::InvalidQuery);
        }
        Ok(())
    };
    prepare().map_err(failed)?;
    Ok(connection)
}

fn load(connection: &Connection) -> Result<Vec<FileEntry>> {
    let failed =
        |source| Error::Database { path: PathBuf::from(connection.path().unwrap_or_default()), source };
    let columns = "path, language, omission, bytes, inode, modified, is_fresh, hash, uses, defines, imports";
    let mut select = connection.prepare(&format!("SELECT {columns} FROM files")).map_err(failed)?;
    let rows = select.query_map([], entry).map_err(failed)?;
    rows.collect::<rusqlite::Result<Vec<_>>>().map_err(failed)
}

fn entry(row: &rusqlite::Row<'_>) -> rusqlite::Result<FileEntry> {
    let language: Option<String> = row.get(1)?;
    let omission: Option<i64> = row.get(2)?;
    let hash: Vec<u8> = row.get(7)?;
    let damaged = || rusqlite::Error::InvalidColumnType(7, "hash".to_owned(), rusqlite::types::Type::Blob);
    Ok(FileEntry {
        path: row.get(0)?,
        language: language.and_then(|name| Language::all().find(|language| language.name() == name)),
        omission: omission.and_then(|place| Omission::ALL.get(usize::try_from(place).ok()?).copied()),
        stamp: FileStamp {
            len: row.get::<_, i64>(3)? as u64,
            inode: row.get::<_, i64>(4)? as u64,
            modified_ns: row.get(5)?,
        },
        is_fresh: row.get(6)?,
        hash: hash.try_into().map_err(|_| damaged())?,
        uses: hashes_of(&row.get::<_, Vec<u8>>(8)?),
        defines: hashes_of(&row.get::<_, Vec<u8>>(9)?),
        imports: row.get::<_, String>(10)?.into(),
        outline: Outline::Stored,
    })
}

fn bytes_of(hashes: &[u32]) -> Vec<u8> {
    hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect()
}

fn hashes_of(bytes: &[u8]) -> Arc<[u32]> {
    let (chunks, _) = bytes.as_chunks::<4>();
    chunks.iter().map(|chunk| u32::from_le_bytes(*chunk)).collect()
}
