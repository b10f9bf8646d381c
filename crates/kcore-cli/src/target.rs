//! Which of the named files is the core, and which the executable.

use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use kcore::open_regular;
use kcore_render::{io_reason, sanitize};

use crate::args::Batch;
use crate::cores;
use crate::live::{self, LiveTarget};

/// What to open, and what is left of the commands.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) core: Option<PathBuf>,
    pub(crate) exe: Option<PathBuf>,
    pub(crate) commands: Vec<Batch>,
    /// A live process, which then is what there is instead of a core.
    pub(crate) live: Option<LiveTarget>,
}

impl Target {
    /// Whether the core is read from standard input, which then is no script and no terminal.
    pub(crate) fn core_is_stdin(&self) -> bool {
        self.core.as_deref() == Some(Path::new("-"))
    }

    /// Whether the core comes through a pipe or is compressed, so that it is unpacked into a file first.
    pub(crate) fn core_is_unpacked(&self) -> bool {
        self.core.as_deref().is_some_and(|core| kind(core) != Kind::Core)
    }

    /// What messages and headers call it.
    pub(crate) fn name(&self) -> String {
        if let Some(live) = &self.live {
            return format!("process {}", live.pid);
        }
        self.core.as_deref().or(self.exe.as_deref()).map(shown).unwrap_or_default()
    }
}

/// What a file is, by its first bytes.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    /// An ELF core.
    Core,
    /// A compressed file: of what kcore opens, only a core is.
    Packed,
    /// Something that can be read but once, and so only as a core.
    Stream,
    /// An executable or a library.
    Executable,
    /// Neither, and why.
    Other(String),
}

/// Tells core and executable apart, whatever their order.
///
/// # Errors
/// When there is nothing to open, too much, or a file is neither.
pub(crate) fn resolve(
    files: Vec<PathBuf>,
    exe: Option<PathBuf>,
    commands: Vec<Batch>,
    live: Option<LiveTarget>,
) -> Result<Target> {
    let mut target = Target { core: None, exe, commands, live };
    for file in files {
        match kind(&file) {
            Kind::Core | Kind::Packed | Kind::Stream => set(&mut target.core, file, "core")?,
            Kind::Executable => set(&mut target.exe, file, "executable")?,
            Kind::Other(_) if live::is_process(&file) => bail!(
                "{name}: no such file; is it a process? Then kcore -p {name}",
                name = shown(&file)
            ),
            Kind::Other(why) => bail!("{}: {why}", shown(&file)),
        }
    }
    if let (Some(live), Some(core)) = (&target.live, &target.core) {
        bail!("process {} and {} are both named: name one", live.pid, shown(core));
    }
    if target.live.is_some() {
        return Ok(target);
    }
    if target.core.is_none() {
        target.core = take_core(&mut target.commands);
    }
    if target.core.is_none() && target.exe.is_none() {
        let latest = cores::latest().map(|latest| format!("; {latest}")).unwrap_or_default();
        bail!(
            "no core is named: kcore [OPTIONS] [EXE] CORE, or -p PID (try 'kcore --help'){latest}"
        );
    }
    Ok(target)
}

/// A path as text that is safe for a terminal.
pub(crate) fn shown(path: &Path) -> String {
    sanitize::bytes(path.as_os_str().as_bytes())
}

fn set(place: &mut Option<PathBuf>, file: PathBuf, what: &str) -> Result<()> {
    if let Some(other) = place {
        let (one, two) = (shown(other), shown(&file));
        let several = "'kcore stacks' and 'kcore triage' take several";
        let hint = if what == "core" { format!(" ({several})") } else { String::new() };
        bail!("{one} and {two} are both named as the {what}: name one{hint}");
    }
    *place = Some(file);
    Ok(())
}

/// gdb's meaning of `-c FILE`, for tools that start a debugger as `EXE -c CORE`.
fn take_core(commands: &mut Vec<Batch>) -> Option<PathBuf> {
    let core = |batch: &Batch| match batch {
        Batch::Text(word) => Some(PathBuf::from(word)).filter(|path| is_core(path)),
        Batch::Script(_) => None,
    };
    let (at, path) = commands.iter().enumerate().find_map(|(at, it)| Some((at, core(it)?)))?;
    commands.remove(at);
    Some(path)
}

