//! There is no network but the hosts that are allowed, and no socket of anyone else.

use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{fails, has, succeeds, told, world};

/// S05: no connection gets out, in no protocol.
#[test]
fn no_connection_gets_out() {
    let world = world();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
    datagrams.set_nonblocking(true).unwrap();
    listener.set_nonblocking(true).unwrap();
    let (port, udp) = (listener.local_addr().unwrap().port(), datagrams.local_addr().unwrap().port());
    for script in [
        format!("exec 3<>/dev/tcp/127.0.0.1/{port}"),
        format!("curl -sS --max-time 5 http://127.0.0.1:{port}"),
        format!("curl -sS --max-time 5 --interface lo http://[::1]:{port}"),
        "getent ahosts example.com".to_owned(),
        "exec 3<>/dev/tcp/1.1.1.1/80".to_owned(),
        "ping -c1 -W1 127.0.0.1 || ping -c1 -W1 1.1.1.1 || exit 1".to_owned(),
    ] {
        if !script.starts_with("ping") {
            fails(&world, &script);
        }
    }
    told(&world, &format!("echo leak > /dev/udp/127.0.0.1/{udp}"));
    told(&world, "echo leak > /dev/udp/1.1.1.1/53");
    assert!(listener.accept().is_err(), "a connection came out of the sandbox");
    assert!(datagrams.recv(&mut [0; 16]).is_err(), "a datagram came out of the sandbox");
}

/// The twin: servers and clients inside find each other.
#[test]
fn loopback_works_inside() {
    if !has("python3") {
        return;
    }
    let world = world();
    world.write(
        "talk.py",
        r#"
import os, socket, threading
def talk(listener, connect):
    def serve():
        peer, _ = listener.accept()
        peer.sendall(b"hello")
        peer.close()
    threading.Thread(target=serve).start()
    client = connect()
    print(client.recv(5).decode())
for family, address in [(socket.AF_INET, ("127.0.0.1", 0)), (socket.AF_INET6, ("::1", 0)), (socket.AF_UNIX, "talk.sock"), (socket.AF_UNIX, "/tmp/s"), (socket.AF_UNIX, "\0abstract")]:
    listener = socket.socket(family)
    listener.bind(address)
    listener.listen()
    def connect():
        client = socket.socket(family)
        client.connect(listener.getsockname())
        return client
    talk(listener, connect)
"#,
    );
    assert_eq!(succeeds(&world, "python3 talk.py"), "hello\n".repeat(5));
}

/// S06: sockets of programs outside are out of reach, wherever they lie.
#[test]
fn sockets_of_others_are_out_of_reach() {
    if !has("python3") {
        return;
    }
    let world = world();
    let heard = Arc::new(AtomicUsize::new(0));
    let serve = |listener: UnixListener| {
        let heard = Arc::clone(&heard);
        std::thread::spawn(move || {
            for peer in listener.incoming().flatten() {
                heard.fetch_add(1, Ordering::SeqCst);
                drop(peer);
            }
        });
    };
    let home = world.work().parent().unwrap().to_path_buf();
    let places = [home.join("agent.sock"), home.join("out/docker.sock"), world.work().join("server.sock")];
    for place in &places {
        serve(UnixListener::bind(place).unwrap());
    }
    let name = format!("stepwell-test-{}", std::process::id());
    serve(UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap());
    world.write(
        "connect.py",
        "import socket, sys\nsocket.socket(socket.AF_UNIX).connect(sys.argv[1].replace('@', '\\0'))\n",
    );
    for place in places.iter().map(|place| place.display().to_string()).chain([format!("@{name}")]) {
        fails(&world, &format!("python3 connect.py {place}"));
    }
    for place in
        ["/var/run/docker.sock", "/run/docker.sock", "/run/dbus/system_bus_socket", "/tmp/.X11-unix/X0"]
    {
        fails(&world, &format!("python3 connect.py {place}"));
    }
    assert_eq!(heard.load(Ordering::SeqCst), 0);
    // Strictly: none at all, while pairs among processes still work.
    world.set_config("[sandbox]\nunix_sockets = false\n");
    fails(&world, "python3 -c 'import socket; socket.socket(socket.AF_UNIX)'");
    succeeds(&world, "python3 -c 'import socket; socket.socketpair()'");
}

