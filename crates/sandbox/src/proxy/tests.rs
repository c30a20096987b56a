//! The proxy on a real socket, with names and connections of the tests' own.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use expect_test::{Expect, expect};
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

use super::*;

/// A network in which every address echoes what it is told, and remembers who was dialled.
#[derive(Default)]
struct Network {
    names: HashMap<&'static str, Vec<Vec<&'static str>>>,
    asked: AtomicUsize,
    dialled: Mutex<Vec<SocketAddr>>,
}

#[async_trait]
impl Resolver for Network {
    async fn resolve(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let answers = self.names.get(host).ok_or_else(|| io::Error::other("no such name"))?;
        let answer = &answers[self.asked.fetch_add(1, Ordering::SeqCst) % answers.len()];
        Ok(answer.iter().map(|text| text.parse().unwrap()).collect())
    }
}

#[async_trait]
impl Connector for Network {
    async fn connect(&self, address: SocketAddr) -> io::Result<Box<dyn Duplex>> {
        self.dialled.lock().push(address);
        let (ours, mut theirs) = tokio::io::duplex(1 << 16);
        tokio::spawn(async move {
            let mut heard = vec![0; 1 << 16];
            while let Ok(count @ 1..) = theirs.read(&mut heard).await {
                theirs.write_all(b"heard: ").await.unwrap();
                theirs.write_all(&heard[..count]).await.unwrap();
                if !heard.starts_with(b"ping") {
                    break;
                }
            }
        });
        Ok(Box::new(ours))
    }
}

/// A gate that lets everything through, so that only the proxy's own rule stands.
struct Open;

#[async_trait]
impl HostGate for Open {
    async fn admit(&self, _: &str, _: u16) -> Result<(), String> {
        Ok(())
    }
}

struct Bench {
    network: Arc<Network>,
    proxy: Proxy,
    _folder: tempfile::TempDir,
}

fn bench(allowed: &[&str]) -> Bench {
    let network = Arc::new(Network {
        names: HashMap::from([
            ("example.com", vec![vec!["93.184.216.34"]]),
            ("www.example.com", vec![vec!["93.184.216.35"]]),
            ("inside.example.com", vec![vec!["10.0.0.5"]]),
            ("both.example.com", vec![vec!["93.184.216.34", "127.0.0.1"]]),
            ("metadata.google.internal", vec![vec!["169.254.169.254"]]),
            ("rebinding.example.com", vec![vec!["93.184.216.34"], vec!["127.0.0.1"]]),
            ("evil.test", vec![vec!["93.184.216.66"]]),
        ]),
        ..Network::default()
    });
    let folder = tempfile::tempdir().unwrap();
    let gate = Arc::new(AllowedHosts::parse(allowed).unwrap());
    let (resolver, connector) = (Arc::clone(&network), Arc::clone(&network));
    let proxy = Proxy::start_with(folder.path(), gate, resolver, connector).unwrap();
    Bench { network, proxy, _folder: folder }
}

impl Bench {
    /// What the proxy answers to these bytes, until it or the host ends the connection.
    async fn answer(&self, sent: &[u8]) -> Vec<u8> {
        let mut stream = UnixStream::connect(self.proxy.socket()).await.unwrap();
        stream.write_all(sent).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.unwrap();
        answer
    }

    async fn connect(&self, target: &str) -> String {
        let request = format!("CONNECT {target} HTTP/1.1\r\nhost: {target}\r\n\r\nping");
        String::from_utf8_lossy(&self.answer(request.as_bytes()).await).into_owned()
    }

    /// The code in the answer to a SOCKS5 request for a name.
    async fn socks(&self, name: &[u8], port: u16) -> Option<u8> {
        let mut request = vec![5, 1, 0, 5, 1, 0, 3, name.len() as u8];
        request.extend_from_slice(name);
        request.extend(port.to_be_bytes());
        request.extend(b"ping");
        self.answer(&request).await.get(3).copied()
    }

    fn dialled(&self) -> Vec<String> {
        self.network.dialled.lock().drain(..).map(|address| address.to_string()).collect()
    }
}

