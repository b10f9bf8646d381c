//! Source maps of scripts: where they are had from, and whether they are believed.

use std::{
    fmt::Display,
    sync::{Arc, Mutex, PoisonError},
};

use kcore_mem::Addr;
use kcore_symbols::{GeneratedText, SourceMap, data_url, last_url};
use rustc_hash::FxHashMap;

use super::{Heap, Script, script::is_line_end};
use crate::{
    Host, SourceMapFile,
    mapped_script::{MappedScript, file_name},
};

/// Scripts whose maps are remembered, at most.
const MAX_SCRIPTS: usize = 1 << 14;
/// Text of a script against which a map is held, and of a map within it, in units.
const MAX_TEXT: u64 = 1 << 26;
/// Units at the end of a script in which its comments are looked for.
const MAX_COMMENTS: u64 = 1 << 12;
/// What a map within a URL begins with, and how V8's own scripts are named.
const DATA: &str = "data:";
const OWN: &str = "node:";
/// The comment with what tells builds apart.
const DEBUG_ID: &str = "//# debugId=";

/// The maps of scripts that were asked for, by address and number: V8 gives no number twice.
#[derive(Default)]
pub struct MapCache(Mutex<FxHashMap<(Addr, i32), Arc<ScriptMap>>>);

/// The maps of a process, for whoever reads its heap.
#[derive(Clone, Copy)]
pub struct Maps<'a> {
    /// Those that are known.
    pub cache: &'a MapCache,
    /// Who finds files.
    pub host: &'a dyn Host,
}

/// What is known of the map of a script.
#[derive(Debug, Default)]
pub struct ScriptMap {
    /// The map, if there is one that fits.
    pub map: Option<SourceMap>,
    /// The folder in which its sources begin, a path or URL.
    pub folder: Option<String>,
    /// Why another one is not used.
    pub refused: Option<Arc<str>>,
}

impl Heap<'_> {
    /// The map of a script, looked for once; `None` of scripts that have none.
    pub fn script_map(&self, script: Script) -> Option<Arc<ScriptMap>> {
        let maps = self.maps?;
        let key = (script.at(), script.number(self)?);
        let known = maps.cache.lock().get(&key).cloned();
        let found = known.unwrap_or_else(|| {
            let found = Arc::new(self.find_map(script, maps.host).unwrap_or_default());
            let mut cache = maps.cache.lock();
            if cache.len() < MAX_SCRIPTS {
                cache.insert(key, found.clone());
            }
            found
        });
        (found.map.is_some() || found.refused.is_some()).then_some(found)
    }

    fn find_map(&self, script: Script, host: &dyn Host) -> Option<ScriptMap> {
        let name = script.name(self).or_else(|| script.source_url(self))?;
        // What lies within another text counts lines from elsewhere.
        if name.starts_with(OWN) || !script.begins_its_file(self) {
            return None;
        }
        let url = script.map_url(self);
        let mut search = Search { heap: self, script, name: &name, text: None, refused: None };
        let outer = url.as_deref().filter(|url| !url.starts_with(DATA));
        let mut found = None;
        host.source_maps(MappedScript { name: &name, url: outer }, &mut |file| {
            found = search.file(file);
            found.is_some()
        });
        let map = found.or_else(|| search.inline(url.as_deref().filter(|_| outer.is_none())?));
        let refused = search.refused.filter(|_| map.is_none());
        Some(ScriptMap { map, folder: folder(&name, outer), refused })
    }
}

impl MapCache {
    fn lock(&self) -> std::sync::MutexGuard<'_, FxHashMap<(Addr, i32), Arc<ScriptMap>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The search for the map of a script.
struct Search<'a> {
    heap: &'a Heap<'a>,
    script: Script,
    name: &'a str,
    /// Its text, once it was needed; `None` within where the core does not have it whole.
    text: Option<Option<Lines>>,
    /// Why the first map that was looked at is not used.
    refused: Option<Arc<str>>,
}

