//! Fetching files: from small servers that behave in known ways, and from the real one, where that is installed.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::{
    fs,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use kcore_elf::BuildId;
use kcore_files::{
    FilePlace, Finder, SearchPaths, SearchResult, SearchedPlace, WantedModule, Why,
    debuginfod::Debuginfod,
};
use kcore_mem::{Arch, Budget};
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_millis(600);

/// A folder with two builds of a program, and room for a cache.
struct Ground {
    folder: TempDir,
}

impl Ground {
    fn new() -> Self {
        let ground = Self { folder: tempfile::tempdir().unwrap() };
        fs::write(ground.path("app.c"), "int main(void) { return 0; }\n").unwrap();
        for (name, id) in
            [("app", "0xabcdef0123456789abcdef0123456789abcdef01"), ("other", "0x1111")]
        {
            let id = format!("-Wl,--build-id={id}");
            let mut compiler = Command::new("gcc");
            compiler.args(["-g", &id, "-o", name, "app.c"]).current_dir(ground.folder.path());
            assert!(compiler.status().unwrap().success());
        }
        ground
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    fn id() -> BuildId {
        let bytes = [0xab, 0xcd, 0xef, 1, 0x23, 0x45, 0x67, 0x89];
        let bytes: Vec<u8> = bytes.into_iter().cycle().take(20).collect();
        let mut whole = bytes;
        whole[16..].copy_from_slice(&[0xab, 0xcd, 0xef, 1]);
        BuildId::new(&whole).unwrap()
    }

    fn place(&self, urls: &[&str]) -> Debuginfod {
        let urls = urls.iter().map(|&url| url.to_owned()).collect();
        Debuginfod::new(urls, self.path("cache"), &Budget::default()).with_patience(PATIENCE)
    }

    /// The search for the program, whose file is nowhere but on servers.
    fn find(&self, urls: &[&str]) -> SearchResult {
        find(self.place(urls))
    }

    fn cached(&self) -> PathBuf {
        self.path("cache").join(Self::id().to_string()).join("executable")
    }

    /// What lies beside the cached file: nothing that was not asked for.
    fn leftovers(&self) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.cached().parent().unwrap()) else { return Vec::new() };
        let names = entries.flatten().map(|it| it.file_name().to_string_lossy().into_owned());
        names.filter(|name| name != "executable").collect()
    }
}

fn find(place: Debuginfod) -> SearchResult {
    let finder = Finder::new(SearchPaths::default()).with_added(vec![Arc::new(place)]);
    let (path, id) = (Path::new("/nonexistent/app"), Ground::id());
    finder.find(&WantedModule { path, build_id: Some(&id), is_exe: true, arch: Arch::X86_64 })
}

/// Why the last place had no file.
fn refusal(found: &SearchResult) -> String {
    assert!(found.file.is_none());
    let last = found.tried.last().unwrap();
    assert_eq!(last.place, SearchedPlace::Added("debuginfod"));
    format!("{}: {}", last.path.display(), last.why)
}

/// A server of one connection after another. It counts them, and keeps the first line of each request.
struct Server {
    url: String,
    asked: Arc<AtomicUsize>,
    paths: Arc<Mutex<Vec<String>>>,
}

