//! The example servers, built and asked as their users would.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{
    answers::{groups, with},
    program::{built, library, library_folder},
};

/// System calls in which a server waits for a client, and for what a client asks.
const ACCEPT: [i64; 2] = [libc::SYS_accept, libc::SYS_accept4];
const READ: [i64; 2] = [libc::SYS_read, libc::SYS_recvfrom];
/// A server that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(program: &Path) -> Self {
        let mut command = Command::new(program);
        command.env("LD_LIBRARY_PATH", library_folder()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().strip_prefix("ready ").and_then(|port| port.parse().ok());
        Self { child, port: port.unwrap_or_else(|| panic!("it said {line:?}")) }
    }

    /// Asks when nothing else goes on in the server, so that its answer does not depend on the moment.
    fn ask(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        self.wait_until_it_reads();
        stream.write_all(format!("GET {path} HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split_once("\r\n\r\n").expect("a body").1.to_owned()
    }

    /// Waits until `main` accepts, one thread reads the request of the only client, and the threads of clients
    /// before have ended.
    fn wait_until_it_reads(&self) {
        let start = Instant::now();
        loop {
            let calls = self.system_calls();
            match calls[..] {
                [Some(first), Some(second)]
                    if ACCEPT.contains(&first) && READ.contains(&second) =>
                {
                    return;
                }
                _ => thread::sleep(Duration::from_millis(1)),
            }
            assert!(start.elapsed() < PATIENCE, "its threads are in {calls:?}");
        }
    }

    /// The number of the system call that each thread waits in, `main` first; `None` for one that runs.
    fn system_calls(&self) -> Vec<Option<i64>> {
        let tasks = format!("/proc/{}/task", self.child.id());
        let tids = fs::read_dir(&tasks).unwrap().map(|entry| entry.unwrap().file_name());
        let mut tids: Vec<u32> = tids.map(|tid| tid.to_str().unwrap().parse().unwrap()).collect();
        tids.sort_unstable_by_key(|tid| (*tid != self.child.id(), *tid));
        let call = |tid: u32| {
            let text = fs::read_to_string(format!("{tasks}/{tid}/syscall")).ok()?;
            text.split(' ').next()?.parse().ok()
        };
        tids.into_iter().map(call).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn assert_serves(server: &Server) {
    assert_eq!(server.ask("/"), "hello\n");
    for _ in 0..2 {
        let groups = groups(&server.ask("/stacks"));
        assert!(with(&groups, "main").functions.iter().any(|it| it.starts_with("accept")));
        let asks = groups.iter().find(|group| {
            group.functions.iter().any(|name| name.ends_with("serve") || name.contains("stacks"))
        });
        assert!(asks.is_some(), "the one that asks is there too: {groups:#?}");
    }
}

#[test]
fn the_cpp_server_shows_its_stacks() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let include = format!("-I{}", manifest.join("include").display());
    let library = library();
    let options = ["-O2", &include, library.to_str().unwrap(), "-pthread"];
    let program = built("../../examples/server.cpp", "server", &options);
    let server = Server::start(&program);
    assert_serves(&server);
    let functions = server.ask("/functions");
    let count = |name: &str| functions.lines().filter(|line| line.ends_with(name)).count();
    assert_eq!((count("1 main"), count("1 serve")), (1, 1), "{functions}");
}

/// The lines of the example in C that stand after the groups: frames of the largest one.
fn frames(text: &str) -> Vec<&str> {
    text.lines().filter(|line| line.starts_with("  0x")).collect()
}

#[test]
fn the_c_program_walks_through_structures() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let include = format!("-I{}", manifest.join("include").display());
    let library = library();
    let library = library.to_str().unwrap();
    let options = [
        "-std=c11",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-g",
        "-O1",
        "-D_GNU_SOURCE",
        &include,
        library,
    ];
    let program = built("../../examples/busy.c", "busy", &[&options[..], &["-pthread"]].concat());
    let mut command = Command::new(program);
    command.env("LD_LIBRARY_PATH", library_folder());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("4 threads in wait_for_turn, waiting in futex: "), "{text}");
    assert!(text.contains("1 threads in "), "{text}");
    assert!(text.contains("\n5 threads answered within "), "{text}");
    let frames = frames(&text);
    let wait = frames.iter().position(|frame| frame.contains(" wait_for_turn at "));
    let wait = wait.unwrap_or_else(|| panic!("{text}"));
    assert!(frames[wait].contains("examples/busy.c:") && frames[wait].ends_with("(cfi)"), "{text}");
    assert!(frames[wait + 1].contains(" work at "), "{text}");
    assert!(text.contains("\n  -- "), "why the stack ends: {text}");
}

/// Names that the header declares, by a word that stands before an opening parenthesis.
fn declared(header: &str) -> BTreeSet<String> {
    let code = header.split("/*").map(|part| part.rsplit("*/").next().unwrap());
    let code = code.collect::<String>();
    let before = code.split('(').map(|part| part.rsplit([' ', '*']).next().unwrap().to_owned());
    before.filter(|name| name.starts_with("kcore_agent_")).collect()
}

#[test]
fn the_header_declares_what_the_library_gives() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let header = fs::read_to_string(manifest.join("include/kcore_agent.h")).unwrap();
    let output = Command::new("nm").args(["-D", "--defined-only"]).arg(library()).output().unwrap();
    let symbols = String::from_utf8(output.stdout).unwrap();
    let names = symbols.lines().filter_map(|line| line.rsplit(' ').next());
    let given = names.filter(|name| name.starts_with("kcore_agent_")).map(str::to_owned);
    let declared = declared(&header);
    assert!(declared.len() > 15, "{declared:?}");
    assert_eq!(declared, given.collect());
}

/// An example, which cargo builds beside the folder of tests; with all tests of the package, or else now.
fn example(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let program = tests.parent().unwrap().parent().unwrap().join("examples").join(name);
    if !program.exists() {
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "-q", "-p", "kcore-agent", "--example", name]);
        assert!(build.current_dir(env!("CARGO_MANIFEST_DIR")).status().unwrap().success());
    }
    program
}

#[test]
fn the_rust_server_shows_its_stacks() {
    assert_serves(&Server::start(&example("server")));
}
