//! A core has all that is there of a process, and saving it makes nothing that was not there.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use super::process::{Running, compiled};
use crate::segments::{PAGE, Segments};
use crate::target::{kcore, save, stderr};

const PAGES: u64 = 100;
const STRIDE: u64 = 64 * PAGE;

/// The compiled program.
fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| compiled("save/memory.c"))
}

/// A process of `memory.c`, and the files that it maps.
struct Sparse {
    process: Running,
    folders: [tempfile::TempDir; 2],
    /// Address, length and letter of each mapping.
    maps: BTreeMap<String, (u64, u64, u8)>,
}

impl Sparse {
    fn start() -> Self {
        let folders = [tempfile::tempdir_in("/dev/shm").unwrap(), tempfile::tempdir().unwrap()];
        let files = folders.each_ref().map(|folder| folder.path().join("file"));
        let (process, _, output) = Running::start(Command::new(program()).args(files));
        let lines = BufReader::new(output).lines().map(Result::unwrap);
        let mut maps = BTreeMap::new();
        for line in lines.take_while(|line| line != "ready") {
            let words: Vec<&str> = line.split(' ').collect();
            let [name, address, len, letter] = words[..] else { panic!("{line}") };
            let address = u64::from_str_radix(address.trim_start_matches("0x"), 16).unwrap();
            let name =
                if maps.contains_key(name) { format!("{name} too") } else { name.to_owned() };
            maps.insert(name, (address, len.parse().unwrap(), letter.as_bytes()[0]));
        }
        assert_eq!(maps.len(), 9);
        Self { process, folders, maps }
    }

    fn pid(&self) -> String {
        self.process.pid()
    }

    /// What the process has of each kind of memory, how often it had pages made, and what its file of shared
    /// memory takes.
    fn cost(&self) -> Vec<(String, u64)> {
        let folder = PathBuf::from(format!("/proc/{}", self.pid()));
        let status = fs::read_to_string(folder.join("status")).unwrap();
        let line = |key: &str| {
            let line = status.lines().find(|line| line.starts_with(key)).unwrap();
            line.split_whitespace().nth(1).unwrap().parse().unwrap()
        };
        let kinds = ["RssAnon:", "RssShmem:", "VmSwap:", "VmPTE:"];
        let mut cost: Vec<_> = kinds.map(|key| (key.to_owned(), line(key))).to_vec();
        let stat = fs::read_to_string(folder.join("stat")).unwrap();
        let words: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        cost.push(("faults".to_owned(), words[7].parse().unwrap()));
        cost.push(("faults that read".to_owned(), words[9].parse().unwrap()));
        let file = self.folders[0].path().join("file");
        cost.push(("blocks".to_owned(), fs::metadata(file).unwrap().blocks()));
        // Who may not follow these links does not learn what shared memory without a name takes.
        for map in self.maps.values() {
            let [start, end] = [map.0, map.0 + map.1];
            let link = folder.join(format!("map_files/{start:x}-{end:x}"));
            cost.extend(
                fs::metadata(&link).map(|data| (link.display().to_string(), data.blocks())),
            );
        }
        cost
    }
}

#[test]
fn what_was_touched_is_saved_and_nothing_is_made() {
    let target = Sparse::start();
    let before = target.cost();
    let folder = tempfile::tempdir().unwrap();
    let core = folder.path().join("core");
    // A core of all that is set aside would have terabytes.
    let said = save(&["--all"], &target.pid(), &core);
    assert_eq!(target.cost(), before, "{said}");
    let segments = Segments::of(&core);
    // Only root may look into shared memory without a name that another process has touched.
    let sees_all = !said.contains("not looked at");
    for (name, (address, _, letter)) in &target.maps {
        if name == "other" && !sees_all {
            continue;
        }
        for index in 0..PAGES {
            let page = segments.page(address + index * STRIDE);
            assert_eq!(page, Some(vec![*letter; PAGE as usize]), "{name} {index}");
        }
        let between = segments.page(address + 3 * PAGE);
        assert!(between.is_none_or(|page| page == [0; PAGE as usize]), "{name}");
    }
    let mut changed = vec![0; PAGE as usize];
    changed[0] = b'q';
    assert_eq!(segments.page(target.maps["private"].0 + PAGE), Some(changed));
    assert!(said.contains("nobody ever touched it"), "{said}");
    let data = fs::metadata(&core).unwrap();
    assert!(data.len() < 8 << 30, "{} bytes", data.len());
}

#[test]
fn a_packed_core_has_the_same() {
    let target = Sparse::start();
    let folder = tempfile::tempdir().unwrap();
    let [plain, packed] = ["core", "core.zst"].map(|name| folder.path().join(name));
    save(&[], &target.pid(), &plain);
    save(&[], &target.pid(), &packed);
    let names = ["shared", "view", "reserved", "none", "huge"];
    let commands = names.map(|name| format!("{:x}/J", target.maps[name].0 + 5 * STRIDE));
    let shown = |core: &Path| {
        let commands = commands.iter().flat_map(|command| ["-c", command]);
        let words: Vec<&str> =
            ["--no-rc", core.to_str().unwrap()].into_iter().chain(commands).collect();
        let output = kcore(&words);
        assert!(output.status.success(), "{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let text = shown(&plain);
    for name in names {
        let word = format!("{:x}", target.maps[name].2).repeat(8);
        assert!(text.contains(&word), "{name}: {text}");
    }
    assert_eq!(text, shown(&packed));
}

#[test]
fn looking_at_a_process_makes_nothing() {
    let target = Sparse::start();
    let before = target.cost();
    let pid = target.pid();
    // Some of it is there, some nobody has touched; the last command goes through all of it.
    let commands = target
        .maps
        .values()
        .flat_map(|(address, ..)| [0, 3 * PAGE].map(|by| format!("{:x}/J", address + by)));
    let commands: Vec<String> = commands.chain(["0x7373737373737373::ugrep".to_owned()]).collect();
    let commands = commands.iter().flat_map(|command| ["-c", command]);
    let words = ["--no-rc", "--live-memory", "-p", &pid].into_iter().chain(commands);
    let output = kcore(&words.collect::<Vec<_>>());
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("6f6f6f6f6f6f6f6f") && text.contains("7373737373737373"), "{text}");
    assert_eq!(target.cost(), before);
}
