//! The files in which source maps of scripts are looked for: those that a user names, then those beside the scripts.

use std::{
    path::{Component, Path, PathBuf},
    sync::{Arc, OnceLock},
};

use kcore_files::{Finder, read_regular};
use kcore_runtimes::{MappedScript, SourceMapFile};
use kcore_symbols::{MAX_SOURCE_MAP, SourceMap};

/// What follows the name of a script in that of its map.
const MAP: &str = ".map";
/// What is said of a map that belongs to no script by its name, and none by its key `file`.
const NAMELESS: &str =
    "it does not say of which script it is: it needs the script's name, and `.map`";

/// The maps, and folders of maps, that a user named.
#[derive(Clone, Default)]
pub struct SourceMapFiles {
    named: Vec<PathBuf>,
    /// What each file that is no folder says of itself, in their order.
    read: Arc<OnceLock<Vec<Named>>>,
}

/// A file that a user named.
struct Named {
    path: PathBuf,
    /// The script that it says it is of, by the last part of its name; or why it is no map.
    of: Result<Option<String>, String>,
}

impl SourceMapFiles {
    /// Files and folders, in this order.
    pub fn new(named: &[PathBuf]) -> Self {
        Self { named: named.to_vec(), read: Arc::default() }
    }

    /// Why files that a user named are no maps. They are read for that.
    pub fn refused(&self) -> impl Iterator<Item = (&Path, &str)> {
        let refused = |named: &Named| named.of.is_err();
        let all = self.read().iter().filter(move |named| refused(named));
        all.filter_map(|named| Some((&*named.path, &**named.of.as_ref().err()?)))
    }

    fn read(&self) -> &[Named] {
        let files = self.named.iter().filter(|path| !path.is_dir());
        self.read.get_or_init(|| files.map(|path| Named::read(path)).collect())
    }

    /// Gives `take` the maps of a script until it has what it wanted.
    pub fn of_script(
        &self,
        script: MappedScript<'_>,
        finder: &Finder,
        exe: Option<&Path>,
        take: &mut dyn FnMut(SourceMapFile) -> bool,
    ) -> bool {
        let named = self.named_paths(script);
        let named =
            named.filter_map(|path| Some((read_regular(&path, MAX_SOURCE_MAP).ok()?, path)));
        let mut by_name = named.map(|(bytes, path)| file(&path, bytes, true));
        by_name.any(&mut *take) || beside(script, finder, exe, take)
    }

    /// The files that a user named for a script: it has their name but for `.map`, or they name it; in a folder they
    /// lie as the script does, or by the name alone.
    fn named_paths(&self, script: MappedScript<'_>) -> impl Iterator<Item = PathBuf> {
        let names: Vec<String> = names(script).collect();
        let folders = self.named.iter().filter(|path| path.is_dir());
        let below: Vec<PathBuf> =
            folders.flat_map(|folder| below(folder, script, &names)).collect();
        let is_of = |named: &&Named| {
            let own = named.path.file_name().and_then(|name| name.to_str());
            let says = named.of.as_ref().ok().and_then(|of| of.as_deref());
            own.is_some_and(|own| names.iter().any(|name| name == own))
                || says == Some(script.file_name())
        };
        let files: Vec<PathBuf> =
            self.read().iter().filter(is_of).map(|named| named.path.clone()).collect();
        files.into_iter().chain(below)
    }
}

impl Named {
    fn read(path: &Path) -> Self {
        let bytes = read_regular(path, MAX_SOURCE_MAP).map_err(|error| error.to_string());
        let map =
            bytes.and_then(|bytes| SourceMap::parse(&bytes).map_err(|error| error.to_string()));
        let last = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
        let of = map.map(|map| map.file().map(last));
        let is_nameless = of == Ok(None) && !names_script(path);
        Self { path: path.to_owned(), of: if is_nameless { Err(NAMELESS.to_owned()) } else { of } }
    }
}

/// Whether the name of a map may be that of a script, but for `.map`: `app.js.map`.
fn names_script(path: &Path) -> bool {
    path.file_stem().is_some_and(|stem| Path::new(stem).extension().is_some())
}

/// What the map of a script may be called: as its text says, or as the script with `.map` behind it.
fn names(script: MappedScript<'_>) -> impl Iterator<Item = String> {
    let url = script.url.and_then(|url| url.rsplit('/').next()).map(str::to_owned);
    url.into_iter().chain([format!("{}{MAP}", script.file_name())])
}

