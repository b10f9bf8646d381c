//! Packages of any suite of Debian, unpacked into a folder: nothing is installed.

use std::path::{Path, PathBuf};

use crate::command::Line;
use crate::error::AtPath;
use crate::lock::Lock;
use crate::{Download, Error, Result, paths};

/// The suites, and the keys that sign them.
const SUITES: [&str; 5] = ["bullseye", "bookworm", "trixie", "sid", "experimental"];
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
/// Where the system says from which mirror it takes its packages.
const SYSTEM_SOURCES: [&str; 2] =
    ["/etc/apt/sources.list", "/etc/apt/sources.list.d/debian.sources"];
const MIRROR: &str = "http://deb.debian.org/debian";

/// Megabytes of the lists of all suites, packed and unpacked.
const LISTS_MEGABYTES: (u32, u32) = (40, 80);

/// What is to be fetched of the lists that name the packages.
pub(crate) fn download() -> Option<Download> {
    let (megabytes, on_disk) = LISTS_MEGABYTES;
    let name = format!("lists of packages ({})", SUITES.join(", "));
    (!is_done(&folder().join("done"))).then_some(Download { name, megabytes, on_disk })
}

/// Whether the lists of all suites were fetched, and not of fewer.
fn is_done(done: &Path) -> bool {
    std::fs::read_to_string(done).is_ok_and(|suites| suites == SUITES.join(" "))
}

/// The folder of the lists, beside the interpreters.
fn folder() -> PathBuf {
    paths::cores_dir().join(".python").join("apt")
}

/// Fetches packages of a suite and unpacks them into `dir/root`; `dir/packages` names them, and is written
/// last.
pub(crate) fn unpack(suite: &str, packages: &[&str], dir: &Path) -> Result<()> {
    let config = lists()?;
    std::fs::create_dir_all(dir).at(dir)?;
    let mut fetch = Line::new("apt-get");
    fetch.arg("-c").path(&config).args(["-q", "-o", "APT::Sandbox::User=root", "-t", suite]);
    fetch.arg("download").args(packages).run(dir)?;
    let mut names = Vec::new();
    for entry in std::fs::read_dir(dir).at(dir)? {
        let path = entry.at(dir)?.path();
        if path.extension().is_some_and(|kind| kind == "deb") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            Line::new("dpkg-deb").arg("-x").arg(name.as_str()).arg("root").run(dir)?;
            std::fs::remove_file(&path).at(&path)?;
            names.push(name);
        }
    }
    names.sort();
    let told = dir.join("packages");
    std::fs::write(&told, names.join("\n")).at(&told)
}

/// The configuration of a folder of lists beside the system's own, which are fetched once.
fn lists() -> Result<PathBuf> {
    let dir = folder();
    let config = dir.join("apt.conf");
    let done = dir.join("done");
    let _lock = Lock::wait(&dir)?;
    if is_done(&done) {
        return Ok(config);
    }
    for folder in ["state/lists/partial", "cache/archives/partial"] {
        std::fs::create_dir_all(dir.join(folder)).at(&dir)?;
    }
    let line = |suite| format!("deb [signed-by={KEYS}] {} {suite} main\n", mirror());
    let sources: String = SUITES.into_iter().map(line).collect();
    std::fs::write(dir.join("sources.list"), sources).at(&dir)?;
    std::fs::write(&config, configuration(&dir)).at(&config)?;
    let mut update = Line::new("apt-get");
    update.arg("-c").path(&config).args(["-q", "update"]);
    let failed = |error: Error| Error::Toolchain { path: dir.clone(), reason: error.to_string() };
    update.run(&dir).map_err(failed)?;
    std::fs::write(&done, SUITES.join(" ")).at(&done)?;
    Ok(config)
}

fn configuration(dir: &Path) -> String {
    let dir = dir.display();
    format!(
        "Dir::State \"{dir}/state\";\nDir::State::status \"/dev/null\";\nDir::Cache \"{dir}/cache\";\n\
         Dir::Etc::sourcelist \"{dir}/sources.list\";\nDir::Etc::sourceparts \"-\";\n\
         APT::Architectures \"amd64\";\nAcquire::Languages \"none\";\n\
         Acquire::IndexTargets::deb::DEP-11::DefaultEnabled \"false\";\n"
    )
}

/// The mirror that the system takes its packages from.
fn mirror() -> String {
    let texts = SYSTEM_SOURCES.iter().filter_map(|path| std::fs::read_to_string(path).ok());
    let words: Vec<String> = texts
        .flat_map(|text| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
        .collect();
    let is_mirror = |word: &&String| word.starts_with("http") && word.ends_with("/debian");
    words.iter().find(is_mirror).cloned().unwrap_or_else(|| MIRROR.to_owned())
}
