//! Where libgcc's objects may hang: the words of its data that are addresses.

use kcore_mem::{Addr, AddressSpace};

use crate::HostModule;

/// The name of the library, up to its version.
const LIBRARY: &str = "libgcc_s.so";
/// The variables, where libgcc is a part of the program and its symbols are there: the lists to gcc 12, the tree from
/// gcc 13 on, and that of what was registered, since gcc 14.
const VARIABLES: [&str; 4] =
    ["unseen_objects", "seen_objects", "registered_frames", "registered_objects"];
/// Bytes of data that are looked through, at most: the library has less than a page.
const MAX_DATA: u64 = 1 << 14;

/// What the words hold that may lead to objects.
pub fn of(
    modules: &[&dyn HostModule],
    exe: Option<&dyn HostModule>,
    space: &dyn AddressSpace,
) -> Vec<Addr> {
    let libraries = modules.iter().filter(|module| module.name().starts_with(LIBRARY));
    let mut roots: Vec<Addr> = libraries.flat_map(|library| of_data(*library, space)).collect();
    roots.extend(exe.into_iter().flat_map(|exe| of_variables(exe, space)));
    roots.sort_unstable();
    roots.dedup();
    roots
}

/// All aligned words of the data of a library.
fn of_data(library: &dyn HostModule, space: &dyn AddressSpace) -> Vec<Addr> {
    let word = u64::from(space.target().word);
    let words = library.data().into_iter().flat_map(|data| {
        let len = data.len().min(MAX_DATA);
        (0..len.checked_div(word).unwrap_or_default()).filter_map(move |index| {
            let at = data.start.checked_add(index.checked_mul(word)?)?;
            space.read_addr(at).ok()
        })
    });
    words.filter(|at| at.get() != 0).collect()
}

/// What the variables of a program hold.
fn of_variables(exe: &dyn HostModule, space: &dyn AddressSpace) -> Vec<Addr> {
    let table = exe.symbols().table();
    let found = VARIABLES.iter().filter_map(|name| table.lookup(name));
    let places = found.filter_map(|symbol| exe.addr(symbol.value()));
    places.filter_map(|at| space.read_addr(at).ok()).filter(|at| at.get() != 0).collect()
}
