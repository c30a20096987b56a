//! The proxy's SOCKS5 side (RFC 1928): connect, without a password.

use std::net::{Ipv4Addr, Ipv6Addr};

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::Duplex;
use super::dial::{Dialler, Refusal};
use super::host::Host;
use super::relay::Further;

pub(super) const VERSION: u8 = 5;
const NO_PASSWORD: u8 = 0;
const NO_METHOD: u8 = 0xff;
const CONNECT: u8 = 1;

/// Answers of RFC 1928.
const DONE: u8 = 0;
const NOT_ALLOWED: u8 = 2;
const UNREACHABLE: u8 = 4;
const UNKNOWN_COMMAND: u8 = 7;
const UNKNOWN_ADDRESS: u8 = 8;

/// Reads a request, whose first byte was read already, and connects to its host.
pub(super) async fn open(client: &mut impl Duplex, dialler: &Dialler) -> Option<(Box<dyn Duplex>, Further)> {
    let count = client.read_u8().await.ok()?;
    let mut methods = vec![0; count.into()];
    client.read_exact(&mut methods).await.ok()?;
    if !methods.contains(&NO_PASSWORD) {
        client.write_all(&[VERSION, NO_METHOD]).await.ok();
        return None;
    }
    client.write_all(&[VERSION, NO_PASSWORD]).await.ok()?;
    let mut request = [0; 4];
    client.read_exact(&mut request).await.ok()?;
    let [VERSION, command, 0, kind] = request else { return None };
    let host = match kind {
        1 => {
            let mut bytes = [0; 4];
            client.read_exact(&mut bytes).await.ok()?;
            Ok(Host::Address(Ipv4Addr::from(bytes).into()))
        }
        3 => {
            let length = client.read_u8().await.ok()?;
            let mut bytes = vec![0; length.into()];
            client.read_exact(&mut bytes).await.ok()?;
            Host::parse(&bytes)
        }
        4 => {
            let mut bytes = [0; 16];
            client.read_exact(&mut bytes).await.ok()?;
            Ok(Host::Address(Ipv6Addr::from(bytes).into()))
        }
        _ => return answer(client, UNKNOWN_ADDRESS).await,
    };
    let port = client.read_u16().await.ok()?;
    if command != CONNECT {
        return answer(client, UNKNOWN_COMMAND).await;
    }
    let Ok(host) = host else { return answer(client, NOT_ALLOWED).await };
    match dialler.dial(&host, port).await {
        Ok(stream) => {
            answer::<()>(client, DONE).await;
            Some((stream, Further::Everything))
        }
        Err(Refusal::Denied(_)) => answer(client, NOT_ALLOWED).await,
        Err(Refusal::Unreachable(_)) => answer(client, UNREACHABLE).await,
    }
}

async fn answer<T>(client: &mut impl Duplex, code: u8) -> Option<T> {
    client.write_all(&[VERSION, code, 0, 1, 0, 0, 0, 0, 0, 0]).await.ok();
    None
}
