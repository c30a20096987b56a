//! From an address to an answer: checked, resolved, checked again, and again at every redirect.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use stepwell_net::header::HeaderMap;
use stepwell_net::{Page, PageError, PageLimits, get_page};
use stepwell_protocol::ErrorClass;
use stepwell_sandbox::address_refusal;
use stepwell_tool_runtime::{NetworkGate, ToolContext, ToolError};
use url::{Host, Url};

const MOST_REDIRECTS: usize = 8;
const RESOLVE: Duration = Duration::from_secs(10);
const LONGEST_URL: usize = 8 * 1024;

/// An answer and where it came from in the end.
#[derive(Debug)]
pub(crate) struct Reached {
    pub url: Url,
    pub page: Page,
}

/// Reads an address as a person or a model writes it.
pub(crate) fn web_address(text: &str) -> Result<Url, ToolError> {
    let bad = |why: &str| ToolError::parameter(format!("`{}` {why}", text.escape_debug()));
    if text.len() > LONGEST_URL {
        return Err(ToolError::parameter("the address is too long"));
    }
    let url = Url::parse(text.trim()).map_err(|error| bad(&format!("is no address: {error}")))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(bad("is no address of the web; it begins with https:// or http://"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(bad("holds a user or a password, which do not belong in an address"));
    }
    if url.host().is_none() {
        return Err(bad("names no host"));
    }
    Ok(url)
}

/// `host:port`, as rules and previews write it.
pub(crate) fn host_and_port(url: &Url) -> (String, u16) {
    let host = url.host_str().unwrap_or_default().trim_end_matches('.').to_owned();
    (host, url.port_or_known_default().unwrap_or(443))
}

/// Why a literal address is refused before anybody is asked.
pub(crate) fn literal_refusal(url: &Url, network: &dyn NetworkGate) -> Option<ToolError> {
    let address = match url.host()? {
        Host::Ipv4(address) => IpAddr::V4(address),
        Host::Ipv6(address) => IpAddr::V6(address),
        Host::Domain(_) => return None,
    };
    if is_opened_loopback(url, network) {
        return None;
    }
    address_refusal(address).map(|why| refused(url, address, why))
}

fn refused(url: &Url, address: IpAddr, why: &str) -> ToolError {
    let (host, port) = host_and_port(url);
    let hint = if address.is_loopback() {
        format!("; a rule opens it: `allow = [\"network(localhost:{port})\"]`")
    } else {
        String::new()
    };
    ToolError::permission(format!("`{host}` is {address}, which is {why}, and is not reached{hint}"))
}

/// Whether the address is this machine by name, at a port that a rule opens.
fn is_opened_loopback(url: &Url, network: &dyn NetworkGate) -> bool {
    let is_loopback = match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            name == "localhost" || name.ends_with(".localhost")
        }
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    };
    is_loopback && network.loopback_ports().contains(&host_and_port(url).1)
}

/// Gets a page. The first host was approved with the call; every other one is asked about.
pub(crate) async fn reach(
    ctx: &ToolContext,
    first: &Url,
    accept: &str,
    limits: PageLimits,
) -> Result<Reached, ToolError> {
    let mut url = first.clone();
    let mut admitted = vec![host_and_port(first)];
    for _ in 0..=MOST_REDIRECTS {
        let target = host_and_port(&url);
        if !admitted.contains(&target) {
            ctx.network.admit(&target.0, target.1).await.map_err(ToolError::permission)?;
            admitted.push(target);
        }
        let addresses = addresses(ctx, &url).await?;
        let page = tokio::select! {
            page = get_page(&url, &addresses, HeaderMap::new(), accept, limits) => page,
            () = ctx.cancel.cancelled() => return Err(ToolError::interrupted("the call was cancelled")),
        };
        let page = page.map_err(|error| {
            let (host, _) = host_and_port(&url);
            match error {
                PageError::Connection(why) => {
                    ToolError::new(ErrorClass::ConnectionError, format!("`{host}` cannot be reached: {why}"))
                }
                PageError::TimedOut(_) => {
                    ToolError::new(ErrorClass::TimeoutError, format!("`{host}`: {error}"))
                }
            }
        })?;
        let is_redirect = matches!(page.status, 301 | 302 | 303 | 307 | 308);
        let Some(location) = page.location.as_ref().filter(|_| is_redirect) else {
            return Ok(Reached { url, page });
        };
        let next = url.join(location).map_err(|error| {
            ToolError::execution(format!(
                "it redirects to `{}`, which is no address: {error}",
                location.escape_debug()
            ))
        })?;
        let next = web_address(next.as_str())
            .map_err(|error| ToolError::permission(format!("it redirects: {}", error.message)))?;
        if url.scheme() == "https" && next.scheme() == "http" {
            return Err(ToolError::permission(format!("it redirects to `{next}`, which is not encrypted")));
        }
        url = next;
    }
    Err(ToolError::execution(format!("it redirects more than {MOST_REDIRECTS} times")))
}

/// The addresses of a host, all of them public.
async fn addresses(ctx: &ToolContext, url: &Url) -> Result<Vec<SocketAddr>, ToolError> {
    let (name, port) = host_and_port(url);
    if is_opened_loopback(url, &*ctx.network) {
        let own = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
        return Ok(own.map(|address| SocketAddr::new(address, port)).to_vec());
    }
    let found: Vec<IpAddr> = match url.host() {
        Some(Host::Ipv4(address)) => vec![IpAddr::V4(address)],
        Some(Host::Ipv6(address)) => vec![IpAddr::V6(address)],
        _ => {
            let looked = tokio::time::timeout(RESOLVE, tokio::net::lookup_host((name.as_str(), port))).await;
            let unknown = |why: String| {
                ToolError::new(ErrorClass::ConnectionError, format!("`{name}` cannot be resolved: {why}"))
            };
            let looked = looked.map_err(|_| unknown("nobody answers".to_owned()))?;
            looked.map_err(|error| unknown(error.to_string()))?.map(|address| address.ip()).collect()
        }
    };
    // One address that is not public spoils them all: who names both wants the other one reached.
    if let Some((address, why)) = found.iter().find_map(|one| Some((*one, address_refusal(*one)?))) {
        return Err(refused(url, address, why));
    }
    Ok(found.into_iter().map(|address| SocketAddr::new(address, port)).collect())
}
