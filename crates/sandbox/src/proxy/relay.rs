//! Bytes both ways, until both sides have said all or nothing happens any more.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::Duplex;

/// Without a byte in either direction.
const IDLE: Duration = Duration::from_secs(300);
const BUFFER: usize = 32 * 1024;
/// What a refused client may still say, and how long.
const MOST_HEARD: usize = 1024 * 1024;
const FAREWELL: Duration = Duration::from_secs(2);

/// How much more the client may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Further {
    Everything,
    Bytes(u64),
}

pub(super) async fn both_ways(client: &mut impl Duplex, mut host: Box<dyn Duplex>, further: Further) {
    let mut left = match further {
        Further::Everything => u64::MAX,
        Further::Bytes(count) => count,
    };
    let (mut up, mut down) = (vec![0; BUFFER], vec![0; BUFFER]);
    let (mut client_done, mut host_done) = (false, false);
    while !(client_done && host_done) {
        let most = usize::try_from(left).unwrap_or(BUFFER).min(BUFFER);
        let step = async {
            tokio::select! {
                read = client.read(&mut up[..most]), if !client_done && most > 0 => {
                    let count = read.unwrap_or(0);
                    if count == 0 {
                        client_done = true;
                        return host.shutdown().await.is_ok();
                    }
                    if further != Further::Everything {
                        left -= count as u64;
                    }
                    host.write_all(&up[..count]).await.is_ok()
                },
                read = host.read(&mut down), if !host_done => {
                    let count = read.unwrap_or(0);
                    if count == 0 {
                        host_done = true;
                        // A plain request is answered and over.
                        return client.shutdown().await.is_ok() && further == Further::Everything;
                    }
                    client.write_all(&down[..count]).await.is_ok()
                },
                else => false,
            }
        };
        match tokio::time::timeout(IDLE, step).await {
            Ok(true) => {}
            Ok(false) | Err(_) => return,
        }
    }
}

/// Takes what a client still sends that nobody wants, within bounds: closed on unread bytes, it would not see the answer.
pub(super) async fn hear_out(mut client: impl Duplex) {
    let mut space = vec![0; BUFFER];
    let heard = async {
        client.shutdown().await.ok();
        for _ in 0..MOST_HEARD / BUFFER {
            if client.read(&mut space).await.unwrap_or(0) == 0 {
                break;
            }
        }
    };
    tokio::time::timeout(FAREWELL, heard).await.ok();
}
