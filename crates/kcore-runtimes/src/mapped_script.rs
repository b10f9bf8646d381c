//! Scripts that a compiler or bundler made, and the files that may say of what.

/// A script whose source map is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MappedScript<'a> {
    /// Its name: a path, or a URL `file:`.
    pub name: &'a str,
    /// Where its text says that its map is: a URL, most often a file's name. Never a map itself.
    pub url: Option<&'a str>,
}

/// A file that may be the source map of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceMapFile {
    /// Where it was found.
    pub name: String,
    /// What it holds.
    pub bytes: Vec<u8>,
    /// Whether a user named it, or its folder, as the map of this script: its own name of the script then proves nothing.
    pub is_named: bool,
}

impl MappedScript<'_> {
    /// The path of the script; `None` where its name is none.
    pub fn path(&self) -> Option<String> {
        let path = self.name.strip_prefix("file://").map_or(self.name.into(), unescaped);
        path.starts_with('/').then(|| path.into_owned())
    }

    /// The last part of its name.
    pub fn file_name(&self) -> &str {
        file_name(self.name)
    }
}

/// What stands behind the last slash.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, last)| last)
}

/// A URL's path without its escapes; as it is where one of them is damaged.
fn unescaped(path: &str) -> std::borrow::Cow<'_, str> {
    if !path.contains('%') {
        return path.into();
    }
    let bytes = kcore_symbols::data_url(&format!("data:,{path}"));
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).map_or_else(|| path.into(), Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_have_paths_by_name_or_url() {
        let path = |name| MappedScript { name, url: None }.path();
        assert_eq!(path("/app/a.js").as_deref(), Some("/app/a.js"));
        assert_eq!(path("file:///app/a%20b.mjs").as_deref(), Some("/app/a b.mjs"));
        assert_eq!(path("file:///app/a%b.mjs").as_deref(), Some("/app/a%b.mjs"));
        assert_eq!([path("node:fs"), path("a.js"), path("")], [None, None, None]);
        assert_eq!(MappedScript { name: "file:///x/a.mjs", url: None }.file_name(), "a.mjs");
    }
}
