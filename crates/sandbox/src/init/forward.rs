//! The way from the sandbox's loopback to the proxy's socket, and through it to ports of the machine's own loopback.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::mounts::PROXY_SOCKET;
use super::{Setup, at};
use crate::confine::PROXY_PORT;
use crate::plan::Plan;

/// Connections at a time; the proxy has its own limit.
const MOST_CONNECTIONS: usize = 128;

/// A listener inside, and where its connections lead.
pub(super) struct Forwarder {
    listener: TcpListener,
    /// The port of the machine's loopback; `None` leads to the proxy itself.
    port: Option<u16>,
}

/// Listens on the proxy's port, and on those of the machine's loopback that are open.
pub(super) fn listen(plan: &Plan) -> Setup<Vec<Forwarder>> {
    let mut forwarders = Vec::new();
    if plan.proxy.is_none() {
        return Ok(forwarders);
    }
    let bind = |address: IpAddr, port: u16| {
        TcpListener::bind((address, port)).map_err(at(format!("listen on port {port}")))
    };
    let (old, new) = (IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST));
    forwarders.push(Forwarder { listener: bind(old, PROXY_PORT)?, port: None });
    for port in plan.loopback.iter().copied().filter(|port| *port != PROXY_PORT) {
        forwarders.push(Forwarder { listener: bind(old, port)?, port: Some(port) });
        // A kernel may have no IPv6; clients then have the other address alone.
        if let Ok(listener) = bind(new, port) {
            forwarders.push(Forwarder { listener, port: Some(port) });
        }
    }
    Ok(forwarders)
}

impl Forwarder {
    /// Carries every connection, beside everything else.
    pub(super) fn serve(self) -> Setup<()> {
        let Self { listener, port } = self;
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
                        carry(&client, port).ok();
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
}

/// Copies both ways until both ends have said all.
fn carry(client: &TcpStream, port: Option<u16>) -> io::Result<()> {
    let proxy = UnixStream::connect(PROXY_SOCKET)?;
    if let Some(port) = port {
        ask_for_loopback(&proxy, port)?;
    }
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

/// Asks the proxy by SOCKS5 (RFC 1928) for a port of the machine's loopback.
fn ask_for_loopback(mut proxy: &UnixStream, port: u16) -> io::Result<()> {
    const NAME: &[u8] = b"localhost";
    proxy.write_all(&[5, 1, 0])?;
    proxy.read_exact(&mut [0; 2])?;
    let mut request = vec![5, 1, 0, 3, NAME.len() as u8];
    request.extend_from_slice(NAME);
    request.extend_from_slice(&port.to_be_bytes());
    proxy.write_all(&request)?;
    let mut answer = [0; 10];
    proxy.read_exact(&mut answer)?;
    if answer[1] == 0 { Ok(()) } else { Err(io::ErrorKind::ConnectionRefused.into()) }
}
