//! Requests that must be refused, each beside one that is not.

use std::time::Duration;

use stepwell_server::Limits;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::engine::FakeEngine;
use crate::stand::{PATIENCE, Stand, TOKEN, bearer};

const ROUTES: &[(&str, &str)] = &[
    ("GET", "/api/session"),
    ("GET", "/api/metrics"),
    ("GET", "/api/openapi.json"),
    ("GET", "/api/tasks/task-0/events"),
    ("POST", "/api/commands"),
    ("POST", "/api/queries"),
    ("POST", "/api/links"),
    ("POST", "/api/stop"),
];

#[tokio::test]
async fn h01_nothing_is_told_without_the_token() {
    let stand = Stand::start(FakeEngine::with_tasks(1)).await;
    for (method, path) in ROUTES {
        for wrong in ["", "Bearer wrong", &format!("Basic {TOKEN}"), &format!("Bearer {}", &TOKEN[1..])] {
            let headers = [("Authorization", wrong), ("Content-Type", "application/json")];
            let headers = if wrong.is_empty() { &headers[1..] } else { &headers[..] };
            let answer = stand.request(method, path, headers, "{\"type\":\"tasks\"}").await;
            assert_eq!(answer.status, 401, "{method} {path} {wrong}");
        }
        let query = format!("{path}?token={TOKEN}");
        assert_eq!(stand.request(method, &query, &[], "").await.status, 401, "a token in the address");
    }
    assert_eq!(stand.try_socket(&[]).await.err(), Some(401));
    assert_eq!(stand.get("/api/session").await.status, 200);
    assert!(stand.try_socket(&[("Authorization", &bearer())]).await.is_ok());
    // Health is for everybody and says nothing of anybody.
    let health = stand.request("GET", "/api/health", &[], "").await;
    let fields: Vec<String> = health.json().as_object().unwrap().keys().cloned().collect();
    assert_eq!((health.status, fields), (200, vec!["version".to_owned(), "uptime_seconds".to_owned()]));
}

#[tokio::test]
async fn h03_other_names_of_this_machine_are_refused() {
    let stand = Stand::start(FakeEngine::with_tasks(1)).await;
    let port = stand.address.port();
    let own = stepwell_server::Token::new(TOKEN).unwrap().host_name();
    let ask = async |line: &str, hosts: &[&str]| {
        let hosts = hosts.iter().fold(String::new(), |lines, host| format!("{lines}Host: {host}\r\n"));
        let text = format!("{line}\r\n{hosts}Authorization: {}\r\nConnection: close\r\n\r\n", bearer());
        stand.raw(&text).await.split(' ').nth(1).unwrap().to_owned()
    };
    let line = "GET /api/session HTTP/1.1";
    for host in [
        "evil.example",
        "127.0.0.1.nip.io",
        "localhost.evil.example",
        "192.168.1.5",
        "0.0.0.0",
        "x.localhost",
    ] {
        assert_eq!(ask(line, &[&format!("{host}:{port}")]).await, "403", "{host}");
    }
    assert_eq!(ask(line, &[]).await, "400");
    assert_eq!(ask(line, &["127.0.0.1", "127.0.0.1"]).await, "400");
    assert_eq!(ask("GET http://127.0.0.1/api/session HTTP/1.1", &["127.0.0.1"]).await, "400");
    for host in ["127.0.0.1", "localhost", "[::1]", own.as_str()] {
        assert_eq!(ask(line, &[&format!("{host}:{port}")]).await, "200", "{host}");
    }
}