/// Whether more than one of the files is a core.
pub(crate) fn has_several_cores(files: &[PathBuf]) -> bool {
    files.iter().filter(|file| is_core(file)).nth(1).is_some()
}

fn is_core(path: &Path) -> bool {
    path.is_file() && matches!(kind(path), Kind::Core | Kind::Packed)
}

fn kind(path: &Path) -> Kind {
    if path.as_os_str() == "-" {
        return Kind::Stream;
    }
    match fs::metadata(path) {
        Ok(file) if file.is_dir() => Kind::Other("a directory, not a core".to_owned()),
        Ok(file) if !file.is_file() => Kind::Stream,
        Ok(_) => {
            let read = first_bytes(path).map(|bytes| kind_of_bytes(&bytes));
            read.unwrap_or_else(|error| Kind::Other(io_reason(&error)))
        }
        Err(error) => Kind::Other(io_reason(&error)),
    }
}

fn first_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(kcore::BUNDLE_MAGIC as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn kind_of_bytes(bytes: &[u8]) -> Kind {
    if bytes.starts_with(b"\x7fELF") {
        return kind_of_elf(bytes.get(..20).unwrap_or(bytes));
    }
    if kcore::is_minidump(bytes) {
        return Kind::Core;
    }
    if kcore::is_packed(bytes) || kcore::is_bundle(bytes) {
        return Kind::Packed;
    }
    Kind::Other(match bytes {
        [] => "empty, not a core".to_owned(),
        _ if let Some(what) = foreign(bytes) => format!("{what}: kcore reads cores of Linux"),
        _ => format!("neither an ELF file nor a compressed core: begins with {}", hex(bytes)),
    })
}

/// By `e_type`, in the byte order that the header names.
fn kind_of_elf(bytes: &[u8]) -> Kind {
    let (big, kind) = match bytes {
        [_, _, _, _, _, data, .., first, second, _, _] if bytes.len() == 20 => {
            (*data == 2, [*first, *second])
        }
        _ => return Kind::Other("cut off within its ELF header".to_owned()),
    };
    match if big { u16::from_be_bytes(kind) } else { u16::from_le_bytes(kind) } {
        2 | 3 => Kind::Executable,
        4 => match system(bytes) {
            Some(system) => Kind::Other(format!("a core of {system}: kcore reads cores of Linux")),
            None => Kind::Core,
        },
        1 => Kind::Other("an object file, neither a core nor an executable".to_owned()),
        other => Kind::Other(format!("an ELF file of unknown type {other}")),
    }
}

/// What other systems write when a process dies, by its first bytes: Mach-O (`mach-o/loader.h`), Windows' dumps of the
/// kernel (`PAGEDUMP`, `PAGEDU64`) and of old processes (`USERDUMP`).
fn foreign(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xce | 0xcf, 0xfa, 0xed, 0xfe, ..] | [0xfe, 0xed, 0xfa, 0xce | 0xcf, ..] => {
            Some("a Mach-O file, as Darwin's cores are")
        }
        [b'P', b'A', b'G', b'E', b'D', b'U', ..] => Some("a dump of Windows' kernel"),
        [b'U', b'S', b'E', b'R', b'D', b'U', ..] => Some("a dump of Windows"),
        _ => None,
    }
}

/// The system that a core is of, by `EI_OSABI`, if that is not Linux (gABI, «ELF Identification»). Linux writes 0, and
/// so do Solaris and NetBSD: of the latter the notes tell.
fn system(bytes: &[u8]) -> Option<&'static str> {
    match bytes.get(7)? {
        1 => Some("HP-UX"),
        2 => Some("NetBSD"),
        6 => Some("Solaris"),
        9 => Some("FreeBSD"),
        12 => Some("OpenBSD"),
        _ => None,
    }
}

