//! Who lets whom in, and which server runs.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use super::server::Server;
use crate::world::{World, files_below};

/// The addresses a process listens on, as the kernel writes them.
fn listening(pid: u32) -> Vec<String> {
    let links = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap();
    let sockets: Vec<String> = links
        .filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok())
        .filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let mut found = Vec::new();
    for table in ["tcp", "tcp6"] {
        let text = std::fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap();
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            if fields[3] == "0A" && sockets.iter().any(|socket| socket == fields[9]) {
                found.push(fields[1].split(':').next().unwrap().to_owned());
            }
        }
    }
    found
}

/// H01, H06, H10: only this machine can connect; the token is asked for, kept private and told nowhere.
#[test]
fn a_server_listens_on_this_machine_and_tells_its_token_nowhere() {
    let world = World::new([]);
    let server = Server::start(&world, &["--port", "0"]);
    assert_eq!(listening(server.child.id()), ["0100007F"]);
    let token = server.token.clone();
    assert_eq!(token.len(), 64);
    for (path, content) in files_below(&world.data().join("serve")) {
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{path:?}");
        let is_token = path.ends_with("serve/token");
        assert_eq!(String::from_utf8_lossy(&content).contains(&token), is_token, "{path:?}");
    }
    assert!(server.request("GET /api/session", "", "").starts_with("HTTP/1.1 401 "));
    assert!(server.request("GET /api/session", &server.bearer(), "").starts_with("HTTP/1.1 200 "));
    assert!(
        server.request("GET /api/session?secret=word", &server.bearer(), "").starts_with("HTTP/1.1 200 ")
    );
    for file in ["cmdline", "environ"] {
        let bytes = std::fs::read(format!("/proc/{}/{file}", server.child.id())).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains(&token), "{file}");
    }
    let said = server.end();
    let code = said.split_once("/login#").unwrap().1.split('&').next().unwrap();
    assert!(said.contains("serve/token") && !said.contains(&token), "{said}");
    let log =
        std::fs::read_to_string(world.config().parent().unwrap().join(".local/state/stepwell/stepwell.log"));
    let log = log.unwrap();
    assert!(log.contains("route=\"/api/session\" status=200"), "{log}");
    for secret in [token.as_str(), code, "secret=word"] {
        assert!(!log.contains(secret), "{log}");
    }
    // A file that others could read is not used.
    let path = world.data().join("serve/token");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let output = world.output(&["serve", "--port", "0"]);
    let shown = world.show(&output);
    assert!(output.status.code() == Some(2) && shown.contains("can be read by others"), "{shown}");
}

/// H06: other machines need a certificate or the person's word.
#[test]
fn other_machines_need_a_certificate_or_the_persons_word() {
    let world = World::new([]);
    let output = world.output(&["serve", "--port", "0", "--listen", "0.0.0.0:0"]);
    let shown = world.show(&output);
    assert!(output.status.code() == Some(2) && shown.contains("can be reached by other machines"), "{shown}");
    assert!(world.output(&["serve", "--insecure-no-tls"]).status.code() == Some(2));
    let server = Server::start(&world, &["--port", "0", "--listen", "0.0.0.0:0", "--insecure-no-tls"]);
    let mut addresses = listening(server.child.id());
    addresses.sort();
    assert_eq!(addresses, ["00000000", "0100007F"]);
    assert!(server.request("GET /api/session", "", "").starts_with("HTTP/1.1 401 "));
    server.end();
}

#[test]
fn a_second_start_finds_the_first_and_stop_ends_it() {
    let world = World::new([]);
    let status = |expected: i32| {
        let output = world.output(&["serve", "status", "--json"]);
        assert_eq!(output.status.code(), Some(expected), "{}", world.show(&output));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).unwrap()
    };
    assert_eq!(status(1)["running"], false);
    let server = Server::start(&world, &["--port", "0"]);
    for words in [&["serve", "--port", "0"][..], &["web", "--no-open"]] {
        let output = world.output(words);
        let shown = world.show(&output);
        assert!(output.status.success(), "{shown}");
        assert!(shown.contains(&format!("http://{}\n", server.address)), "{shown}");
        assert!(shown.contains(".localhost:") && shown.contains("/login#"), "{shown}");
    }
    let told = status(0);
    assert_eq!(
        (told["running"].as_bool(), told["pid"].as_u64()),
        (Some(true), Some(server.child.id().into()))
    );
    assert!(world.output(&["serve", "stop"]).status.success());
    assert_eq!(status(1)["running"], false);
    // One that was killed leaves an entry, which counts for nothing.
    let mut server = Server::start(&world, &["--port", "0"]);
    server.kill();
    let entries = || {
        let files = files_below(&world.data().join("serve"));
        files.iter().filter(|(path, _)| path.extension().is_some_and(|end| end == "json")).count()
    };
    assert_eq!(entries(), 1);
    assert_eq!(status(1)["running"], false);
    assert_eq!(entries(), 0, "the dead entry is gone");
    Server::start(&world, &["--port", "0"]).end();
}