/// Hosts that are allowed go through the proxy; the others are told why not.
#[test]
fn only_allowed_hosts_go_through_the_proxy() {
    if !has("curl") {
        return;
    }
    let world = world();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let run = |script: &str| {
        let arguments = [
            "sandbox",
            "run",
            "--network",
            "allowed.invalid",
            "--network",
            "127.0.0.1",
            "--",
            "bash",
            "-c",
            script,
        ];
        let output = world.output(&arguments);
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    let variables = run("env | grep -i _proxy= | sort");
    for name in ["HTTP_PROXY", "https_proxy", "ALL_PROXY", "NO_PROXY"] {
        assert!(variables.contains(&format!("{name}=")), "{variables}");
    }
    for (target, answer) in [
        ("http://evil.test/", "not among the allowed hosts"),
        ("http://evil.test/allowed.invalid", "not among the allowed hosts"),
        ("http://allowed.invalid.evil.test/", "not among the allowed hosts"),
        ("http://allowed.invalid/", "cannot be resolved"),
        ("http://allowed.invalid:22/", "not among the allowed hosts"),
    ] {
        let text = run(&format!("curl -sS --max-time 20 {target}"));
        assert!(text.contains(answer), "{target}: {text}");
    }
    let text = run(&format!("curl -sS --max-time 20 --noproxy '' http://127.0.0.1:{port}/"));
    assert!(text.contains("not among"), "{text}");
    let text = run("curl -sS --max-time 20 --noproxy '' http://127.0.0.1/");
    assert!(text.contains("which is loopback"), "{text}");
    let text = run(
        "curl -sS --max-time 20 https://evil.test/; curl -sS --max-time 20 --proxy socks5h://127.0.0.1:3128 http://evil.test/",
    );
    assert!(text.contains("403") && text.matches("curl:").count() == 2, "{text}");
    // Who speaks past the proxy finds nobody.
    let text = run(&format!(
        "curl -sS --max-time 5 --noproxy '*' http://127.0.0.1:{port}/; getent hosts allowed.invalid || echo no names"
    ));
    assert!(text.contains("no names"), "{text}");
    assert!(listener.accept().is_err());
    let left: Vec<_> = std::fs::read_dir(world.data().join("sandbox")).unwrap().collect();
    assert!(left.is_empty(), "the proxy's socket was left behind");
}

/// What a server on the outside would hear of a request, were its address public: nothing.
#[test]
fn a_server_of_the_machine_hears_nothing() {
    let world = world();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = std::thread::spawn(move || {
        let (mut peer, _) = listener.accept().unwrap();
        let mut heard = String::new();
        peer.read_to_string(&mut heard).unwrap();
        heard
    });
    fails(&world, &format!("exec 3<>/dev/tcp/127.0.0.1/{port} && echo leak >&3"));
    let mut own = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    own.write_all(b"only the test").unwrap();
    drop(own);
    assert_eq!(server.join().unwrap(), "only the test");
}

/// A port of this machine that is named is found at the same port inside, by clients that know of no proxy.
#[test]
fn a_named_port_of_the_machine_is_reached_and_no_other() {
    let world = world();
    let serve = || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for mut peer in listener.incoming().flatten() {
                let mut heard = [0; 4];
                peer.read_exact(&mut heard).ok();
                peer.write_all(b"heard: ").ok();
                peer.write_all(&heard).ok();
            }
        });
        port
    };
    let (open, closed) = (serve(), serve());
    let talk =
        |host: &str, port: u16| format!("exec 3<>/dev/tcp/{host}/{port} && echo -n ping >&3 && cat <&3");
    let run = |script: &str| {
        let network = format!("localhost:{open}");
        let output = world.output(&["sandbox", "run", "--network", &network, "--", "bash", "-c", script]);
        (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    for host in ["localhost", "127.0.0.1", "::1"] {
        assert_eq!(run(&talk(host, open)), (true, "heard: ping".to_owned()), "{host}");
    }
    assert!(!run(&talk("127.0.0.1", closed)).0);
    // The same by a rule, for the agent's commands.
    world.set_config(&format!("[permissions]\nallow = [\"network(localhost:{open})\"]\n"));
    world.write("talk.sh", "exec 3<>/dev/tcp/localhost/$1 && echo -n ping >&3 && cat <&3\n");
    let call = |port: u16| {
        let input = serde_json::json!({ "command": format!("bash talk.sh {port}") }).to_string();
        let never_asked = ["--permission-mode", "bypassPermissions"];
        world.show(&world.output(&[&["tool", "call", "bash", &input][..], &never_asked].concat()))
    };
    assert!(call(open).contains("heard: ping"), "{}", call(open));
    assert!(!call(closed).contains("heard"), "{}", call(closed));
}

/// A command that is allowed to run is still asked about every host, and nobody is there to answer.
#[test]
fn every_host_of_a_command_is_judged() {
    if !has("curl") {
        return;
    }
    let world = world();
    let call = |config: &str| {
        world.set_config(config);
        let command = "curl -sS --max-time 20 -o /dev/null -w 'code %{http_code}' http://host.invalid/";
        let arguments = serde_json::json!({ "command": command }).to_string();
        world.show(&world.output(&["tool", "call", "bash", &arguments]))
    };
    let refused = call("[permissions]\nallow = [\"bash(curl *)\"]\n");
    assert!(refused.contains("code 403"), "{refused}");
    // Admitted, the host is looked for; there is none of this name.
    let allowed = call("[permissions]\nallow = [\"bash(curl *)\", \"network(host.invalid)\"]\n");
    assert!(!allowed.contains("code 403") && allowed.contains("code 50"), "{allowed}");
    let listed = call("[permissions]\nallow = [\"bash(curl *)\"]\n[sandbox]\nnetwork = [\"host.invalid\"]\n");
    assert!(listed.contains("code 50"), "{listed}");
}