impl Search<'_> {
    /// The map that a file holds, if it is that of the script.
    fn file(&mut self, file: SourceMapFile) -> Option<SourceMap> {
        let SourceMapFile { name, bytes, is_named } = file;
        let map = match SourceMap::parse(&bytes) {
            Ok(map) => map,
            Err(error) => return self.refuse(&name, &error),
        };
        let of = map.file().map(file_name).filter(|of| !of.is_empty());
        if let Some(of) = of.filter(|of| !is_named && *of != file_name(self.name)) {
            return self.refuse(&name, &format!("it is that of {of}"));
        }
        if self.text().is_none() {
            let why =
                "the text of the script is not there whole, so nothing shows that it is its map";
            return self.refuse(&name, &why);
        }
        self.fitting(&name, map)
    }

    /// The map that the script holds itself.
    fn inline(&mut self, url: &str) -> Option<SourceMap> {
        const NAME: &str = "in its text";
        let Some(bytes) = data_url(url) else {
            return self.refuse(NAME, &"its URL is damaged, or was cut");
        };
        match SourceMap::parse(&bytes) {
            Ok(map) => self.fitting(NAME, map),
            Err(error) => self.refuse(NAME, &error),
        }
    }

    /// The map, unless the text of the script speaks against it.
    fn fitting(&mut self, name: &str, map: SourceMap) -> Option<SourceMap> {
        let Some(lines) = self.text() else { return Some(map) };
        let id = lines.debug_id();
        if let (Some(of), Some(own)) = (map.debug_id(), id)
            && !of.eq_ignore_ascii_case(&own)
        {
            return self.refuse(name, &format!("it is of build {of}, and the script of {own}"));
        }
        match map.misfit(GeneratedText { units: &lines.units, starts: &lines.starts }) {
            None => Some(map),
            Some(misfit) => self.refuse(name, &format!("it is of another build: {misfit}")),
        }
    }

    fn text(&mut self) -> Option<&Lines> {
        let (heap, script) = (self.heap, self.script);
        self.text.get_or_insert_with(|| Lines::whole(heap, script)).as_ref()
    }

    fn refuse(&mut self, name: &str, why: &dyn Display) -> Option<SourceMap> {
        let said = || format!("the source map {name} is not used: {why}").into();
        self.refused.get_or_insert_with(said);
        None
    }
}

/// The text of a script by lines.
struct Lines {
    units: Vec<u16>,
    /// Where they begin, the first one left out.
    starts: Vec<u32>,
}

impl Lines {
    /// That of a script, if all of it is there.
    fn whole(heap: &Heap<'_>, script: Script) -> Option<Self> {
        let source = script.source(heap)?;
        let length = heap.string_length(source).filter(|length| *length <= MAX_TEXT)?;
        let units = heap.units(source, 0, length)?;
        (units.len() as u64 == length).then_some(())?;
        let next = |at: usize| units.get(at.saturating_add(1)).copied();
        let ends = units.iter().enumerate().filter(|(at, unit)| is_line_end(**unit, next(*at)));
        let starts = ends.filter_map(|(at, _)| u32::try_from(at.checked_add(1)?).ok()).collect();
        Some(Self { units, starts })
    }

    /// What tells its build apart, where a comment at its end says so.
    fn debug_id(&self) -> Option<String> {
        let comments = usize::try_from(MAX_COMMENTS).ok()?;
        let from = self.units.len().saturating_sub(comments);
        let end = String::from_utf16_lossy(self.units.get(from..)?);
        let id = end.lines().rev().find_map(|line| line.trim().strip_prefix(DEBUG_ID))?;
        Some(id.trim().to_owned())
    }
}

impl Script {
    /// Where its map is, as its own text says: V8 keeps that, unless it took the code from a cache.
    fn map_url(self, heap: &Heap<'_>) -> Option<String> {
        let kept = self.source_mapping_url(heap).and_then(|url| heap.text(url, MAX_TEXT));
        kept.filter(|url| !url.is_empty()).or_else(|| {
            let source = self.source(heap)?;
            let from = heap.string_length(source)?.saturating_sub(MAX_COMMENTS);
            let units = heap.units(source, from, MAX_COMMENTS)?;
            last_url(&String::from_utf16_lossy(&units)).map(str::to_owned)
        })
    }
}

/// The folder of the map of a script, in which its sources begin: wherever its file was found, it was made for there.
fn folder(name: &str, url: Option<&str>) -> Option<String> {
    let (folder, _) = name.rsplit_once('/')?;
    let below = url.and_then(|url| url.rsplit_once('/')).map(|(below, _)| below);
    Some(match below {
        Some(below) if below.contains(':') || below.starts_with('/') => below.to_owned(),
        Some(below) => format!("{folder}/{below}"),
        None if folder.is_empty() => "/".to_owned(),
        None => folder.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_begin_where_the_map_was_made_for() {
        let of = |name, url| folder(name, url);
        assert_eq!(of("/app/dist/a.js", None).as_deref(), Some("/app/dist"));
        assert_eq!(of("/app/dist/a.js", Some("a.js.map")).as_deref(), Some("/app/dist"));
        assert_eq!(of("/app/dist/a.js", Some("maps/a.map")).as_deref(), Some("/app/dist/maps"));
        assert_eq!(of("/a.js", None).as_deref(), Some("/"));
        assert_eq!(of("file:///app/a.mjs", Some("a.mjs.map")).as_deref(), Some("file:///app"));
        assert_eq!(of("/a.js", Some("https://x.org/m/a.map")).as_deref(), Some("https://x.org/m"));
        assert_eq!(of("a.js", None), None);
    }
}
