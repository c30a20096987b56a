//! Where vectors are kept: a file beside the index, by the hash of what they were made of.
//!
//! They cost time and sometimes money, so they outlive the index, which is built anew with every version of it. A
//! vector is a scale and a byte per number; that loses less than a hundredth of a similarity.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, params};
use stepwell_workspace::files::{self, Privacy};

/// What a vector was made of: model and text, hashed.
pub(crate) type Key = [u8; 16];

const PATIENCE: Duration = Duration::from_secs(3);
/// Vectors that are kept; the ones of texts that are no more go first.
pub(crate) const MOST_VECTORS: usize = 60_000;

/// A vector of length one, a byte per number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QuantizedVector {
    scale: f32,
    numbers: Box<[i8]>,
}

impl QuantizedVector {
    /// The direction of a vector; none where it has none.
    pub(crate) fn of(vector: &[f32]) -> Option<Self> {
        let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
        let largest = vector.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
        if !length.is_normal() || !largest.is_normal() {
            return None;
        }
        let numbers = vector.iter().map(|number| (number / largest * 127.0).round() as i8).collect();
        Some(Self { scale: largest / length / 127.0, numbers })
    }

    /// The cosine of the angle between two; nothing where they are of different models.
    pub(crate) fn similarity(&self, other: &Self) -> Option<f32> {
        if self.numbers.len() != other.numbers.len() {
            return None;
        }
        let pairs = self.numbers.iter().zip(&other.numbers);
        let sum: i64 = pairs.map(|(one, two)| i64::from(*one) * i64::from(*two)).sum();
        Some(sum as f32 * self.scale * other.scale)
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.scale.to_le_bytes().to_vec();
        bytes.extend(self.numbers.iter().map(|number| number.cast_unsigned()));
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (scale, numbers) = bytes.split_first_chunk::<4>()?;
        let scale = f32::from_le_bytes(*scale);
        let is_whole = scale.is_normal() && !numbers.is_empty();
        is_whole.then(|| Self { scale, numbers: numbers.iter().map(|byte| byte.cast_signed()).collect() })
    }
}

/// The vectors of a workspace, in memory and in their file. A file that cannot be used costs nothing but the making.
#[derive(Debug, Default)]
pub(crate) struct Store {
    connection: Option<Connection>,
    vectors: HashMap<Key, QuantizedVector>,
}

impl Store {
    pub(crate) fn open(path: &Path) -> Self {
        let mut opened = connect(path);
        if opened.is_err() {
            // Damaged, or not ours: what is in it can be made again.
            for ending in ["vectors", "vectors-wal", "vectors-shm"] {
                files::remove_file(&path.with_extension(ending)).ok();
            }
            opened = connect(path);
        }
        let Ok((connection, vectors)) = opened else { return Self::default() };
        Self { connection: Some(connection), vectors }
    }

    pub(crate) fn get(&self, key: &Key) -> Option<&QuantizedVector> {
        self.vectors.get(key)
    }

    /// Keeps vectors; where there would be too many, those that are not `in_use` go.
    pub(crate) fn put(&mut self, new: Vec<(Key, QuantizedVector)>, in_use: impl Fn(&Key) -> bool) {
        let mut gone: Vec<Key> = Vec::new();
        if self.vectors.len() + new.len() > MOST_VECTORS {
            gone = self.vectors.keys().filter(|key| !in_use(key)).copied().collect();
        }
        for key in &gone {
            self.vectors.remove(key);
        }
        if let Some(connection) = &mut self.connection {
            // What could not be written is made again the next time.
            write(connection, &gone, &new).ok();
        }
        let room = MOST_VECTORS.saturating_sub(self.vectors.len());
        self.vectors.extend(new.into_iter().take(room));
    }
}

fn write(connection: &mut Connection, gone: &[Key], new: &[(Key, QuantizedVector)]) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    for key in gone {
        transaction.execute("DELETE FROM vectors WHERE key = ?1", params![key.as_slice()])?;
    }
    for (key, vector) in new {
        let row = params![key.as_slice(), vector.to_bytes()];
        transaction.execute("INSERT OR REPLACE INTO vectors VALUES (?1, ?2)", row)?;
    }
    transaction.commit()
}

type Opened = (Connection, HashMap<Key, QuantizedVector>);

fn connect(path: &Path) -> Result<Opened, rusqlite::Error> {
    let unusable = |_| rusqlite::Error::InvalidPath(PathBuf::from(path));
    if files::stamp(path).map_err(unusable)?.is_none() {
        // SQLite would make the file readable by all; an empty file is an empty database.
        files::write_atomic(path, b"", Privacy::Private).map_err(unusable)?;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID;",
    )?;
    let vectors = {
        let mut select = connection.prepare("SELECT key, vector FROM vectors LIMIT ?1")?;
        let rows = select.query_map([MOST_VECTORS as i64], |row| {
            Ok((row.get::<_, Vec<u8>>(0)?, row.get::<_, Vec<u8>>(1)?))
        })?;
        let mut vectors = HashMap::new();
        for row in rows {
            let (key, bytes) = row?;
            if let (Ok(key), Some(vector)) = (Key::try_from(key), QuantizedVector::from_bytes(&bytes)) {
                vectors.insert(key, vector);
            }
        }
        vectors
    };
    Ok((connection, vectors))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn small_vectors_are_as_similar_as_the_whole_ones(
            one in proptest::collection::vec(-1.0_f32..1.0, 64),
            two in proptest::collection::vec(-1.0_f32..1.0, 64),
        ) {
            let length = |vector: &[f32]| vector.iter().map(|number| number * number).sum::<f32>().sqrt();
            let product: f32 = one.iter().zip(&two).map(|(one, two)| one * two).sum();
            let exact = product / (length(&one) * length(&two));
            let (one, two) = (QuantizedVector::of(&one).unwrap(), QuantizedVector::of(&two).unwrap());
            prop_assert!((one.similarity(&two).unwrap() - exact).abs() < 0.02);
            prop_assert_eq!(QuantizedVector::from_bytes(&one.to_bytes()), Some(one));
        }
    }

    #[test]
    fn what_has_no_direction_or_another_length_is_not_compared() {
        assert_eq!(QuantizedVector::of(&[0.0, 0.0]), None);
        assert_eq!(QuantizedVector::of(&[]), None);
        assert_eq!(QuantizedVector::of(&[f32::MAX, f32::MAX]), None);
        let (one, two) = (QuantizedVector::of(&[1.0, 0.0]).unwrap(), QuantizedVector::of(&[1.0]).unwrap());
        assert_eq!(one.similarity(&two), None);
        assert_eq!(QuantizedVector::from_bytes(&[1, 2, 3]), None);
    }
}