impl Server {
    fn new(answer: impl Fn(&mut TcpStream, &str) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (asked, paths) = (Arc::<AtomicUsize>::default(), Arc::<Mutex<Vec<String>>>::default());
        let server = Self { url, asked: Arc::clone(&asked), paths: Arc::clone(&paths) };
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                asked.fetch_add(1, Ordering::SeqCst);
                let path = request(&mut stream);
                paths.lock().unwrap().push(path.clone());
                answer(&mut stream, &path);
            }
        });
        server
    }

    /// One that gives these bytes, whatever is asked.
    fn giving(bytes: Vec<u8>) -> Self {
        Self::new(move |stream, _| send(stream, "200 OK", &[], &bytes))
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

/// The path of a request, which is read to its end.
fn request(stream: &mut TcpStream) -> String {
    let (mut text, mut byte) = (Vec::new(), [0]);
    while !text.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or_default() == 1 {
        text.push(byte[0]);
    }
    let text = String::from_utf8(text).unwrap();
    text.split(' ').nth(1).unwrap_or_default().to_owned()
}

fn send(stream: &mut TcpStream, status: &str, headers: &[&str], body: &[u8]) {
    let more: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n{more}\r\n");
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
}

#[test]
fn a_file_is_fetched_once_and_lies_where_the_usual_client_has_it() {
    let ground = Ground::new();
    let server = Server::giving(ground.bytes("app"));
    for _ in 0..2 {
        let file = ground.find(&[&server.url]).file.unwrap();
        assert_eq!((file.verified, &file.path), (true, &ground.cached()));
    }
    assert_eq!(server.asked(), 1);
    let asked = format!("/buildid/{}/executable", Ground::id());
    assert_eq!(*server.paths.lock().unwrap(), [asked]);
    assert!(ground.leftovers().is_empty());
}

#[test]
fn what_no_server_has_is_remembered_for_a_while() {
    let ground = Ground::new();
    let one = Server::new(|stream, _| send(stream, "404 Not Found", &[], b"no"));
    let two = Server::new(|stream, _| send(stream, "404 Not Found", &[], b"no"));
    let said = refusal(&ground.find(&[&one.url, &two.url]));
    assert!(said.starts_with(&two.url) && said.ends_with("/executable: not found"), "{said}");
    let said = refusal(&ground.find(&[&one.url, &two.url]));
    assert!(said.contains("no server had it a short while ago"), "{said}");
    assert_eq!((one.asked(), two.asked()), (1, 1));
    // The user says for how long.
    fs::write(ground.path("cache/cache_miss_s"), "0\n").unwrap();
    ground.find(&[&one.url, &two.url]);
    assert_eq!((one.asked(), two.asked()), (2, 2));
}

#[test]
fn the_next_server_is_asked_where_one_has_nothing() {
    let ground = Ground::new();
    let without = Server::new(|stream, _| send(stream, "404 Not Found", &[], b""));
    let with = Server::giving(ground.bytes("app"));
    let found = ground.find(&[&without.url, &with.url]);
    assert!(found.file.unwrap().verified);
}

#[test]
fn a_server_that_lies_is_not_believed_and_nothing_of_it_is_kept() {
    let ground = Ground::new();
    for (body, why) in
        [(ground.bytes("other"), "its build-id is 1111, not that"), (b"<html>".to_vec(), "ELF")]
    {
        let server = Server::giving(body);
        let said = refusal(&ground.find(&[&server.url]));
        assert!(said.contains(why), "{said}");
        assert!(!ground.cached().exists() && ground.leftovers().is_empty());
    }
    let honest = Server::giving(ground.bytes("app"));
    let liar = Server::giving(ground.bytes("other"));
    assert!(ground.find(&[&liar.url, &honest.url]).file.is_some());
}

#[test]
fn a_transfer_that_is_cut_off_is_no_file() {
    let ground = Ground::new();
    let bytes = ground.bytes("app");
    let half = bytes.len() / 2;
    let server = Server::new(move |stream, _| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", bytes.len());
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&bytes[..half]));
    });
    let said = refusal(&ground.find(&[&server.url]));
    assert!(said.contains("cut off"), "{said}");
    assert!(!ground.cached().exists() && ground.leftovers().is_empty());
}

