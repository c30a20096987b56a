//! The way from the sandbox's loopback to the proxy's socket.

use std::io;
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::mounts::PROXY_SOCKET;
use super::{Setup, at};
use crate::confine::PROXY_PORT;

/// Connections at a time; the proxy has its own limit.
const MOST_CONNECTIONS: usize = 128;

pub(super) fn listen() -> Setup<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, PROXY_PORT)).map_err(at("listen for the proxy"))
}

/// Carries every connection to the proxy, beside everything else.
pub(super) fn serve(listener: TcpListener) -> Setup<()> {
    let open = Arc::new(AtomicUsize::new(0));
    std::thread::Builder::new()
        .name("forward".into())
        .spawn(move || {
            for client in listener.incoming().flatten() {
                if open.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
                    open.fetch_sub(1, Ordering::Relaxed);
                    continue;
                }
                let counter = Arc::clone(&open);
                let carried = std::thread::Builder::new().spawn(move || {
                    carry(&client).ok();
                    counter.fetch_sub(1, Ordering::Relaxed);
                });
                if carried.is_err() {
                    open.fetch_sub(1, Ordering::Relaxed);
                }
            }
        })
        .map(drop)
        .map_err(at("start the forwarder"))
}

/// Copies both ways until both ends have said all.
fn carry(client: &TcpStream) -> io::Result<()> {
    let proxy = UnixStream::connect(PROXY_SOCKET)?;
    let (mut from_client, mut to_proxy) = (client.try_clone()?, proxy.try_clone()?);
    let upwards = std::thread::Builder::new().spawn(move || {
        io::copy(&mut from_client, &mut to_proxy).ok();
        to_proxy.shutdown(Shutdown::Write).ok();
    })?;
    let (mut from_proxy, mut to_client) = (proxy, client.try_clone()?);
    io::copy(&mut from_proxy, &mut to_client).ok();
    client.shutdown(Shutdown::Both).ok();
    upwards.join().ok();
    Ok(())
}
