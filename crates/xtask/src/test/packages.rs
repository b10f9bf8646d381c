//! The system's packages that the tests need.

use anyhow::{Result, bail};
use gen_cores::Tool;

use crate::cargo;

/// What tests need beside the tools that cores are made and compared with.
const MORE_TOOLS: &[Tool] = &[
    Tool { command: "tmux", package: "tmux" },
    Tool { command: "pkg-config", package: "pkg-config" },
    // What the agent is loaded into. The server of Redis is one file with a tool of its.
    Tool { command: "/usr/sbin/nginx", package: "nginx-light" },
    Tool { command: "memcached", package: "memcached" },
    Tool { command: "redis-check-rdb", package: "redis-tools" },
    // Packages of a release are made with it.
    Tool { command: "rpmbuild", package: "rpm" },
    // Flame graphs are looked at in it.
    Tool { command: "chromium", package: "chromium" },
    Tool { command: "gfortran", package: "gfortran" },
    // Libraries whose types kcore has printers of.
    Tool { command: "/usr/include/boost/variant2/variant.hpp", package: "libboost-dev" },
    Tool { command: "/usr/include/boost/filesystem.hpp", package: "libboost-filesystem-dev" },
    Tool { command: "/usr/include/glib-2.0/glib.h", package: "libglib2.0-dev" },
    Tool { command: "/usr/include/uv.h", package: "libuv1-dev" },
    Tool { command: "/usr/include/openssl/asn1.h", package: "libssl-dev" },
];

/// Large packages, which only a run of all versions needs.
const TOOLS_OF_ALL: &[Tool] = &[
    Tool { command: "/usr/include/x86_64-linux-gnu/qt6/QtCore/QString", package: "qt6-base-dev" },
    Tool { command: "/usr/include/x86_64-linux-gnu/qt5/QtCore/QString", package: "qtbase5-dev" },
];

/// Installs the tools that are missing where that is allowed; else says what to install.
pub fn install(missing: &[Tool], is_of_all: bool) -> Result<()> {
    if missing.is_empty() {
        return Ok(());
    }
    let packages = names(missing);
    if !may_install() {
        bail!("{}", complaint(missing, &packages));
    }
    by_apt(&packages)?;
    match self::missing(is_of_all).as_slice() {
        [] => Ok(()),
        still => bail!("still missing after installation: {}", commands(still)),
    }
}

/// The tools that are missing, of a run of everything or of a short one.
pub fn missing(is_of_all: bool) -> Vec<Tool> {
    let of_all = if is_of_all { TOOLS_OF_ALL } else { &[] };
    let more = MORE_TOOLS.iter().chain(of_all).copied().filter(|tool| !is_there(tool.command));
    gen_cores::missing_tools().into_iter().chain(more).collect()
}

/// Only root may, and only Debian's names of packages are known.
fn may_install() -> bool {
    let id = cargo::output(&mut cargo::command("id", &["-u"]));
    is_there("apt-get") && id.is_ok_and(|id| id.trim() == "0")
}

fn by_apt(packages: &[&str]) -> Result<()> {
    let apt = |args: &[&str]| {
        let mut command = cargo::command("apt-get", args);
        cargo::run(command.env("DEBIAN_FRONTEND", "noninteractive"))
    };
    apt(&["update", "-q"])?;
    let mut words = vec!["install", "-q", "-y", "--no-install-recommends"];
    words.extend(packages);
    apt(&words)
}

fn is_there(command: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|dir| dir.join(command).is_file())
}

/// The packages of tools.
pub fn names(tools: &[Tool]) -> Vec<&'static str> {
    let mut packages: Vec<&str> = tools.iter().map(|tool| tool.package).collect();
    packages.dedup();
    packages
}

fn commands(tools: &[Tool]) -> String {
    tools.iter().map(|tool| tool.command).collect::<Vec<_>>().join(", ")
}

fn complaint(missing: &[Tool], packages: &[&str]) -> String {
    format!(
        "missing: {}\nthe tests need them; on Debian: apt-get install {}",
        commands(missing),
        packages.join(" ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_complaint_names_commands_and_packages() {
        let missing = [
            Tool { command: "gcc", package: "gcc" },
            Tool { command: "eu-stack", package: "elfutils" },
        ];
        let text = complaint(&missing, &names(&missing));
        assert!(text.starts_with("missing: gcc, eu-stack\n"), "{text}");
        assert!(text.ends_with("apt-get install gcc elfutils"), "{text}");
    }
}
