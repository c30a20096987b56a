//! From a host to a connection: asked about, resolved, checked, dialled.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::net::TcpStream;

use super::address::refusal;
use super::host::Host;
use super::{Duplex, HostGate};

const RESOLVE: Duration = Duration::from_secs(10);
const CONNECT: Duration = Duration::from_secs(10);
/// This machine's own, in the order in which they are tried.
const LOOPBACK: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
/// Addresses of one name that are tried.
const MOST_TRIED: usize = 4;

/// Turns names into addresses.
#[async_trait]
pub trait Resolver: Send + Sync {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// Connects to addresses.
#[async_trait]
pub trait Connector: Send + Sync {
    async fn connect(&self, address: SocketAddr) -> io::Result<Box<dyn Duplex>>;
}

/// The machine's own resolver and network.
#[derive(Clone, Copy, Debug)]
pub struct System;

#[async_trait]
impl Resolver for System {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((host, 0)).await?.map(|address| address.ip()).collect())
    }
}

#[async_trait]
impl Connector for System {
    async fn connect(&self, address: SocketAddr) -> io::Result<Box<dyn Duplex>> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true).ok();
        Ok(Box::new(stream))
    }
}

/// Why there is no connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It is not allowed.
    Denied(String),
    /// It is allowed and does not work.
    Unreachable(String),
}

pub(super) struct Dialler {
    pub gate: Arc<dyn HostGate>,
    pub resolver: Arc<dyn Resolver>,
    pub connector: Arc<dyn Connector>,
}

impl Dialler {
    pub(super) async fn dial(&self, host: &Host, port: u16) -> Result<Box<dyn Duplex>, Refusal> {
        if host.is_loopback() && self.gate.loopback_ports().contains(&port) {
            return self.connect(host, port, LOOPBACK.to_vec()).await;
        }
        self.gate.admit(&host.to_string(), port).await.map_err(Refusal::Denied)?;
        let addresses = self.addresses(host).await?;
        // One address that is not public spoils them all: who names both wants the other one reached.
        if let Some((address, why)) = addresses.iter().find_map(|one| Some((one, refusal(*one)?))) {
            return Err(Refusal::Denied(format!("`{host}` is {address}, which is {why}")));
        }
        self.connect(host, port, addresses).await
    }

    async fn connect(
        &self,
        host: &Host,
        port: u16,
        addresses: Vec<IpAddr>,
    ) -> Result<Box<dyn Duplex>, Refusal> {
        let mut problem = format!("`{host}` has no address");
        for address in addresses.into_iter().take(MOST_TRIED) {
            let address = SocketAddr::new(address, port);
            match tokio::time::timeout(CONNECT, self.connector.connect(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => problem = format!("`{host}` cannot be reached at {address}: {error}"),
                Err(_) => problem = format!("`{host}` does not answer at {address}"),
            }
        }
        Err(Refusal::Unreachable(problem))
    }

    async fn addresses(&self, host: &Host) -> Result<Vec<IpAddr>, Refusal> {
        let name = match host {
            Host::Address(address) => return Ok(vec![*address]),
            Host::Name(name) => name,
        };
        match tokio::time::timeout(RESOLVE, self.resolver.resolve(name)).await {
            Ok(Ok(addresses)) => Ok(addresses),
            Ok(Err(error)) => Err(Refusal::Unreachable(format!("`{host}` cannot be resolved: {error}"))),
            Err(_) => Err(Refusal::Unreachable(format!("nobody resolves `{host}` in time"))),
        }
    }
}