fn hex(bytes: &[u8]) -> String {
    let digits: Vec<String> = bytes.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    digits.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with a core, an executable, a compressed file and a text.
    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            for (name, bytes) in [
                ("core", elf(1, [4, 0])),
                ("big", elf(2, [0, 4])),
                ("exe", elf(1, [3, 0])),
                ("object", elf(1, [1, 0])),
                ("core.zst", vec![0x28, 0xb5, 0x2f, 0xfd, 0]),
                ("pzstd.zst", vec![0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0]),
                ("text", b"#!/bin/sh\n".to_vec()),
                ("cut", b"\x7fELF".to_vec()),
                ("empty", Vec::new()),
            ] {
                fs::write(folder.path().join(name), bytes).unwrap();
            }
            Self(folder)
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        /// Resolves; paths in the answer without the folder.
        fn resolve(
            &self,
            files: &[&str],
            commands: &[&str],
        ) -> Result<[Option<String>; 2], String> {
            let files = files.iter().map(|name| self.path(name)).collect();
            let commands =
                commands.iter().map(|name| Batch::Text(self.path(name).into())).collect();
            let folder = format!("{}/", self.0.path().display());
            let name = |path: Option<PathBuf>| {
                path.map(|path| path.display().to_string().replace(&folder, ""))
            };
            match resolve(files, None, commands, None) {
                Ok(target) => Ok([name(target.core), name(target.exe)]),
                Err(error) => Err(error.to_string().replace(&folder, "")),
            }
        }
    }

    fn elf(data: u8, kind: [u8; 2]) -> Vec<u8> {
        let mut bytes = b"\x7fELF\x02".to_vec();
        bytes.push(data);
        bytes.resize(16, 0);
        bytes.extend(kind);
        bytes.resize(64, 0);
        bytes
    }

    fn both(core: &str, exe: &str) -> Result<[Option<String>; 2], String> {
        let some = |name: &str| (!name.is_empty()).then(|| name.to_owned());
        Ok([some(core), some(exe)])
    }

    #[test]
    fn the_files_say_what_they_are_in_either_order() {
        let folder = Folder::new();
        assert_eq!(folder.resolve(&["exe", "core"], &[]), both("core", "exe"));
        assert_eq!(folder.resolve(&["core", "exe"], &[]), both("core", "exe"));
        assert_eq!(folder.resolve(&["big"], &[]), both("big", ""));
        assert_eq!(folder.resolve(&["core.zst"], &[]), both("core.zst", ""));
        assert_eq!(folder.resolve(&["pzstd.zst"], &[]), both("pzstd.zst", ""));
        assert_eq!(folder.resolve(&["exe"], &[]), both("", "exe"));
    }

    #[test]
    fn a_core_may_stand_where_gdb_expects_it() {
        let folder = Folder::new();
        assert_eq!(folder.resolve(&["exe"], &["core"]), both("core", "exe"));
        assert_eq!(folder.resolve(&[], &["core"]), both("core", ""));
        assert_eq!(folder.resolve(&["exe"], &["::status"]), both("", "exe"));
        let files = vec![folder.path("core")];
        let commands = vec![Batch::Text(folder.path("big").into())];
        assert_eq!(resolve(files, None, commands.clone(), None).unwrap().commands, commands);
    }

    #[test]
    fn what_cannot_be_is_said_with_its_reason() {
        let folder = Folder::new();
        let error = |files: &[&str]| folder.resolve(files, &[]).unwrap_err();
        assert_eq!(
            error(&["core", "big"]),
            "core and big are both named as the core: name one ('kcore stacks' and 'kcore triage' take several)"
        );
        assert_eq!(
            error(&["exe", "exe"]),
            "exe and exe are both named as the executable: name one"
        );
        assert_eq!(error(&["nosuch"]), "nosuch: no such file or directory");
        assert_eq!(
            error(&["text"]),
            "text: neither an ELF file nor a compressed core: begins with 23 21 2f 62"
        );
        assert_eq!(error(&["empty"]), "empty: empty, not a core");
        assert_eq!(error(&["cut"]), "cut: cut off within its ELF header");
        assert_eq!(error(&["object"]), "object: an object file, neither a core nor an executable");
        assert_eq!(error(&[""]).split(": ").last(), Some("a directory, not a core"));
        assert!(error(&[]).starts_with("no core is named"));
    }

    #[test]
    fn standard_input_is_a_core() {
        let target = resolve(vec!["-".into()], None, Vec::new(), None).unwrap();
        assert_eq!(target.core, Some(PathBuf::from("-")));
    }
}
