//! Downloads from a server on this machine that answers with canned bytes.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::*;
use crate::Timeouts;

const QUICK: Timeouts = Timeouts {
    connect: Duration::from_secs(5),
    first_byte: Duration::from_millis(300),
    idle: Duration::from_millis(300),
};

/// What the server does with a connection.
#[derive(Clone, Copy)]
enum Answer {
    /// Sends this and closes.
    Whole(&'static str),
    /// Sends this and then nothing.
    Stall(&'static str),
}

/// Downloads `/file` from a server that gives these answers, one per connection. The text, or the error.
async fn downloaded(answers: Vec<Answer>, limit: u64) -> Result<String, Error> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = Url::parse(&format!("http://{}/file", listener.local_addr().unwrap())).unwrap();
    let server = tokio::spawn(async move {
        let mut open = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 4096];
            let _received = stream.read(&mut request).await.unwrap();
            let (Answer::Whole(text) | Answer::Stall(text)) = answer;
            stream.write_all(text.as_bytes()).await.unwrap();
            if matches!(answer, Answer::Stall(_)) {
                open.push(stream);
            }
        }
        std::future::pending::<()>().await;
    });
    let mut text = String::new();
    let keep = |piece: &[u8], _: DownloadProgress| {
        text.push_str(&String::from_utf8_lossy(piece));
        Ok(())
    };
    let outcome = HttpClient::new(QUICK).download(&url, "*/*", limit, keep).await;
    server.abort();
    outcome.map(|_| text)
}

const FILE: Answer = Answer::Whole("HTTP/1.1 200 OK\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello");
const MOVED: Answer =
    Answer::Whole("HTTP/1.1 302 Found\r\nlocation: /other\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");

#[tokio::test]
async fn n09_files_come_whole_also_after_redirects() {
    assert_eq!(downloaded(vec![FILE], 5).await.unwrap(), "hello");
    assert_eq!(downloaded(vec![MOVED, MOVED, FILE], 5).await.unwrap(), "hello");
    let endless = downloaded(vec![MOVED; 6], 5).await.unwrap_err();
    assert!(matches!(endless, Error::Redirect { .. }), "{endless}");
}

#[tokio::test]
async fn n15_faults_have_their_own_variants() {
    let large = downloaded(vec![FILE], 4).await.unwrap_err();
    assert!(matches!(large, Error::TooLarge { limit: 4, .. }), "{large}");
    let gone = Answer::Whole("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    let status = downloaded(vec![gone], 5).await.unwrap_err();
    assert!(matches!(status, Error::Status { status: 404, .. }), "{status}");
    let half = Answer::Whole("HTTP/1.1 200 OK\r\ncontent-length: 9\r\nconnection: close\r\n\r\nhello");
    let broken = downloaded(vec![half], 50).await.unwrap_err();
    assert!(matches!(broken, Error::BrokenOff { .. }), "{broken}");
    let slow = Answer::Stall("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhello");
    let stalled = downloaded(vec![slow], 50).await.unwrap_err();
    assert!(matches!(stalled, Error::Stalled { .. }), "{stalled}");
    let silent = downloaded(vec![Answer::Stall("")], 50).await.unwrap_err();
    assert!(matches!(silent, Error::NoResponse { .. }), "{silent}");
}

#[tokio::test]
async fn a_refused_connection_is_told_apart() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = Url::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
    drop(listener);
    let refused = HttpClient::new(QUICK).download(&url, "*/*", 5, |_, _| Ok(())).await.unwrap_err();
    assert!(matches!(refused, Error::Refused { .. }), "{refused}");
}

#[test]
fn n09_redirects_lead_only_to_what_is_as_safe() {
    let rows = [
        ("https://a.example/x", "https://b.example/y", Some("https://b.example/y")),
        ("https://a.example/x/", "y", Some("https://a.example/x/y")),
        ("https://a.example/x", "http://a.example/x", None),
        ("https://a.example/x", "https://localhost/x", None),
        ("https://a.example/x", "file:///etc/passwd", None),
        ("http://127.0.0.1:1/x", "http://127.0.0.1:2/y", Some("http://127.0.0.1:2/y")),
    ];
    for (from, to, expected) in rows {
        let found = followed(&Url::parse(from).unwrap(), to).ok();
        assert_eq!(found.map(String::from).as_deref(), expected, "{from} to {to}");
    }
}
