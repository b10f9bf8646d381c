//! Servers of the system that know nothing of the agent: they show their stacks, take a profile, and still serve.

use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use crate::{
    answers::{groups, with},
    program::{Running, library},
    stock::found,
};

const SIGUSR2: i32 = 12;
/// Longer than any of them takes to begin.
const LONG: Duration = Duration::from_secs(60);

/// A server of the system, the agent in it, that works in a folder of its own.
struct Daemon {
    process: Running,
    folder: TempDir,
    port: u16,
    /// The signal on which it takes profiles.
    profile: i32,
}

/// A port that was free a moment ago.
fn port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

impl Daemon {
    /// Starts it, and waits until it answers. `arguments` are asked with its folder and its port; `name` is what it
    /// is called by.
    fn start(
        program: &Path,
        name: &str,
        profile: i32,
        arguments: impl FnOnce(&Path, u16) -> Vec<String>,
    ) -> Self {
        let (folder, port) = (tempfile::tempdir().unwrap(), port());
        let mut command = Command::new(program);
        command.arg0(name).args(arguments(folder.path(), port));
        command.env("LD_PRELOAD", library()).env("TMPDIR", folder.path());
        command.env("KCORE_AGENT_PROFILE_SIGNAL", profile.to_string());
        let process = Running::start_silent(&mut command);
        let mut daemon = Self { process, folder, port, profile };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(daemon.process.runs() && begun.elapsed() < LONG, "{name} does not begin");
            std::thread::sleep(Duration::from_millis(20));
        }
        daemon
    }

    /// Sends a request; what comes back begins with `answer`.
    fn serves(&self, request: &str, answer: &str) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = vec![0; answer.len()];
        stream.read_exact(&mut bytes).unwrap();
        assert_eq!(String::from_utf8_lossy(&bytes), answer);
    }

    /// Asks it for stacks: the one whose stack has `function` begins in `outermost`.
    fn shows(&mut self, function: &str, outermost: &[&str]) -> usize {
        let text = self.process.stacks();
        let groups = groups(&text);
        let last = with(&groups, function).functions.last().unwrap();
        assert!(outermost.contains(&last.as_str()), "{last} is no beginning\n{text}");
        groups.iter().map(|group| group.count).sum()
    }

    /// Begins a profile and ends it, with requests meanwhile.
    fn is_profiled(&mut self, request: &str, answer: &str) {
        self.process.signal(self.profile);
        for _ in 0..200 {
            self.serves(request, answer);
        }
        self.process.signal(self.profile);
        let said = self.process.line_with("profile of ");
        let files: Vec<PathBuf> =
            fs::read_dir(self.folder.path()).unwrap().map(|it| it.unwrap().path()).collect();
        let folded = files.iter().find(|it| it.extension().is_some_and(|it| it == "folded"));
        assert!(folded.is_some(), "{said}\n{files:?}");
    }
}

/// Where threads begin, and where the first one does.
const BEGINS: [&str; 5] = ["_start", "clone3", "clone", "__clone3", "__clone"];

#[test]
fn a_redis_server_shows_stacks_and_serves() {
    // One file is several programs, told apart by what they are called.
    let Some(redis) = found("redis-check-rdb") else { return };
    let mut daemon = Daemon::start(&redis, "redis-server", SIGUSR2, |folder, port| {
        let folder = folder.display().to_string();
        let port = port.to_string();
        let words = ["--port", &port, "--bind", "127.0.0.1", "--save", "", "--dir", &folder];
        words.map(str::to_owned).to_vec()
    });
    for _ in 0..3 {
        daemon.serves("PING\r\n", "+PONG");
        // It has threads for slow work besides.
        assert!(daemon.shows("epoll_wait", &BEGINS) > 3);
    }
    daemon.is_profiled("SET key value\r\n", "+OK");
    daemon.serves("GET key\r\n", "$5\r\nvalue");
}

#[test]
fn a_memcached_shows_stacks_and_serves() {
    let Some(memcached) = found("memcached") else { return };
    let mut daemon = Daemon::start(&memcached, "memcached", SIGUSR2, |_, port| {
        let port = port.to_string();
        let words = ["-l", "127.0.0.1", "-p", &port, "-U", "0", "-u", "root", "-t", "4"];
        words.map(str::to_owned).to_vec()
    });
    for _ in 0..3 {
        daemon.serves("set key 0 0 5\r\nvalue\r\n", "STORED");
        assert!(daemon.shows("event_base_loop", &BEGINS) >= 5);
    }
    daemon.is_profiled("get key\r\n", "VALUE key 0 5");
}

#[test]
fn an_nginx_shows_stacks_and_serves() {
    let Some(nginx) = found("nginx") else { return };
    // It has SIGUSR2 for itself.
    let mut daemon = Daemon::start(&nginx, "nginx", 40, |folder, port| {
        let config = folder.join("nginx.conf");
        // Where errors go to a file, nginx makes that its standard error: stacks would be there.
        let text = format!(
            "daemon off; master_process off; pid {0}/pid; error_log stderr;\n\
             events {{}}\n\
             http {{ access_log off; client_body_temp_path {0}/body; proxy_temp_path {0}/proxy;\n\
             fastcgi_temp_path {0}/fastcgi; uwsgi_temp_path {0}/uwsgi; scgi_temp_path {0}/scgi;\n\
             server {{ listen 127.0.0.1:{port}; location / {{ return 200 hello; }} }} }}\n",
            folder.display()
        );
        fs::write(&config, text).unwrap();
        let folder = folder.display().to_string();
        let config = config.display().to_string();
        ["-p", &folder, "-e", "stderr", "-c", &config].map(str::to_owned).to_vec()
    });
    let (request, answer) = ("GET / HTTP/1.0\r\n\r\n", "HTTP/1.1 200 OK");
    for _ in 0..3 {
        daemon.serves(request, answer);
        assert_eq!(daemon.shows("epoll_wait", &BEGINS), 1);
    }
    daemon.is_profiled(request, answer);
}