#[test]
fn of_servers_that_start_at_once_exactly_one_stays() {
    let world = World::new([]);
    let mut children: Vec<_> = (0..5).map(|_| world.spawn(&["serve", "--port", "0"])).collect();
    // Four find the fifth and end.
    let mut ended = Vec::new();
    while ended.len() < 4 {
        children.retain_mut(|child| match child.try_wait().unwrap() {
            None => true,
            Some(status) => {
                let mut address = String::new();
                child.stdout.take().unwrap().read_to_string(&mut address).unwrap();
                ended.push((status.code(), address));
                false
            }
        });
        std::thread::yield_now();
    }
    assert!(ended.iter().all(|other| *other == ended[0] && other.0 == Some(0)), "{ended:?}");
    assert!(world.output(&["serve", "stop"]).status.success());
    let status = children[0].wait().unwrap();
    let mut address = String::new();
    children[0].stdout.take().unwrap().read_to_string(&mut address).unwrap();
    assert_eq!((status.code(), address), ended[0]);
}

/// H10: every user of a machine sees the arguments of programs, so the browser is given a private file.
#[test]
fn web_opens_a_private_file_and_keeps_the_link_out_of_arguments() {
    let world = World::new([]);
    let folder = tempfile::tempdir().unwrap();
    let opener = folder.path().join("xdg-open");
    let note = folder.path().join("opened");
    std::fs::write(&opener, format!("#!/bin/sh\necho \"$1\" > {0}.new && mv {0}.new {0}\n", note.display()))
        .unwrap();
    std::fs::set_permissions(&opener, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let server = Server::start(&world, &["--port", "0"]);
    let output = world.command(&["web"]).env("PATH", path).stderr(Stdio::piped()).output().unwrap();
    let shown = world.show(&output);
    assert!(output.status.success(), "{shown}");
    let began = std::time::Instant::now();
    while !note.exists() && began.elapsed().as_secs() < 20 {
        std::thread::yield_now();
    }
    let opened = std::fs::read_to_string(&note).unwrap();
    let opened = opened.trim();
    assert!(opened.contains("/open-") && !opened.contains("login"), "{opened}");
    assert_eq!(std::fs::metadata(opened).unwrap().permissions().mode() & 0o777, 0o600);
    let page = std::fs::read_to_string(opened).unwrap();
    let link = page.split_once("url=").unwrap().1.split('"').next().unwrap().replace("&amp;", "&");
    assert!(
        shown.contains(&link) || String::from_utf8_lossy(&output.stderr).contains(&link),
        "{page} {shown}"
    );
    // The code signs in once.
    let code = link.split_once('#').unwrap().1.split('&').next().unwrap();
    let body = format!("{{\"code\":\"{code}\"}}");
    let origin = format!("Origin: http://{}\r\n", server.address);
    assert!(server.request("POST /api/login", &origin, &body).starts_with("HTTP/1.1 204 "));
    assert!(server.request("POST /api/login", &origin, &body).starts_with("HTTP/1.1 403 "));
    server.end();
}

/// H12: a port that somebody else has is not shared, and their server is not taken for ours.
#[test]
fn h12_a_port_that_another_process_has_is_not_shared() {
    let world = World::new([]);
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port().to_string();
    let output = world.output(&["serve", "--port", &port]);
    let shown = world.show(&output);
    assert!(output.status.code() == Some(1) && shown.contains("cannot listen on"), "{shown}");
    Server::start(&world, &["--port", "0"]).end();
}