#[test]
fn silent_servers_are_waited_for_once_and_not_for_long() {
    let ground = Ground::new();
    let silent = || Server::new(|_, _| thread::sleep(Duration::from_secs(60)));
    let servers = [silent(), silent(), silent()];
    let urls: Vec<&str> = servers.iter().map(|server| server.url.as_str()).collect();
    let place = ground.place(&urls);
    let wanted = Ground::id();
    let finder = Finder::new(SearchPaths::default()).with_added(vec![Arc::new(place)]);
    let begun = Instant::now();
    for name in ["/nonexistent/app", "/nonexistent/two", "/nonexistent/three"] {
        let (path, build_id) = (Path::new(name), Some(&wanted));
        let found =
            finder.find(&WantedModule { path, build_id, is_exe: false, arch: Arch::X86_64 });
        assert!(found.file.is_none());
    }
    assert!(begun.elapsed() < PATIENCE * 4, "{:?}", begun.elapsed());
    assert!(!ground.cached().exists(), "nobody said that there is none");
}

#[test]
fn a_server_that_stops_in_the_middle_is_given_up() {
    let ground = Ground::new();
    let bytes = ground.bytes("app");
    let server = Server::new(move |stream, _| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", bytes.len());
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&bytes[..99]));
        thread::sleep(Duration::from_secs(60));
    });
    let begun = Instant::now();
    let said = refusal(&ground.find(&[&server.url]));
    assert!(said.contains("no more bytes within"), "{said}");
    assert!(begun.elapsed() < PATIENCE * 4);
}

#[test]
fn a_slow_server_is_waited_for_as_long_as_bytes_come() {
    let ground = Ground::new();
    let bytes = ground.bytes("app");
    let server = Server::new(move |stream, _| {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", bytes.len());
        stream.write_all(head.as_bytes()).unwrap();
        for part in bytes.chunks(bytes.len() / 8) {
            thread::sleep(PATIENCE / 4);
            stream.write_all(part).unwrap();
        }
    });
    let begun = Instant::now();
    assert!(ground.find(&[&server.url]).file.is_some());
    assert!(begun.elapsed() > PATIENCE, "it took longer than a silent one may");
}

#[test]
fn a_server_that_is_not_there_costs_nothing() {
    let ground = Ground::new();
    let dead = {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let begun = Instant::now();
    let said = refusal(&ground.find(&[&dead]));
    assert!(said.to_lowercase().contains("refused"), "{said}");
    assert!(begun.elapsed() < PATIENCE);
    assert!(!ground.cached().exists(), "nobody said that there is none");
}

#[test]
fn redirects_are_followed_and_do_not_go_round_for_ever() {
    let ground = Ground::new();
    let target = Server::giving(ground.bytes("app"));
    let to = target.url.clone();
    let server = Server::new(move |stream, path| {
        send(stream, "302 Found", &[&format!("Location: {to}{path}")], b"");
    });
    assert!(ground.find(&[&server.url]).file.is_some());
    let ground = Ground::new();
    let circle = Server::new(|stream, path| {
        send(stream, "302 Found", &[&format!("Location: {path}")], b"");
    });
    let said = refusal(&ground.find(&[&circle.url]));
    assert!(said.contains("redirect"), "{said}");
}

#[test]
fn a_file_that_is_packed_on_its_way_is_unpacked() {
    let ground = Ground::new();
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(&ground.bytes("app")).unwrap();
    let packed = packer.finish().unwrap();
    let server = Server::new(move |stream, _| {
        send(stream, "200 OK", &["Content-Encoding: gzip"], &packed);
    });
    let file = ground.find(&[&server.url]).file.unwrap();
    assert_eq!(fs::read(&file.path).unwrap(), ground.bytes("app"));
}

#[test]
fn ctrl_c_ends_a_transfer_at_once() {
    let ground = Ground::new();
    let server = Server::new(|_, _| thread::sleep(Duration::from_secs(60)));
    let budget = Budget::default();
    let place = Debuginfod::new(vec![server.url], ground.path("cache"), &budget)
        .with_patience(Duration::from_secs(30));
    let interrupt = Arc::clone(budget.interrupt());
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(200));
        interrupt.store(true, Ordering::SeqCst);
    });
    let begun = Instant::now();
    assert!(find(place).file.is_none());
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

