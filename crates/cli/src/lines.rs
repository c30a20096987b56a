//! Lines that another program writes to us.

use tokio::io::AsyncBufReadExt;

/// Bytes of one line at most: an image and a long text fit.
const LONGEST_LINE: usize = 64 << 20;

/// Lines of a bounded length. Reading one can be broken off at any time without losing a byte.
pub struct Lines<R> {
    input: R,
    line: Vec<u8>,
}

impl<R: tokio::io::AsyncBufRead + Unpin> Lines<R> {
    pub fn new(input: R) -> Self {
        Self { input, line: Vec::new() }
    }

    /// The next line without its end; `None` at the end of the input.
    pub async fn next(&mut self) -> anyhow::Result<Option<Vec<u8>>> {
        loop {
            let available = self.input.fill_buf().await?;
            if available.is_empty() {
                let rest = std::mem::take(&mut self.line);
                return Ok((!rest.is_empty()).then_some(rest));
            }
            let (taken, ended) = match available.iter().position(|byte| *byte == b'\n') {
                Some(end) => (end, true),
                None => (available.len(), false),
            };
            self.line.extend_from_slice(&available[..taken]);
            self.input.consume(taken + usize::from(ended));
            if self.line.len() > LONGEST_LINE {
                anyhow::bail!("a message is longer than {LONGEST_LINE} bytes");
            }
            if ended {
                return Ok(Some(std::mem::take(&mut self.line)));
            }
        }
    }
}
