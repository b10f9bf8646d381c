//! The example servers, built and asked as their users would.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use crate::{
    answers::{groups, with},
    program::{built, library},
};

struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(program: &Path) -> Self {
        let mut command = Command::new(program);
        command.env("LD_LIBRARY_PATH", library().parent().unwrap()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().strip_prefix("ready ").and_then(|port| port.parse().ok());
        Self { child, port: port.unwrap_or_else(|| panic!("it said {line:?}")) }
    }

    fn ask(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(format!("GET {path} HTTP/1.1\r\n\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split_once("\r\n\r\n").expect("a body").1.to_owned()
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
    assert_serves(&Server::start(&program));
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