#[tokio::test]
async fn h04_pages_of_other_origins_open_no_socket_and_send_nothing() {
    let stand = Stand::start(FakeEngine::with_tasks(1)).await;
    let cookie = stand.cookie().await;
    let own = stand.origin();
    let other_port = format!("http://127.0.0.1:{}", stand.address.port() ^ 1);
    for origin in ["http://evil.example", "null", &other_port, &own.replace("http", "https"), ""] {
        for credential in [("Authorization", bearer()), ("Cookie", cookie.clone())] {
            let headers = [(credential.0, credential.1.as_str()), ("Origin", origin)];
            assert_eq!(stand.try_socket(&headers).await.err(), Some(403), "{origin} {}", credential.0);
            let answer = stand.request("POST", "/api/queries", &headers, "{\"type\":\"tasks\"}").await;
            assert_eq!(answer.status, 403, "{origin} {}", credential.0);
        }
    }
    // A cookie without an origin may come from a form of any page.
    assert_eq!(stand.try_socket(&[("Cookie", &cookie)]).await.err(), Some(403));
    let kind = ("Content-Type", "application/json");
    let query = "{\"type\":\"tasks\"}";
    assert_eq!(stand.request("POST", "/api/queries", &[("Cookie", &cookie), kind], query).await.status, 403);
    for site in ["cross-site", "same-site"] {
        let headers = [("Cookie", cookie.as_str()), ("Sec-Fetch-Site", site)];
        assert_eq!(stand.request("GET", "/api/session", &headers, "").await.status, 401, "{site}");
    }
    // The page itself may.
    let headers = [("Cookie", cookie.as_str()), ("Origin", &own)];
    assert!(stand.try_socket(&headers).await.is_ok());
    let answer = stand.request("POST", "/api/queries", &[headers[0], headers[1], kind], query).await;
    assert_eq!((answer.status, answer.json()["total"].as_u64()), (200, Some(7)));
    // A form cannot send JSON.
    let answer = stand
        .request("POST", "/api/queries", &[headers[0], headers[1], ("Content-Type", "text/plain")], query)
        .await;
    assert_eq!(answer.status, 415);
}

#[tokio::test]
async fn h07_cookies_and_codes_cannot_be_chosen() {
    let stand = Stand::start(FakeEngine::with_tasks(1)).await;
    let cookie = stand.cookie().await;
    for wrong in ["stepwell=1", "stepwell=", "stepwell=a.99999999999.b", &cookie[..cookie.len() - 2]] {
        let answer = stand.request("GET", "/api/session", &[("Cookie", wrong)], "").await;
        assert_eq!(answer.status, 401, "{wrong}");
    }
    // Another server of the same host may have set one of the same name before ours.
    let both = format!("stepwell=theirs; {cookie}");
    assert_eq!(stand.request("GET", "/api/session", &[("Cookie", &both)], "").await.status, 200);
    // A browser has no token: it makes no links and stops nothing.
    let own = stand.origin();
    for path in ["/api/links", "/api/stop"] {
        let answer = stand.request("POST", path, &[("Cookie", &cookie), ("Origin", &own)], "{}").await;
        assert_eq!(answer.status, 401, "{path}");
    }
    let (_, code) = stand.login_path.split_once('#').unwrap();
    for code in [code, "", "guess"] {
        let body = format!("{{\"code\":\"{code}\"}}");
        assert_eq!(
            stand.request("POST", "/api/login", &[("Origin", &own)], &body).await.status,
            403,
            "{code}"
        );
    }
    // Without an origin nobody signs a browser in as somebody else.
    let path = stand.post("/api/links", "{}").await.json()["path"].as_str().unwrap().to_owned();
    let body = format!("{{\"code\":\"{}\"}}", path.split_once('#').unwrap().1);
    assert_eq!(stand.request("POST", "/api/login", &[], &body).await.status, 403);
    let answer = stand.request("POST", "/api/login", &[("Origin", &own)], &body).await;
    assert_eq!(answer.status, 204);
    let set = answer.header("set-cookie").unwrap();
    assert!(set.contains("; HttpOnly; SameSite=Strict") && !set.contains(TOKEN), "{set}");
}

