//! The files of a package: what they are made of, and where they stand.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use super::{binary, notices, release::Release, target::Target};
use crate::cargo;

/// What the packages of one machine hold.
pub struct Contents {
    /// The folder of all files but the program.
    pub texts: PathBuf,
    /// The program.
    pub program: PathBuf,
}

/// A file of every package.
pub struct PackagedFile {
    /// Its name among the texts.
    pub name: &'static str,
    /// Where it stands in an archive that is unpacked anywhere.
    pub unpacked: &'static str,
    /// Where a distribution looks for it. The folder of zsh is another one in Debian.
    pub installed: &'static str,
}

const PROGRAM: &str = "kcore";

/// A manual page.
macro_rules! manual {
    ($name:literal) => {
        PackagedFile {
            name: $name,
            unpacked: concat!("man/", $name),
            installed: concat!("usr/share/man/man1/", $name),
        }
    };
}

/// All files.
pub const PLACES: &[PackagedFile] = &[
    PackagedFile { name: PROGRAM, unpacked: "kcore", installed: "usr/bin/kcore" },
    manual!("kcore.1"),
    manual!("kcore-ask.1"),
    manual!("kcore-catch.1"),
    manual!("kcore-cores.1"),
    manual!("kcore-heapdump.1"),
    manual!("kcore-profile.1"),
    manual!("kcore-save.1"),
    manual!("kcore-tutorial.1"),
    manual!("kcore-top.1"),
    manual!("kcore-watch.1"),
    PackagedFile {
        name: "bash",
        unpacked: "completions/kcore.bash",
        installed: "usr/share/bash-completion/completions/kcore",
    },
    PackagedFile {
        name: "zsh",
        unpacked: "completions/_kcore",
        installed: "usr/share/zsh/site-functions/_kcore",
    },
    PackagedFile {
        name: "fish",
        unpacked: "completions/kcore.fish",
        installed: "usr/share/fish/vendor_completions.d/kcore.fish",
    },
    PackagedFile {
        name: "README.md",
        unpacked: "README.md",
        installed: "usr/share/doc/kcore/README.md",
    },
    PackagedFile {
        name: "LICENSE-MIT",
        unpacked: "LICENSE-MIT",
        installed: "usr/share/doc/kcore/LICENSE-MIT",
    },
    PackagedFile {
        name: "LICENSE-APACHE",
        unpacked: "LICENSE-APACHE",
        installed: "usr/share/doc/kcore/LICENSE-APACHE",
    },
    PackagedFile {
        name: "THIRD-PARTY",
        unpacked: "THIRD-PARTY",
        installed: "usr/share/doc/kcore/THIRD-PARTY",
    },
];

/// Where the program stands.
pub fn program() -> &'static PackagedFile {
    &PLACES[0]
}

/// Writes what is the same for every machine: the documents, and what kcore says of itself. The kcore of this machine
/// is asked, since one of another may not run here.
pub fn write_texts(release: &Release) -> Result<PathBuf> {
    let kcore = binary::build(Target::of_this_machine()?, release)?;
    let folder = release.empty_folder("texts")?;
    let write = |name: &str, text: String| {
        fs::write(folder.join(name), text).with_context(|| format!("cannot write {name}"))
    };
    let said = |args: &[&str]| cargo::output(&mut cargo::command(&kcore.to_string_lossy(), args));
    write("kcore.1", said(&["--man"])?)?;
    for word in ["ask", "catch", "cores", "heapdump", "profile", "save", "tutorial"] {
        write(&format!("kcore-{word}.1"), said(&[word, "--man"])?)?;
    }
    for shell in ["bash", "zsh", "fish"] {
        write(shell, said(&["--completions", shell])?)?;
    }
    for name in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        write(name, fs::read_to_string(gen_cores::workspace_dir().join(name))?)?;
    }
    write("THIRD-PARTY", notices::text()?)?;
    Ok(folder)
}

impl Contents {
    /// Copies all files below a folder, each to its place.
    pub fn lay(&self, folder: &Path, place: impl Fn(&PackagedFile) -> PathBuf) -> Result<()> {
        for item in PLACES {
            let from = match item.name {
                PROGRAM => self.program.clone(),
                name => self.texts.join(name),
            };
            let to = folder.join(place(item));
            fs::create_dir_all(to.parent().unwrap_or(folder))?;
            fs::copy(&from, &to).with_context(|| format!("cannot copy {}", from.display()))?;
        }
        // Whatever the user's own mask is.
        cargo::output(cargo::command("chmod", &["-R", "u=rwX,go=rX"]).arg(folder)).map(drop)
    }
}