#[test]
fn how_far_a_transfer_has_come_is_told() {
    let ground = Ground::new();
    let bytes = ground.bytes("app");
    let length = bytes.len() as u64;
    let server = Server::giving(bytes);
    let told: Arc<Mutex<Vec<_>>> = Arc::default();
    let ours = Arc::clone(&told);
    let place = ground.place(&[&server.url]).telling(Arc::new(move |transfer| {
        ours.lock().unwrap().push(transfer.clone());
    }));
    assert!(find(place).file.is_some());
    let told = told.lock().unwrap();
    let last = told.last().unwrap();
    assert_eq!((last.received, last.total, last.is_over), (length, Some(length), true));
    assert!(told[..told.len() - 1].iter().all(|transfer| !transfer.is_over));
}

#[test]
fn a_folder_that_cannot_be_written_is_said() {
    let ground = Ground::new();
    let server = Server::giving(ground.bytes("app"));
    fs::write(ground.path("cache"), "a file").unwrap();
    let said = refusal(&ground.find(&[&server.url]));
    assert!(said.contains("cache"), "{said}");
    assert_eq!(server.asked(), 0);
}

#[test]
fn without_a_build_id_nobody_is_asked() {
    let ground = Ground::new();
    let server = Server::giving(ground.bytes("app"));
    let place: Arc<dyn FilePlace> = Arc::new(ground.place(&[&server.url]));
    let finder = Finder::new(SearchPaths::default()).with_added(vec![place]);
    let path = Path::new("/nonexistent/app");
    let found =
        finder.find(&WantedModule { path, build_id: None, is_exe: true, arch: Arch::X86_64 });
    assert!(found.file.is_none());
    assert_eq!(found.tried.last().unwrap().why, Why::NotFound);
    assert_eq!(server.asked(), 0);
}

/// The server of elfutils, which is stopped when the test is done with it.
struct RealServer {
    child: Child,
    url: String,
}

impl RealServer {
    /// `None` where it is not installed.
    fn start(folder: &Path) -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut server = Command::new("debuginfod");
        server.args(["-F", "-d", ":memory:", "-p", &port.to_string()]).arg(folder);
        server.env("HOME", folder).stdout(Stdio::null()).stderr(Stdio::null());
        let child = server.spawn().ok()?;
        Some(Self { child, url: format!("http://127.0.0.1:{port}") })
    }
}

impl Drop for RealServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_real_server_is_understood() {
    let ground = Ground::new();
    fs::create_dir(ground.path("store")).unwrap();
    fs::copy(ground.path("app"), ground.path("store/app")).unwrap();
    let Some(server) = RealServer::start(&ground.path("store")) else {
        println!("debuginfod is not installed");
        return;
    };
    fs::create_dir(ground.path("cache")).unwrap();
    fs::write(ground.path("cache/cache_miss_s"), "0").unwrap();
    let begun = Instant::now();
    let found = loop {
        let found = ground.find(&[&server.url]);
        if found.file.is_some() || begun.elapsed() > Duration::from_secs(60) {
            break found;
        }
        thread::sleep(Duration::from_millis(200));
    };
    let file = found.file.unwrap_or_else(|| panic!("{:?}", found.tried));
    assert_eq!(fs::read(file.path).unwrap(), ground.bytes("app"));
    // Of a build that it does not have it says so.
    let id = BuildId::new(&[7; 20]).unwrap();
    let place = ground.place(&[&server.url]);
    let finder = Finder::new(SearchPaths::default()).with_added(vec![Arc::new(place)]);
    let path = Path::new("/nonexistent/other");
    let found =
        finder.find(&WantedModule { path, build_id: Some(&id), is_exe: false, arch: Arch::X86_64 });
    assert_eq!(found.tried.last().unwrap().why, Why::NotFound);
}
