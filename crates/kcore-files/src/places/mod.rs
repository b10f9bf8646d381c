//! The places where the file of a module may lie: a file for each, which names paths and opens none.

mod build_id;
mod core_dir;
mod given;
mod layers;
mod path_map;
mod process;
mod process_root;
mod recorded;
mod sysroot;

use std::path::PathBuf;

use crate::{Finder, SearchedPlace, WantedModule};

/// What a place may have: paths on this machine, the likeliest first.
type Candidates = fn(&Finder, &WantedModule<'_>) -> Vec<PathBuf>;

/// Who names the paths of a place; `None` of places that are for debug files alone.
const fn of(place: SearchedPlace) -> Option<Candidates> {
    Some(match place {
        SearchedPlace::Given => given::candidates,
        SearchedPlace::Process => process::candidates,
        SearchedPlace::PathMap => path_map::candidates,
        SearchedPlace::Sysroot => sysroot::candidates,
        SearchedPlace::Layer => layers::candidates,
        SearchedPlace::CoreDir => core_dir::candidates,
        SearchedPlace::Recorded => recorded::candidates,
        SearchedPlace::ProcessRoot => process_root::candidates,
        SearchedPlace::BuildIdDir => build_id::candidates,
        SearchedPlace::DebugLink
        | SearchedPlace::Breakpad
        | SearchedPlace::Within
        | SearchedPlace::Added(_) => return None,
    })
}

/// The paths at which a place may have the file of a module.
pub fn candidates(
    finder: &Finder,
    place: SearchedPlace,
    wanted: &WantedModule<'_>,
) -> Vec<PathBuf> {
    of(place).map(|candidates| candidates(finder, wanted)).unwrap_or_default()
}
