//! Which servers are asked: those of the command line, of `DEBUGINFOD_URLS`, or of the files in `/etc/debuginfod`.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Where distributions name their servers (elfutils, `profile.sh`).
const SYSTEM: &str = "/etc/debuginfod";

/// Addresses of servers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerList {
    /// Those that can be asked, in order.
    pub urls: Vec<String>,
    /// Words that are no address that kcore can ask.
    pub refused: Vec<String>,
}

impl ServerList {
    /// The addresses in a text, which spaces separate. `ima:` words tell the usual client which signatures it should
    /// ask for, and are passed over: kcore believes a file by its build-id.
    pub fn of(text: &str) -> Self {
        let words = text.split_whitespace().filter(|word| !word.starts_with("ima:"));
        let (urls, refused) = words
            .map(ToOwned::to_owned)
            .partition(|word| word.starts_with("http://") || word.starts_with("https://"));
        Self { urls, refused }
    }

    /// Those that the system's own files name.
    pub fn of_system() -> Self {
        Self::of_folder(Path::new(SYSTEM))
    }

    fn of_folder(folder: &Path) -> Self {
        let Ok(entries) = fs::read_dir(folder) else { return Self::default() };
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        files.retain(|path| path.extension().is_some_and(|it| it == "urls"));
        files.sort();
        let texts = files.iter().filter_map(|path| fs::read_to_string(path).ok());
        Self::of(&texts.collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_addresses_or_are_said_to_be_none() {
        let list = ServerList::of(" http://one:8002  ima:enforcing https://two/x\nfile:///three ");
        assert_eq!(list.urls, ["http://one:8002", "https://two/x"]);
        assert_eq!(list.refused, ["file:///three"]);
        assert_eq!(ServerList::of("  "), ServerList::default());
    }

    #[test]
    fn files_of_the_system_are_read_in_the_order_of_their_names() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in
            [("b.urls", "http://b\n"), ("a.urls", "http://a"), ("c.txt", "http://c")]
        {
            fs::write(folder.path().join(name), text).unwrap();
        }
        assert_eq!(ServerList::of_folder(folder.path()).urls, ["http://a", "http://b"]);
        assert!(ServerList::of_folder(Path::new("/nonexistent")).urls.is_empty());
    }
}
