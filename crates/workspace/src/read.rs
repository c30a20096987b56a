//! Reading files of the workspace, within bounds.

use std::io::Read;
use std::os::unix::fs::FileExt;

use crate::encoding::{self, TextFile};
use crate::{Error, Inside, Result, Workspace};

/// Bytes that are looked at to tell text from other content.
const PROBE: usize = 8192;

impl Workspace {
    /// The whole content of a regular file of at most `limit` bytes.
    pub fn read(&self, place: &Inside, limit: u64) -> Result<Vec<u8>> {
        let mut file = self.open_file(place)?;
        let failed = |error| Error::io("read", place.absolute(), error);
        let size = file.metadata().map_err(failed)?.len();
        let too_large = |bytes| Error::TooLarge { path: place.absolute().to_path_buf(), bytes, limit };
        if size > limit {
            return Err(too_large(size));
        }
        let mut content = Vec::with_capacity(size as usize);
        // The file may grow while it is read.
        (&mut file).take(limit + 1).read_to_end(&mut content).map_err(failed)?;
        if content.len() as u64 > limit {
            return Err(too_large(content.len() as u64));
        }
        Ok(content)
    }

    /// The text of a file, with what must be kept when it is written back.
    pub fn read_text(&self, place: &Inside, limit: u64) -> Result<TextFile> {
        let content = self.read(place, limit)?;
        encoding::decode(&content).ok_or_else(|| Error::Binary { path: place.absolute().to_path_buf() })
    }

    /// At most `most` bytes of the beginning of a file, and its size.
    pub fn read_beginning(&self, place: &Inside, most: u64) -> Result<(Vec<u8>, u64)> {
        let mut file = self.open_file(place)?;
        let failed = |error| Error::io("read", place.absolute(), error);
        let size = file.metadata().map_err(failed)?.len();
        let mut content = Vec::new();
        (&mut file).take(most).read_to_end(&mut content).map_err(failed)?;
        Ok((content, size))
    }

    /// The first bytes of a file and its size, to tell what it is without reading it.
    pub fn peek(&self, place: &Inside) -> Result<(Vec<u8>, u64)> {
        let file = self.open_file(place)?;
        let failed = |error| Error::io("read", place.absolute(), error);
        let size = file.metadata().map_err(failed)?.len();
        let mut head = vec![0; PROBE];
        let mut filled = 0;
        while filled < head.len() {
            match file.read_at(&mut head[filled..], filled as u64).map_err(failed)? {
                0 => break,
                count => filled += count,
            }
        }
        head.truncate(filled);
        Ok((head, size))
    }
}
