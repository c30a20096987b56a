//! Pages from servers of the tests, which a rule opens.

use std::sync::Arc;

use serde_json::{Value, json};
use stepwell_protocol::PermissionMode;
use stepwell_tool_runtime::{Effect, JudgeOptions, JudgePlaces, Outcome, Rule, RuleJudge, RuleSource};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::bench::{Bench, free};

/// Answers each path with a whole response, and counts requests.
async fn server(answer: impl Fn(&str, u16) -> Vec<u8> + Send + Sync + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = vec![0; 8192];
            let read = stream.read(&mut request).await.unwrap_or(0);
            let text = String::from_utf8_lossy(&request[..read]).into_owned();
            let path = text.split(' ').nth(1).unwrap_or("/").to_owned();
            stream.write_all(&answer(&path, port)).await.ok();
            stream.shutdown().await.ok();
        }
    });
    port
}

fn page(kind: &str, body: &[u8]) -> Vec<u8> {
    let mut answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    )
    .into_bytes();
    answer.extend_from_slice(body);
    answer
}

fn redirect(to: &str) -> Vec<u8> {
    format!("HTTP/1.1 302 Found\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        .into_bytes()
}

/// A bench in which rules open hosts.
fn opened(rules: &[String]) -> Bench {
    let mut bench = free();
    let places = JudgePlaces { roots: vec![bench.path("").display().to_string()], ..JudgePlaces::default() };
    let parse =
        |text: &String| Rule::parse(Effect::Allow, text, RuleSource::Session, &places).expect("a rule");
    let rules = rules.iter().map(parse).collect();
    let options = JudgeOptions { rules, places, ..JudgeOptions::for_mode(PermissionMode::BypassPermissions) };
    bench.env.permission = Arc::new(RuleJudge::new(options));
    bench
}

async fn fetch(bench: &Bench, url: String) -> Outcome {
    bench.call("fetch", json!({"url": url})).await
}

fn data(outcome: &Outcome) -> Value {
    outcome.output.clone().expect("an answer")
}

#[tokio::test]
async fn a_page_of_an_opened_port_is_read_as_markdown() {
    let port = server(|path, _| match path {
        "/moved" => redirect("/page"),
        "/page" => page("text/html; charset=utf-8", b"<html><head><title>Shop</title><script>evil()</script></head><body><h1>Prices</h1><p>Ten <b>coins</b>.</p><a href='/more'>more</a></body></html>"),
        "/data" => page("application/json", b"{\"a\": 1}"),
        "/picture" => page("image/png", b"\x89PNG"),
        _ => b"HTTP/1.1 404 Not Found\r\ncontent-length: 4\r\nconnection: close\r\n\r\ngone".to_vec(),
    })
    .await;
    let bench = opened(&[format!("network(localhost:{port})")]);
    let read = fetch(&bench, format!("http://localhost:{port}/moved")).await;
    let text = read.result.output.clone();
    assert!(
        text.contains("# Prices") && text.contains("Ten **coins**.") && text.contains("[more](/more)"),
        "{text}"
    );
    assert!(text.contains("data from outside") && !text.contains("evil"), "{text}");
    assert_eq!(data(&read)["url"], format!("http://localhost:{port}/page"));
    assert_eq!(data(&fetch(&bench, format!("http://localhost:{port}/data")).await)["content"], "{\"a\": 1}");
    let picture = fetch(&bench, format!("http://localhost:{port}/picture")).await.result.output;
    assert!(picture.contains("which is no text"), "{picture}");
    let gone = fetch(&bench, format!("http://localhost:{port}/nothing")).await.result.output;
    assert!(gone.contains("answers with status 404: gone"), "{gone}");
}

/// N: nothing of this machine or of private networks is reached, by no spelling and no redirect.
#[tokio::test]
async fn n02_n03_n05_n06_n09_addresses_inside_are_refused_in_every_spelling_and_at_every_redirect() {
    let inside = server(|_, _| page("text/plain", b"TOP SECRET")).await;
    let spellings = [
        format!("http://127.0.0.1:{inside}/"),
        format!("http://localhost:{inside}/"),
        format!("http://[::1]:{inside}/"),
        format!("http://[::ffff:127.0.0.1]:{inside}/"),
        format!("http://0x7f000001:{inside}/"),
        format!("http://2130706433:{inside}/"),
        format!("http://127.1:{inside}/"),
        format!("http://0177.0.0.1:{inside}/"),
        format!("http://[::]:{inside}/"),
        "http://0xA9FEA9FE/".to_owned(),
        "http://172.31.255.255/".to_owned(),
        "http://100.64.0.1/".to_owned(),
        "http://[fe80::1]/".to_owned(),
        format!("http://example.com@127.0.0.1:{inside}/"),
        format!("http://0.0.0.0:{inside}/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://10.0.0.1/".to_owned(),
        "http://192.168.1.1/".to_owned(),
        "http://[fd00::1]/".to_owned(),
        "file:///etc/passwd".to_owned(),
        "gopher://127.0.0.1/".to_owned(),
        format!("http://user:password@localhost:{inside}/"),
    ];
    // Every host may be reached as far as rules are concerned.
    let bench = opened(&["network(*)".to_owned(), "fetch".to_owned()]);
    for url in &spellings {
        let outcome = fetch(&bench, url.clone()).await;
        assert!(outcome.result.error.is_some(), "{url}: {}", outcome.result.output);
        assert!(!outcome.result.output.contains("TOP SECRET"), "{url}");
    }
    let targets = spellings.clone();
    let front = server(move |path, _| {
        let at: usize = path.trim_start_matches('/').parse().unwrap_or(0);
        redirect(&targets[at])
    })
    .await;
    let bench = opened(&[format!("network(localhost:{front})"), "fetch".to_owned(), "network(*)".to_owned()]);
    for (at, url) in spellings.iter().enumerate() {
        let outcome = fetch(&bench, format!("http://localhost:{front}/{at}")).await;
        assert!(outcome.result.error.is_some(), "{url}: {}", outcome.result.output);
        assert!(!outcome.result.output.contains("TOP SECRET"), "{url}");
    }
}

#[tokio::test]
async fn n15_endless_and_compressed_pages_end() {
    let port = server(|path, port| {
        if path == "/loop" {
            return redirect(&format!("http://localhost:{port}/loop"));
        }
        // 100 MB of zeros in 100 KB.
        let mut body = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        std::io::copy(&mut std::io::Read::take(std::io::repeat(b'a'), 100 << 20), &mut body).expect("packed");
        let body = body.finish().expect("packed");
        let mut answer = format!("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len()).into_bytes();
        answer.extend(body);
        answer
    })
    .await;
    let bench = opened(&[format!("network(localhost:{port})")]);
    let endless = fetch(&bench, format!("http://localhost:{port}/loop")).await.result.output;
    assert!(endless.contains("redirects more than 8 times"), "{endless}");
    let bomb = fetch(&bench, format!("http://localhost:{port}/bomb")).await;
    let body = data(&bomb);
    assert_eq!((body["bytes"].as_u64(), body["cut"].as_bool()), (Some(10 << 20), Some(true)));
}