#[tokio::test]
async fn h09_paths_that_lead_elsewhere_are_not_found() {
    let stand = Stand::start(FakeEngine::with_tasks(1)).await;
    for path in [
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/assets/..%5c..%5cetc/passwd",
        "//etc/passwd",
        "/assets/../index.html",
        "/index.html/",
        "/api/file?path=../../",
        "/api/../login",
        "/.git/config",
        "/\0",
    ] {
        let answer = stand.get(path).await;
        assert!(matches!(answer.status, 400 | 404), "{path}: {answer:?}");
        assert!(!answer.body.contains("root:"), "{path}");
    }
    for path in ["/", "/login", "/login.js", "/plain.css"] {
        assert_eq!(stand.get(path).await.status, 200, "{path}");
    }
    for task in ["..", "%2e%2e%2f%2e%2e", "a%00b", "none", &"a".repeat(65)] {
        let answer = stand.get(&format!("/api/tasks/{task}/events")).await;
        assert!(matches!(answer.status, 400 | 404), "{task}: {answer:?}");
    }
}

/// E06, H10: what a page may load and tell others, whatever it shows.
#[tokio::test]
async fn e06_h10_answers_let_pages_load_and_tell_nothing() {
    let stand = Stand::start(FakeEngine::with_tasks(1)).await;
    for (path, headers) in [("/", vec![]), ("/login", vec![]), ("/none", vec![]), ("/api/session", vec![])] {
        let answer = stand.request("GET", path, &headers, "").await;
        let policy = answer.header("content-security-policy").unwrap();
        for part in [
            "default-src 'none'",
            "script-src 'self';",
            "style-src 'self';",
            "img-src 'self' data: blob:;",
            "connect-src 'self';",
            "frame-ancestors 'none'",
        ] {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{policy}");
        for (name, value) in [
            ("referrer-policy", "no-referrer"),
            ("x-content-type-options", "nosniff"),
            ("cross-origin-opener-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
            ("cache-control", "no-store"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{path}");
        }
        assert!(answer.header("access-control-allow-origin").is_none());
        assert!(!format!("{answer:?}").contains(TOKEN));
    }
}

#[tokio::test]
async fn h12_a_server_proves_that_it_knows_the_token() {
    let stand = Stand::start(FakeEngine::with_tasks(1)).await;
    let answer = stand.request("GET", "/api/health?challenge=abc", &[], "").await;
    let expected = stepwell_server::Token::new(TOKEN).unwrap().proof("abc");
    assert_eq!(answer.json()["proof"], expected);
    let other = stepwell_server::Token::new(&TOKEN.replace('0', "1")).unwrap().proof("abc");
    assert_ne!(other, expected);
    let long = format!("/api/health?challenge={}", "a".repeat(129));
    assert_eq!(stand.request("GET", &long, &[], "").await.status, 400);
}

#[tokio::test]
async fn slow_headers_and_bodies_are_cut_off() {
    let limits =
        Limits { headers: Duration::from_millis(300), body: Duration::from_millis(300), ..Limits::STANDARD };
    let stand = Stand::with_limits(FakeEngine::with_tasks(1), limits).await;
    // Headers that never end, a line at a time.
    let mut slow = TcpStream::connect(stand.address).await.unwrap();
    slow.write_all(b"GET /api/health HTTP/1.1\r\nHost: 127.0.0.1\r\n").await.unwrap();
    let mut rest = Vec::new();
    tokio::time::timeout(PATIENCE, slow.read_to_end(&mut rest)).await.expect("still open").ok();
    // A body that never comes.
    let head = format!(
        "POST /api/queries HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {}\r\nContent-Type: application/json\r\n\
         Connection: close\r\nContent-Length: 100\r\n\r\n{{",
        bearer()
    );
    let answer = stand.raw(&head).await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert_eq!(stand.get("/api/session").await.status, 200, "others are served");
}

#[tokio::test]
async fn large_bodies_and_floods_are_refused() {
    let limits = Limits { message_bytes: 1000, burst: 5, per_second: 1, ..Limits::STANDARD };
    let stand = Stand::with_limits(FakeEngine::with_tasks(1), limits).await;
    assert_eq!(stand.post("/api/queries", &"x".repeat(2000)).await.status, 413);
    let mut refused = 0;
    for _ in 0..8 {
        let answer = stand.get("/api/session").await;
        refused += usize::from(answer.status == 429 && answer.header("retry-after") == Some("1"));
    }
    assert!(refused >= 3, "{refused}");
    assert_eq!(stand.request("GET", "/api/health", &[], "").await.status, 200);
}