/// The files in a folder that may be the map of a script: at the end of its path, the longest first.
fn below(folder: &Path, script: MappedScript<'_>, names: &[String]) -> Vec<PathBuf> {
    let path = script.path().unwrap_or_else(|| script.file_name().to_owned());
    let parents = Path::new(&path).parent().into_iter().flat_map(Path::components);
    // The path is the core's: it must not lead out of the folder.
    let parents: Vec<_> = parents.filter(|part| matches!(part, Component::Normal(_))).collect();
    let ends = (0..=parents.len()).filter_map(|from| parents.get(from..));
    let in_end = |end: &[Component<'_>]| {
        let folder = folder.join(end.iter().collect::<PathBuf>());
        names.iter().map(|name| folder.join(name)).collect::<Vec<_>>()
    };
    ends.flat_map(in_end).filter(|path| path.is_file()).collect()
}

/// The maps that lie where the script does, or where its text says, as the target has them.
fn beside(
    script: MappedScript<'_>,
    finder: &Finder,
    exe: Option<&Path>,
    take: &mut dyn FnMut(SourceMapFile) -> bool,
) -> bool {
    let Some(path) = script.path() else { return false };
    let told =
        script.url.filter(|url| !url.contains(':')).map(|url| Path::new(&path).with_file_name(url));
    let own = PathBuf::from(format!("{path}{MAP}"));
    let own = Some(own).filter(|own| told.as_ref() != Some(own));
    told.into_iter().chain(own).any(|path| {
        let mut given = |found: &Path, bytes| take(file(found, bytes, false));
        finder.files_of_target(&path, exe, MAX_SOURCE_MAP, &mut given)
    })
}

fn file(path: &Path, bytes: Vec<u8>, is_named: bool) -> SourceMapFile {
    SourceMapFile { name: path.display().to_string(), bytes, is_named }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use kcore_files::SearchPaths;

    use super::*;

    const SCRIPT: MappedScript<'_> = MappedScript { name: "/app/dist/a.js", url: Some("b.map") };

    fn found(named: &[PathBuf], core_dir: &Path) -> Vec<(String, bool)> {
        let paths = SearchPaths { core_dir: Some(core_dir.to_owned()), ..SearchPaths::default() };
        let mut found = Vec::new();
        SourceMapFiles::new(named).of_script(SCRIPT, &Finder::new(paths), None, &mut |file| {
            found.push((String::from_utf8(file.bytes).unwrap(), file.is_named));
            false
        });
        found
    }

    #[test]
    fn maps_are_those_that_are_named_then_those_beside_the_script() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("maps/dist")).unwrap();
        for name in ["maps/dist/a.js.map", "maps/b.map", "maps/c.map", "a.js.map", "b.map"] {
            fs::write(at(name), name).unwrap();
        }
        let named = |name: &str| (name.to_owned(), true);
        let beside = |name: &str| (name.to_owned(), false);
        let core = at("core");
        assert_eq!(found(&[], folder.path()), [beside("b.map"), beside("a.js.map")]);
        assert_eq!(found(&[at("maps")], &core), [named("maps/dist/a.js.map"), named("maps/b.map")]);
        assert_eq!(found(&[at("a.js.map"), at("maps/c.map")], &core), [named("a.js.map")]);
        let says = r#"{"version":3,"file":"js/a.js","mappings":""}"#;
        fs::write(at("maps/c.map"), says).unwrap();
        assert_eq!(found(&[at("maps/c.map")], &core), [named(says)]);
    }

    #[test]
    fn the_path_of_a_script_does_not_lead_out_of_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let maps = folder.path().join("maps");
        fs::create_dir(&maps).unwrap();
        fs::write(folder.path().join("a.js.map"), "outside").unwrap();
        let script = MappedScript { name: "/app/../a.js", url: None };
        let names: Vec<String> = names(script).collect();
        assert_eq!(below(&maps, script, &names), Vec::<PathBuf>::new());
    }

    #[test]
    fn files_that_are_no_maps_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.map");
        fs::write(&path, "{}").unwrap();
        let maps = SourceMapFiles::new(&[path.clone(), folder.path().to_owned()]);
        let refused: Vec<_> = maps.refused().collect();
        assert_eq!(refused, [(&*path, "it is no source map: it has no mappings")]);
    }
}
