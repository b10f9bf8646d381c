//! Applications as distributions have them: what kcore shows of the process that serves is where the application itself
//! says that it stands.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod fastcgi;

use std::{
    fs,
    io::Write,
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

/// Longer than any of them takes to begin.
const LONG: Duration = Duration::from_secs(60);

/// Where a program is, by `PATH`; a skip is said aloud.
fn found(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    let found = folders.map(|folder| folder.join(name)).find(|it| it.exists());
    if found.is_none() {
        gen_cores::not_tested(format_args!("there is no {name}"));
    }
    found
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/servers").join(name)
}

/// A port that was free a moment ago.
fn port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

/// An application that runs, with a folder of its own.
struct Application {
    child: Child,
    folder: TempDir,
}

impl Application {
    /// Starts it. It is told in its environment where to write where it stands.
    fn start(command: &mut Command, folder: TempDir) -> Self {
        command.env("TRACE", folder.path().join("trace")).stdin(Stdio::null());
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Self { child, folder }
    }

    /// A connection, as soon as it takes one.
    fn connect(&mut self, port: u16) -> TcpStream {
        let begun = Instant::now();
        loop {
            if let Ok(stream) = TcpStream::connect(("127.0.0.1", port)) {
                return stream;
            }
            let runs = self.child.try_wait().unwrap().is_none();
            assert!(runs && begun.elapsed() < LONG, "it does not begin");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Asks it for a page, whose answer nobody waits for.
    fn ask(&mut self, port: u16, page: &str) -> TcpStream {
        let mut stream = self.connect(port);
        write!(stream, "GET {page} HTTP/1.0\r\nHost: localhost\r\n\r\n").unwrap();
        stream
    }

    /// The lines that it wrote of where it stands, once it waits.
    fn told(&self) -> Vec<String> {
        let (path, begun) = (self.folder.path().join("trace"), Instant::now());
        loop {
            let text = fs::read_to_string(&path).unwrap_or_default();
            if !text.is_empty() {
                // It goes on to wait.
                std::thread::sleep(Duration::from_secs(1));
                return fs::read_to_string(&path).unwrap().lines().map(str::to_owned).collect();
            }
            assert!(begun.elapsed() < LONG, "it tells nothing");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Application {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What kcore says of a process.
fn kcore(pid: u32, line: &str, options: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kcore"));
    command.args(options).args(["--no-rc", "-p", &pid.to_string(), "-c", line]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// The stack of a process that has frames of a language that call a function.
fn frames(pid: u32, language: &str, function: &str) -> Vec<Value> {
    let text = kcore(pid, "::walk thread | ::stack", &["--json"]);
    let records = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let stacks = records.filter(|record| record["type"] == "stack").map(|record| {
        let frames = record["frames"].as_array().unwrap().clone().into_iter();
        frames.filter(|frame| frame["kind"] == language).collect::<Vec<_>>()
    });
    let calls = |frame: &Value| frame["function"].as_str().is_some_and(|it| it.contains(function));
    let stack = { stacks }.find(|frames| frames.iter().any(calls));
    stack.unwrap_or_else(|| panic!("no {function} in {text}"))
}

/// A file without its folder, and a line: `app.php:3`.
fn short(place: &str) -> &str {
    place.rsplit('/').next().unwrap_or(place)
}

/// The places of frames that have one.
fn places(frames: &[Value]) -> Vec<String> {
    let place =
        |frame: &Value| Some(format!("{}:{}", short(frame["file"].as_str()?), frame["line"]));
    frames.iter().filter_map(place).collect()
}

/// The places of a traceback of Lua.
fn places_of_lua(told: &[String]) -> Vec<String> {
    let place = |line: &String| {
        let place = line.strip_prefix('\t')?.split(": in ").next()?;
        (place != "[C]").then(|| short(place).to_owned())
    };
    told.iter().filter_map(place).collect()
}

#[test]
fn a_sinatra_application_under_puma_stands_where_it_says() {
    let Some(puma) = found("puma") else { return };
    let (folder, port) = (tempfile::tempdir().unwrap(), port());
    let mut command = Command::new(puma);
    command.args(["-b", &format!("tcp://127.0.0.1:{port}"), "-t", "2:2"]).arg(script("app.ru"));
    let mut application = Application::start(&mut command, folder);
    let _asked = application.ask(port, "/work");
    let told = application.told();
    assert!(told.len() > 20, "it tells {told:#?}");
    let frames = frames(application.child.id(), "ruby", "App#slow");
    assert_eq!(frames[0]["function"], "Kernel#sleep", "{frames:#?}");
    let told: Vec<&str> = told.iter().map(|place| short(place)).collect();
    // What it waits in comes on top of where it told.
    assert_eq!(places(&frames)[1..], told);
    let threads = kcore(application.child.id(), "::threads", &[]);
    assert!(threads.contains("waits in Kernel#sleep"), "{threads}");
}

#[test]
fn an_application_of_php_under_fpm_stands_where_it_says() {
    let names = ["php-fpm8.2", "php-fpm8.4", "php-fpm7.4", "php-fpm"];
    let Some(fpm) = names.into_iter().find_map(|name| {
        let path = Path::new("/usr/sbin").join(name);
        path.exists().then_some(path)
    }) else {
        return gen_cores::not_tested(format_args!("there is no php-fpm"));
    };
    let (folder, port) = (tempfile::tempdir().unwrap(), port());
    let config = folder.path().join("fpm.conf");
    let text = format!(
        "[global]\ndaemonize = no\nerror_log = /dev/null\n\
         [www]\nuser = nobody\nlisten = 127.0.0.1:{port}\npm = static\npm.max_children = 1\n"
    );
    fs::write(&config, text).unwrap();
    let trace = folder.path().join("trace");
    let mut command = Command::new(fpm);
    command.args(["-n", "-R", "-F", "-y"]).arg(&config);
    let mut application = Application::start(&mut command, folder);
    // Where another user may write it.
    open_to_all(application.folder.path());
    let mut stream = application.connect(port);
    let (page, path) = (script("app.php"), trace.display().to_string());
    fastcgi::ask(&mut stream, &page.display().to_string(), "/app.php?id=5", &[("TRACE", &path)]);
    let told: Vec<String> = application.told().into_iter().filter(|it| !it.is_empty()).collect();
    let worker = only_child(application.child.id());
    let frames = frames(worker, "php", "Shop->slow");
    assert_eq!(frames[0]["function"], "sleep", "{frames:#?}");
    assert_eq!(places(&frames), told.iter().map(|place| short(place)).collect::<Vec<_>>());
    let threads = kcore(worker, "::threads", &[]);
    assert!(threads.contains("serves GET /app.php?id=5"), "{threads}");
}

/// Lets every user write into a folder.
fn open_to_all(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
}

fn only_child(pid: u32) -> u32 {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    text.split_whitespace().next().expect("a worker").parse().unwrap()
}

#[test]
fn an_editor_that_runs_luajit_stands_where_it_says() {
    let Some(editor) = found("nvim") else { return };
    let mut command = Command::new(editor);
    let run = format!("+luafile {}", script("app.lua").display());
    command.args(["--headless", "-u", "NONE", "-i", "NONE"]).arg(run);
    let application = Application::start(&mut command, tempfile::tempdir().unwrap());
    let told = places_of_lua(&application.told());
    assert!(told.len() >= 4, "{told:?}");
    let frames = frames(application.child.id(), "lua", "slow");
    assert_eq!(places(&frames), told, "{frames:#?}");
}

#[test]
fn a_service_of_haproxy_in_lua_stands_where_it_says() {
    let Some(haproxy) = found("haproxy") else { return };
    let (folder, port) = (tempfile::tempdir().unwrap(), port());
    let service = folder.path().join("service.lua");
    let trace = folder.path().join("trace").display().to_string();
    let text = fs::read_to_string(script("service.lua")).unwrap().replace("@TRACE@", &trace);
    fs::write(&service, text).unwrap();
    let config = folder.path().join("haproxy.cfg");
    let text = format!(
        "global\n  nbthread 1\n  lua-load {}\ndefaults\n  mode http\n  timeout client 60s\n  \
         timeout server 60s\n  timeout connect 5s\nfrontend one\n  bind 127.0.0.1:{port}\n  \
         http-request use-service lua.slow\n",
        service.display()
    );
    fs::write(&config, text).unwrap();
    let mut command = Command::new(haproxy);
    command.arg("-f").arg(&config).arg("-db");
    let mut application = Application::start(&mut command, folder);
    let _asked = application.ask(port, "/");
    let told = places_of_lua(&application.told());
    assert!(told.len() >= 4, "{told:?}");
    let frames = frames(application.child.id(), "lua", "slow");
    assert_eq!(places(&frames), told, "{frames:#?}");
}

#[test]
fn a_script_that_redis_runs_has_its_functions() {
    const SCRIPT: &str = "\
        local function inner(n) local sum = 0 while true do sum = sum + n end return sum end \
        local function outer(n) local value = inner(n + 1) return value end \
        local value = outer(tonumber(ARGV[1])) return value";
    // One file is several programs, told apart by what they are called.
    let Some(redis) = found("redis-check-rdb") else { return };
    let (folder, port) = (tempfile::tempdir().unwrap(), port());
    let mut command = Command::new(redis);
    std::os::unix::process::CommandExt::arg0(&mut command, "redis-server");
    command.args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--dir"]);
    command.arg(folder.path());
    let mut application = Application::start(&mut command, folder);
    let mut stream = application.connect(port);
    let length = SCRIPT.len();
    write!(stream, "*4\r\n$4\r\nEVAL\r\n${length}\r\n{SCRIPT}\r\n$1\r\n0\r\n$1\r\n7\r\n").unwrap();
    std::thread::sleep(Duration::from_secs(1));
    let frames = frames(application.child.id(), "lua", "inner");
    let names: Vec<&str> = frames.iter().filter_map(|it| it["function"].as_str()).collect();
    let is_in_order = names.windows(2).any(|two| two[0] == "inner" && two[1] == "outer");
    assert!(is_in_order, "{frames:#?}");
    let variables = kcore(application.child.id(), "::stack -v", &[]);
    assert!(variables.contains("n = 8") && variables.contains("n = 7"), "{variables}");
}

#[test]
fn a_filter_of_mail_in_perl_stands_where_it_says() {
    let Some(filter) = found("spamassassin") else { return };
    let folder = tempfile::tempdir().unwrap();
    let mail = folder.path().join("mail");
    fs::write(&mail, "From: a@b\nTo: c@d\nSubject: x\n\nhello\n").unwrap();
    let config = folder.path().join("local.cf");
    let text = format!(
        "loadplugin Slow {}\nloadplugin Mail::SpamAssassin::Plugin::Check\nbody HELLO /hello/\n",
        script("Slow.pm").display()
    );
    fs::write(&config, text).unwrap();
    let mut command = Command::new(filter);
    command.args(["-L", "-x", "-C"]).arg(folder.path());
    command.arg(format!("--siteconfigpath={}", folder.path().display())).arg(&mail);
    let application = Application::start(&mut command, folder);
    let told = application.told();
    assert!(told.len() > 10, "{told:?}");
    let frames = frames(application.child.id(), "perl", "Slow::slow");
    let told: Vec<&str> = told.iter().map(|place| short(place)).collect();
    assert_eq!(places(&frames), told, "{frames:#?}");
}
