//! The states in which a core is opened.

use std::fs;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use kcore::{Core, OpenOptions};

use crate::support;

/// What has happened to a core.
#[derive(Clone, Copy)]
pub enum Damage {
    /// The second half of the file is lost.
    Truncated,
    /// The executable cannot be found.
    WithoutFiles,
}

impl Damage {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Truncated, Self::WithoutFiles];

    /// Its name in file names.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Truncated => "truncated",
            Self::WithoutFiles => "without-files",
        }
    }
}

/// An opened core, and where it lies.
pub struct Opened {
    /// The core.
    pub core: Arc<Core>,
    /// Its folder, which is to stand in no golden file.
    pub folder: PathBuf,
}

/// Opens the core of a scenario in a state.
pub fn open(scenario: &str, damage: Option<Damage>) -> Opened {
    let name = format!("matrix-{scenario}-{}", damage.map_or("healthy", Damage::name));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    let mut bytes = unpacked(scenario);
    let executable = folder.join(scenario);
    match damage {
        Some(Damage::WithoutFiles) => move_away(&mut bytes),
        _ => drop(fs::copy(support::committed(scenario, scenario), executable).unwrap()),
    }
    if let Some(Damage::Truncated) = damage {
        bytes.truncate(bytes.len() / 2);
    }
    let path = folder.join("core");
    fs::write(&path, bytes).unwrap();
    let options = OpenOptions { core: Some(path), ..OpenOptions::default() };
    Opened { core: Arc::new(Core::open(&options).unwrap()), folder }
}

fn unpacked(scenario: &str) -> Vec<u8> {
    let packed = fs::read(support::committed(scenario, "core.zst")).unwrap();
    let mut bytes = Vec::new();
    let mut frames = ruzstd::decoding::StreamingDecoder::new(&packed[..]).unwrap();
    frames.read_to_end(&mut bytes).unwrap();
    bytes
}

/// Moves the recorded path of the executable to a folder that no machine has.
fn move_away(bytes: &mut [u8]) {
    let (old, new) = (b"/tmp/kcore-testdata/", b"/nil/kcore-testdata/");
    for at in 0..bytes.len() - old.len() {
        if bytes[at..].starts_with(old) {
            bytes[at..at + new.len()].copy_from_slice(new);
        }
    }
}