#[tokio::test]
async fn an_allowed_host_is_reached_in_all_three_ways() {
    let bench = bench(&["example.com", "*.example.com"]);
    let answer = bench.connect("example.com:443").await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("heard: ping"), "{answer}");
    assert_eq!(bench.dialled(), ["93.184.216.34:443"]);
    assert_eq!(bench.socks(b"WWW.Example.com.", 443).await, Some(0));
    assert_eq!(bench.dialled(), ["93.184.216.35:443"]);
    let request = b"POST http://example.com/a?b HTTP/1.1\r\nHost: evil.test\r\nProxy-Authorization: x\r\nContent-Length: 2\r\nX-Y: z\r\n\r\nhiGET http://evil.test/ HTTP/1.1\r\n\r\n";
    let answer = String::from_utf8(bench.answer(request).await).unwrap();
    expect![[r"
        heard: POST /a?b HTTP/1.1
        host: example.com
        connection: close
        content-length: 2
        x-y: z

        hi"]]
    .assert_eq(&answer.replace("\r\n", "\n").replace("heard: hi", "hi"));
    assert_eq!(bench.dialled(), ["93.184.216.34:80"]);
}

/// Ports of this machine are opened one by one; what opens all hosts opens none of them.
#[tokio::test]
async fn loopback_is_reached_at_the_ports_that_are_named_and_at_no_other() {
    let named = bench(&["localhost:8080", "example.com"]);
    for target in ["localhost:8080", "127.0.0.1:8080", "[::1]:8080", "LOCALHOST.:8080"] {
        let answer = named.connect(target).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{target}: {answer}");
        assert_eq!(named.dialled(), ["127.0.0.1:8080"], "{target}");
    }
    assert_eq!(named.socks(b"localhost", 8080).await, Some(0));
    assert_eq!(named.dialled(), ["127.0.0.1:8080"]);
    for target in
        ["localhost:8081", "localhost:80", "127.0.0.2:8080", "0.0.0.0:8080", "[::ffff:127.0.0.1]:8080"]
    {
        let answer = named.connect(target).await;
        assert!(answer.starts_with("HTTP/1.1 403 "), "{target}: {answer}");
    }
    // Without a port it means those of the web, which are not open either.
    let unnamed = bench(&["localhost", "*.example.com:8080"]);
    for target in ["localhost:80", "localhost:443", "both.example.com:8080"] {
        let answer = unnamed.connect(target).await;
        assert!(
            answer.starts_with("HTTP/1.1 403 ") || answer.starts_with("HTTP/1.1 502 "),
            "{target}: {answer}"
        );
    }
    assert!(named.dialled().is_empty() && unnamed.dialled().is_empty());
}

/// N11 and N12: names that look like an allowed one.
#[tokio::test]
async fn a_name_like_an_allowed_one_is_not_allowed() {
    let bench = bench(&["example.com", "*.example.com"]);
    for target in [
        "example.com.evil.test:443",
        "evilexample.com:443",
        "example.com%00.evil.test:443",
        "evil.test:443",
        "evil.test%2f.example.com:443",
        "evil.test\\.example.com:443",
        "example.com@evil.test:443",
        "evil.test#.example.com:443",
        "..example.com:443",
        "exаmple.com:443",
        "example.com:22",
        "example.com:0",
        "example.com:+443",
        "example.com",
        "[example.com]:443",
    ] {
        let answer = bench.connect(target).await;
        assert!(answer.starts_with("HTTP/1.1 403 "), "{target}: {answer}");
    }
    for target in [
        "http://evil.test/",
        "http://example.com@127.0.0.1/",
        "http://127.0.0.1#@example.com/",
        "http://example.com:80@127.0.0.1:22/",
        "http://127.0.0.1\\@example.com/",
        "http:///127.0.0.1",
        "http://①②⑦.⓪.⓪.①/",
        "http://127。0。0。1/",
        "http://exa%00mple.com/",
        "http://example.com\t.evil.test/",
        "http://[::ffff:127.0.0.1]/",
        "http:evil.test/",
        "http:/evil.test/",
        "//evil.test/",
        "http://example.com@evil.test/",
        "http://example.com:80@evil.test:80/",
        "ftp://example.com/",
        "https://example.com/",
        "/",
    ] {
        let answer =
            bench.answer(format!("GET {target} HTTP/1.1\r\nhost: example.com\r\n\r\n").as_bytes()).await;
        assert!(answer.starts_with(b"HTTP/1.1 403 "), "{target}");
    }
    for name in [
        &b"evil.test\0.example.com"[..],
        b"evil.test",
        b"example.com\0",
        b"",
        b"\xff.example.com",
        b"example.com\n",
    ] {
        assert_ne!(bench.socks(name, 443).await, Some(0), "{}", name.escape_ascii());
    }
    assert_eq!(bench.dialled(), Vec::<String>::new());
}

/// N02, N03, N05 and N06: addresses that are not public, however they are written, even when the list names them.
#[tokio::test]
async fn an_address_that_is_not_public_is_not_dialled() {
    let hosts = [
        "127.0.0.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0x7f.1",
        "017700000001",
        "127.1",
        "[::1]",
        "[::]",
        "[0:0:0:0:0:0:0:1]",
        "[::1%lo]",
        "[::ffff:127.0.0.1]",
        "[::ffff:a9fe:a9fe]",
        "169.254.169.254",
        "0xA9FEA9FE",
        "2852039166",
        "[fd00:ec2::254]",
        "metadata.google.internal",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "10.0.0.1",
        "172.31.255.255",
        "192.168.0.1",
        "100.64.0.1",
        "[fe80::1]",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "0.0.0.0",
        "127。0。0。1",
        "inside.example.com",
        "both.example.com",
    ];
    let mut bench = bench(&[]);
    let network = Arc::clone(&bench.network);
    let place = bench.proxy.folder.parent().unwrap().join("open");
    bench.proxy = Proxy::start_with(&place, Arc::new(Open), Arc::clone(&network) as _, network).unwrap();
    for host in hosts {
        let answer = bench.connect(&format!("{host}:443")).await;
        assert!(answer.starts_with("HTTP/1.1 403 "), "{host}: {answer}");
        let plain = bench.answer(format!("GET http://{host}/ HTTP/1.1\r\n\r\n").as_bytes()).await;
        assert!(plain.starts_with(b"HTTP/1.1 403 "), "{host}");
        assert_ne!(bench.socks(host.as_bytes(), 443).await, Some(0), "{host}");
    }
    for address in [
        &[5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, 0, 80][..],
        &[5, 1, 0, 5, 1, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 80],
    ] {
        assert_eq!(bench.answer(address).await.get(3), Some(&2));
    }
    assert_eq!(bench.dialled(), Vec::<String>::new());
    assert!(bench.connect("93.184.216.34:443").await.starts_with("HTTP/1.1 200 "));
}

/// N08: the address that was checked is the one that is dialled.
#[tokio::test]
async fn a_name_is_resolved_once_for_each_connection() {
    let bench = bench(&["*.example.com"]);
    for _ in 0..4 {
        bench.connect("rebinding.example.com:443").await;
    }
    assert_eq!(bench.network.asked.load(Ordering::SeqCst), 4);
    assert_eq!(bench.dialled(), ["93.184.216.34:443", "93.184.216.34:443"]);
}

#[tokio::test]
async fn what_is_malformed_is_refused_and_nothing_waits_for_ever() {
    let bench = bench(&["example.com"]);
    for request in [
        &b"GET http://example.com/ HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n"[..],
        b"GET http://example.com/ HTTP/1.1\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
        b"GET http://example.com/\rX HTTP/1.1\r\n\r\n",
        b"GET http://example.com/ HTTP/1.1\r\nno colon\r\n\r\n",
        b"GET  http://example.com/ HTTP/1.1\r\n\r\n",
        b"GET http://example.com/ HTTP/2\r\n\r\n",
        b"\x16\x03\x01",
        b"CONNECT example.com:443",
    ] {
        let answer = bench.answer(request).await;
        assert!(answer.starts_with(b"HTTP/1.1 40"), "{}", request.escape_ascii());
    }
    for request in
        [&[5][..], &[5, 1, 2], &[5, 1, 0, 5, 2, 0, 3, 1, b'a', 0, 80], &[5, 1, 0, 5, 1, 0, 9], &[5, 1, 0, 4]]
    {
        assert_ne!(bench.answer(request).await.get(3), Some(&0));
    }
    let long = [&b"GET http://example.com/"[..], &vec![b'a'; 100_000], b" HTTP/1.1\r\n\r\n"].concat();
    assert!(bench.answer(&long).await.starts_with(b"HTTP/1.1 400 "));
    assert_eq!(bench.dialled(), Vec::<String>::new());
}

#[tokio::test]
async fn a_proxy_that_is_dropped_leaves_nothing() {
    let bench = bench(&["example.com"]);
    let (socket, folder) = (bench.proxy.socket().to_path_buf(), bench.proxy.folder.clone());
    let mut open = UnixStream::connect(&socket).await.unwrap();
    open.write_all(b"CONNECT example.com:443 HTTP/1.1\r\n\r\n").await.unwrap();
    open.read_u8().await.unwrap();
    drop(bench.proxy);
    let mut rest = Vec::new();
    open.read_to_end(&mut rest).await.unwrap();
    assert!(!folder.exists() && UnixStream::connect(&socket).await.is_err());
}

#[test]
fn lists_of_hosts_are_checked() {
    fn check(entry: &str, expected: Expect) {
        let list = AllowedHosts::parse([entry]);
        let covered = list.map(|list| {
            let hosts = [
                ("example.com", 443),
                ("example.com", 8443),
                ("www.example.com", 80),
                ("a.b.example.com", 443),
                ("badexample.com", 443),
            ];
            hosts
                .into_iter()
                .filter(|(host, port)| list.covers(host, *port))
                .map(|(host, port)| format!("{host}:{port}"))
                .collect::<Vec<_>>()
                .join(" ")
        });
        expected.assert_eq(&covered.unwrap_or_else(|problem| format!("error: {problem}")));
    }
    check("example.com", expect!["example.com:443"]);
    check("Example.COM.", expect!["example.com:443"]);
    check("example.com:8443", expect!["example.com:8443"]);
    check("*.example.com", expect!["www.example.com:80 a.b.example.com:443"]);
    check("*.com", expect!["error: `*.com` covers too much; name a domain"]);
    check(
        "*",
        expect!["error: `*` is no host name: only letters, digits, `-`, `_` and single dots are allowed"],
    );
    check(
        "https://example.com",
        expect![
            "error: `https://example.com` is no host name: only letters, digits, `-`, `_` and single dots are allowed"
        ],
    );
    check("", expect!["error: `` is no host name: its length"]);
    check(
        "exa*mple.com",
        expect![
            "error: `exa*mple.com` is no host name: only letters, digits, `-`, `_` and single dots are allowed"
        ],
    );
}
