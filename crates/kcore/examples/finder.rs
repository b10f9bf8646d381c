//! Looks for files in a store of the program's own too, and says where each was looked for:
//! `cargo run -p kcore --example finder -- CORE STORE`.

use std::{
    env,
    error::Error,
    path::{Path, PathBuf},
};

use kcore::{Core, FilePlace, Module, OpenOptions, WantedFile};

/// A folder that holds files by their bare names. It only names them: kcore checks that they are the right ones.
#[derive(Debug)]
struct Store(PathBuf);

impl FilePlace for Store {
    fn name(&self) -> &'static str {
        "store"
    }

    fn candidates(&self, wanted: &WantedFile<'_>) -> Vec<PathBuf> {
        let name = wanted.path.and_then(Path::file_name);
        name.map(|name| self.0.join(name)).into_iter().collect()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args_os().skip(1);
    let (core, store) = args.next().zip(args.next()).ok_or("usage: finder CORE STORE")?;
    let options = OpenOptions::of_core(core).with_place(Store(store.into()));
    Core::open(&options)?.modules().all().iter().for_each(show);
    Ok(())
}

fn show(module: &Module) {
    match module.file_path() {
        Some(path) => println!("{}: {}", module.name(), path.display()),
        None => println!("{}: no file", module.name()),
    }
    for tried in module.tried() {
        println!("  {} ({}): {}", tried.path.display(), tried.place.as_str(), tried.why);
    }
}
