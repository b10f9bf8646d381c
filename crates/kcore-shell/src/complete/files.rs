//! Names of files.

use std::fs;
use std::path::Path;

use kcore_render::sanitize;

use crate::limits;

/// Files whose path begins with `word`; folders end with a slash. Hidden ones only for who has typed
/// their dot, and none that the language would read as something else.
pub(super) fn starting(word: &str, go_on: &dyn Fn() -> bool) -> Vec<String> {
    let (folder, name) = match word.rfind('/') {
        Some(slash) => word.split_at(slash + 1),
        None => ("", word),
    };
    let listed = if folder.is_empty() { Path::new(".") } else { Path::new(folder) };
    let Ok(entries) = fs::read_dir(listed) else { return Vec::new() };
    entries
        .take(limits::FOLDER)
        .take_while(|_| go_on())
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().into_string().ok().map(|name| (entry, name)))
        .filter(|(_, found)| found.starts_with(name) && is_plain(found))
        .filter(|(_, found)| name.starts_with('.') || !found.starts_with('.'))
        .map(|(entry, found)| {
            let slash = if entry.path().is_dir() { "/" } else { "" };
            format!("{folder}{found}{slash}")
        })
        .collect()
}

fn is_plain(name: &str) -> bool {
    !name.contains(|c: char| c.is_whitespace() || sanitize::is_unsafe(c) || "'\";|!$".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_folders_of_a_folder() {
        let folder = std::env::temp_dir().join(format!("kcore-complete-{}", std::process::id()));
        fs::create_dir_all(folder.join("script.d")).unwrap();
        for name in ["script", "scratch", "a b", ".script"] {
            fs::write(folder.join(name), "").unwrap();
        }
        let found = |word: &str| {
            let start = format!("{}/", folder.display());
            let mut found = starting(&format!("{start}{word}"), &|| true);
            found.sort();
            found.iter().map(|path| path.replace(&start, "")).collect::<Vec<_>>()
        };
        let all = found("");
        let (some, hidden, none) = (found("scri"), found(".s"), found("missing/x"));
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(all, ["scratch", "script", "script.d/"]);
        assert_eq!(some, ["script", "script.d/"]);
        assert_eq!((hidden, none.len()), (vec![".script".to_owned()], 0));
    }
}
