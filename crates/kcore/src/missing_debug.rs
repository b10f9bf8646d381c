//! Files with debug information that belong to modules and were not found: `.dwo` of single units, and what `dwz`
//! moved out of several modules. Without a word their variables would look as if there were none.

use std::path::Path;

use kcore_elf::BuildId;
use kcore_files::{SearchResult, SearchedPlace, Tried, Why};
use kcore_mem::Addr;
use kcore_symbols::SplitName;

use crate::{Core, FileView, Module, doubts::named};

/// Places that one missing file names, at most.
const MAX_PLACES: usize = 4;

/// A file with debug information that was needed, and not found.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MissingDebug {
    /// The module whose code, variables or types it describes.
    pub module: String,
    /// Its name.
    pub file: String,
    /// Where the module begins in the process.
    at: Addr,
    /// The unit that it would hold; `None` of a file that several modules share.
    unit: Option<SplitName>,
}

impl MissingDebug {
    /// Where its module begins.
    pub(crate) const fn at(&self) -> Addr {
        self.at
    }

    /// Whether it holds single units.
    pub(crate) const fn is_split(&self) -> bool {
        self.unit.is_some()
    }

    /// The build-id by which a file that several modules share is asked for.
    pub(crate) fn build_id(&self, module: &Module) -> Option<BuildId> {
        if self.is_split() { None } else { module.supplementary_id() }
    }
}

impl FileView<'_> {
    /// The files that were needed for what was asked so far. Nothing is looked for.
    pub fn missing_debug(self) -> Vec<MissingDebug> {
        self.core.modules().all().iter().flat_map(Module::missing_debug).collect()
    }

    /// How often one of them was needed.
    pub fn times_debug_missed(self) -> u64 {
        let modules = self.core.modules().all().iter();
        modules.fold(0, |all, module| all.saturating_add(module.times_debug_missed()))
    }

    /// The file that describes the functions and variables of the code at an address, if it was not found.
    pub fn missing_debug_at(self, at: Addr) -> Option<MissingDebug> {
        let module = self.core.modules().at(at)?;
        let name = module.known_symbols()?.lines().missing_split(module.svma(at)?)?;
        Some(module.missing_split(name))
    }

    /// What was found in the place of a file that is missing, or where it was looked for. That is looked at again.
    pub fn why_debug_is_missing(self, missing: &MissingDebug) -> String {
        let why = self.core.modules().at(missing.at).map(|module| match &missing.unit {
            Some(unit) => module.why_no_split(unit),
            None => module.why_no_supplementary(),
        });
        why.unwrap_or_default()
    }
}

impl Core {
    /// The same for the doubts of the process, a line for each module.
    pub(crate) fn doubts_of_debug(&self) -> Vec<String> {
        let all = self.modules().all().iter().map(|module| (module, module.missing_debug()));
        all.filter_map(|(module, missing)| {
            let files: Vec<&str> = missing.iter().map(|it| it.file.as_str()).collect();
            let first = missing.first()?;
            Some(format!(
                "debug information of {} is missing: {} ({})",
                module.name(),
                named(&files),
                self.files().why_debug_is_missing(first)
            ))
        })
        .collect()
    }
}

impl Module {
    fn missing_debug(&self) -> Vec<MissingDebug> {
        let info = self.known_symbols().and_then(|symbols| symbols.lines().opened_debug_info());
        let splits = info.map(|info| info.missing_files()).unwrap_or_default();
        let splits = splits.into_iter().map(|name| self.missing_split(name));
        self.missing_supplementary().into_iter().chain(splits).collect()
    }

    fn times_debug_missed(&self) -> u64 {
        let info = self.known_symbols().and_then(|symbols| symbols.lines().opened_debug_info());
        let split = info.map_or(0, |info| info.times_missed());
        split.saturating_add(u64::from(self.missing_supplementary().is_some()))
    }

    fn missing_split(&self, unit: SplitName) -> MissingDebug {
        let (module, at) = (self.name().to_owned(), self.span().start);
        MissingDebug { module, file: unit.path.clone(), at, unit: Some(unit) }
    }

    fn why_no_split(&self, unit: &SplitName) -> String {
        let directory = unit.directory.as_deref().map(Path::new);
        let path = self.file_path().unwrap_or(Path::new(""));
        let found = self.finder().find_split(path, Path::new(&unit.path), directory);
        let package = self.finder().find_package(path);
        match (&found.file, &package.file) {
            (Some(file), _) => format!("{} is of another build", file.path.display()),
            (None, Some(file)) => format!("{} does not have it", file.path.display()),
            (None, None) => looked_at(found.tried.iter().chain(&package.tried)),
        }
    }

    /// The file that `dwz` shared between several modules, if one is named and was not found.
    fn missing_supplementary(&self) -> Option<MissingDebug> {
        let named =
            self.tried_supplementary().iter().find(|it| it.place == SearchedPlace::DebugLink)?;
        let file = named.path.file_name()?.to_string_lossy().into_owned();
        let (module, at) = (self.name().to_owned(), self.span().start);
        Some(MissingDebug { module, file, at, unit: None })
    }

    fn why_no_supplementary(&self) -> String {
        looked_at(self.tried_supplementary().iter())
    }

    /// Where it was looked for in vain.
    fn tried_supplementary(&self) -> &[Tried] {
        match self.files_found() {
            [_, _, Some(SearchResult { file: None, tried })] => tried,
            _ => &[],
        }
    }
}

/// The places that were tried, with the reason where it is another than that nothing is there.
fn looked_at<'a>(tried: impl Iterator<Item = &'a Tried>) -> String {
    let mut places: Vec<String> = Vec::new();
    let mut more = 0_usize;
    for tried in tried {
        let path = tried.path.display();
        match &tried.why {
            _ if places.len() == MAX_PLACES => more = more.saturating_add(1),
            Why::NotFound => places.push(path.to_string()),
            why => places.push(format!("{path}: {why}")),
        }
    }
    let more = if more > 0 { format!("; {more} more") } else { String::new() };
    format!("not found at {}{more}", places.join("; "))
}
