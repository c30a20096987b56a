//! The proxy's HTTP side: `CONNECT` for anything over TLS, and plain requests one at a time.

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::Duplex;
use super::dial::{Dialler, Refusal};
use super::host::Host;
use super::relay::Further;

const LONGEST_HEAD: usize = 32 * 1024;

/// A request, up to its empty line.
struct Head {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
}

/// Reads a request and connects to its host. What was read beyond the request's head goes along.
pub(super) async fn open(
    first: u8,
    client: &mut impl Duplex,
    dialler: &Dialler,
) -> Option<(Box<dyn Duplex>, Further)> {
    let (head, rest) = match read_head(first, client).await {
        Ok(read) => read,
        Err(problem) => return refuse(client, "400 Bad Request", problem).await,
    };
    let outcome = if head.method == "CONNECT" {
        tunnel(&head, dialler).await.map(|host| (host, None))
    } else {
        plain(&head, dialler).await.map(|(host, request, body)| (host, Some((request, body))))
    };
    let (mut host, request) = match outcome {
        Ok(opened) => opened,
        Err(Refusal::Denied(why)) => return refuse(client, "403 Forbidden", &why).await,
        Err(Refusal::Unreachable(why)) => return refuse(client, "502 Bad Gateway", &why).await,
    };
    let Some((request, body)) = request else {
        client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await.ok()?;
        host.write_all(&rest).await.ok()?;
        return Some((host, Further::Everything));
    };
    host.write_all(request.as_bytes()).await.ok()?;
    // Nothing beyond this request's body: a second request could name another host.
    let sent = rest.len().min(usize::try_from(body).unwrap_or(usize::MAX));
    host.write_all(&rest[..sent]).await.ok()?;
    Some((host, Further::Bytes(body - sent as u64)))
}

async fn tunnel(head: &Head, dialler: &Dialler) -> Result<Box<dyn Duplex>, Refusal> {
    let (host, port) = Host::with_port(head.target.as_bytes(), None).map_err(Refusal::Denied)?;
    dialler.dial(&host, port).await
}

/// Connects for a plain request; gives the request as the host shall see it, and the length of its body.
async fn plain(head: &Head, dialler: &Dialler) -> Result<(Box<dyn Duplex>, String, u64), Refusal> {
    let denied = |why: &str| Refusal::Denied(why.to_owned());
    let rest =
        head.target.strip_prefix("http://").ok_or_else(|| denied("only http:// and CONNECT are carried"))?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let (host, port) = Host::with_port(authority.as_bytes(), Some(80)).map_err(Refusal::Denied)?;
    let mut body = 0;
    for (name, value) in &head.headers {
        match name.as_str() {
            "transfer-encoding" => return Err(denied("a body without a length is not carried")),
            "content-length" => {
                body = value.parse().map_err(|_| denied("the content length is no number"))?;
            }
            _ => {}
        }
    }
    let stream = dialler.dial(&host, port).await?;
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    let mut request =
        format!("{} {path} HTTP/1.1\r\nhost: {authority}\r\nconnection: close\r\n", head.method);
    for (name, value) in &head.headers {
        // The host is the one that was asked about; the rest are words between neighbours.
        let own =
            matches!(name.as_str(), "host" | "connection" | "keep-alive" | "te" | "trailer" | "upgrade");
        if !own && !name.starts_with("proxy-") {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
    }
    request.push_str("\r\n");
    Ok((stream, request, body))
}

async fn read_head(first: u8, client: &mut impl Duplex) -> Result<(Head, Vec<u8>), &'static str> {
    let mut bytes = vec![first];
    let end = loop {
        if let Some(at) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break at;
        }
        if bytes.len() > LONGEST_HEAD {
            return Err("the request's head is too long");
        }
        match client.read_buf(&mut bytes).await {
            Ok(1..) => {}
            _ => return Err("the request ended early"),
        }
    };
    let rest = bytes.split_off(end + 4);
    bytes.truncate(end);
    let text = String::from_utf8(bytes).map_err(|_| "the request is no text")?;
    // A bare carriage return or a NUL is read differently by different servers.
    if text.replace("\r\n", "\n").contains(['\r', '\0']) {
        return Err("the request has stray control characters");
    }
    let mut lines = text.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(target), Some(version), None) =
        (words.next(), words.next(), words.next(), words.next())
    else {
        return Err("the request line is malformed");
    };
    if !method.bytes().all(|byte| byte.is_ascii_uppercase()) || !version.starts_with("HTTP/1.") {
        return Err("the request line is malformed");
    }
    let mut headers = Vec::new();
    for line in lines {
        let is_name = |name: &str| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
        };
        match line.split_once(':') {
            Some((name, value)) if is_name(name) && !line.contains('\n') => {
                headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
            }
            _ => return Err("a header is malformed"),
        }
    }
    let twice = |name: &str| headers.iter().filter(|(known, _)| known == name).count() > 1;
    if twice("content-length") || twice("host") {
        return Err("a header comes twice");
    }
    Ok((Head { method: method.into(), target: target.into(), headers }, rest))
}

async fn refuse<T>(client: &mut impl Duplex, status: &str, why: &str) -> Option<T> {
    let text = format!("Stepwell's sandbox: {why}\n");
    let answer = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
        text.len()
    );
    client.write_all(answer.as_bytes()).await.ok();
    None
}
