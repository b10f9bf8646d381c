//! How MRI is found: `version.c`, `vm.c`, `symbol.c`, `shape.c`.

use kcore_mem::{Addr, AddrRange, Arch};

use super::{
    Ruby,
    heap::{ARRAY, Heap, pointer},
    layout::{Layout, VariableKind},
    version::Version,
};
use crate::{Damage, Finding, FrameKind, Host, HostModule, Identity, Probe, StandIn};

/// Looks for MRI.
pub const PROBE: Probe = Probe { name: NAME, find };

/// What it is called.
pub const NAME: &str = "ruby";

/// MRI alone has more code.
const MIN_CODE: u64 = 512 << 10;
/// What MRI exports: its version, and to 3.2 a pointer to its VM.
const VERSION: &str = "ruby_version";
const VM: &str = "ruby_current_vm_ptr";
/// Bytes below a thread pointer that hold variables of the thread.
const THREAD_LOCALS: u64 = 8 << 10;
/// The pointer to the context of a thread, where it is exported: to 2.7 no variable of a thread.
const CONTEXT: &str = "ruby_current_execution_context_ptr";
/// Identifiers of a process, at least and at most.
const MIN_NAMES: u64 = 500;
const MAX_NAMES: u64 = 50_000_000;
/// Identifiers in a page of names.
const UNIT: u64 = 512;
/// Names that are looked up to believe a table of them.
const TRIED: u64 = 16;
/// Shapes that every process has.
const MIN_SHAPES: u64 = 8;
/// Bytes of writable data of a module that are searched.
const MAX_DATA: u64 = 16 << 20;

fn find(host: &dyn Host) -> Vec<Finding> {
    let large = host.modules().into_iter().filter(|module| module.code_size() >= MIN_CODE);
    large.filter_map(|module| find_in(host, module)).collect()
}

fn find_in(host: &dyn Host, module: &dyn HostModule) -> Option<Finding> {
    let symbol = module.exported(VERSION).and_then(|(svma, _)| module.addr(svma));
    let told = symbol.and_then(|at| host.space().read_cstr(at, 32).ok());
    let told = told.and_then(|text| String::from_utf8(text).ok());
    let text = match told.or_else(|| version_of_name(module.name())) {
        Some(text) => text,
        None => {
            return symbol.map(|_| damaged(module, None, "it does not say which version it is"));
        }
    };
    let version = Version::parse(&text)?;
    let damaged = |why: &str| Some(damaged(module, Some(&text), why));
    if host.space().target().arch != Arch::X86_64 {
        return damaged("its layouts are known on x86-64 only");
    }
    let Some(layout) = Layout::of(version) else {
        return damaged("its layouts are not known (those of 2.7 to 3.4 are)");
    };
    let heap = Heap { space: host.space(), layout, names: None, shapes: None };
    let vm = by_symbol(&heap, module).or_else(|| by_threads(host, &heap));
    let Some(vm) = vm.or_else(|| by_data(&heap, module)) else {
        return damaged("its VM is not found, or was not dumped");
    };
    let metadata = match layout.is_of_headers() {
        true => "table of its version, made from headers and tried on no process",
        false => "table of its version",
    };
    let ruby = Ruby::new(Identity::new(NAME, module.name()), layout, module.span(), vm);
    let identity =
        Identity { version: Some(text.into()), metadata: metadata.into(), ..ruby.identity.clone() };
    let names = names(&heap, module);
    let shapes = shapes(&Heap { names, ..heap }, module);
    let ruby = Ruby { identity, names, shapes, ..ruby };
    Some(Finding::Found(Box::new(ruby.with_gaps())))
}

/// The version that the name of a library has: `libruby-3.3.so.3.3.8`.
fn version_of_name(name: &str) -> Option<String> {
    let rest = name.strip_prefix("libruby").map(|rest| rest.trim_start_matches(['-', '.']))?;
    let is_version = |version: &&str| Version::parse(version).is_some();
    let exact = rest.split_once("so.").map(|(_, version)| version).filter(is_version);
    let short = || rest.split(".so").next().filter(is_version);
    exact.or_else(short).map(str::to_owned)
}

fn damaged(module: &dyn HostModule, version: Option<&str>, why: &str) -> Finding {
    let stand_in = StandIn { module: module.span(), function: "rb_vm_exec", kind: FrameKind::Ruby };
    let version = version.map(Into::into);
    Finding::Damaged(Damage { name: NAME, version, why: why.into(), stand_in: Some(stand_in) })
}

fn by_symbol(heap: &Heap<'_>, module: &dyn HostModule) -> Option<Addr> {
    let pointed = |name| heap.pointer(module.addr(module.exported(name)?.0)?, 0);
    let by_context = || heap.vm_of_context(pointed(CONTEXT)?);
    pointed(VM).filter(|vm| heap.is_vm(*vm)).or_else(by_context)
}

/// Finds the VM through the execution context that every thread keeps in its thread-local storage.
fn by_threads(host: &dyn Host, heap: &Heap<'_>) -> Option<Addr> {
    host.threads().into_iter().find_map(|tid| {
        let pointer = host.thread_pointer(tid)?;
        let first = Addr::new(pointer.get().saturating_sub(THREAD_LOCALS));
        let words = data_words(host, AddrRange::new(first, pointer));
        words.into_iter().rev().find_map(|(_, word)| heap.vm_of_context(self::pointer(word)?))
    })
}

/// Finds the VM through a variable of MRI's own, which no symbol names: for who sees a process without its threads. It lies
/// among those that begin as zero, which come last.
fn by_data(heap: &Heap<'_>, module: &dyn HostModule) -> Option<Addr> {
    let vm_at = |at: Addr| heap.pointer(at, 0).filter(|vm| heap.is_vm(*vm));
    module.data().into_iter().rev().find_map(|range| {
        let end = range.len().checked_div(8)?;
        let first = end.saturating_sub(MAX_DATA.checked_div(8)?);
        (first..end).rev().find_map(|index| vm_at(range.start.checked_add(index.checked_mul(8)?)?))
    })
}

/// The array of pages of names in `ruby_global_symbols`: a count, a table, and the array.
fn names(heap: &Heap<'_>, module: &dyn HostModule) -> Option<Addr> {
    let is_it = |at: Addr| {
        let count = heap.word(at, 0).filter(|count| (MIN_NAMES..MAX_NAMES).contains(count))?;
        heap.pointer(at, 8)?;
        let pages = heap.field(at, 16, ARRAY)?;
        let (_, length) = heap.elements(pages)?;
        (count.checked_div(UNIT)? < length
            && length <= count.checked_div(UNIT)?.checked_add(UNIT)?)
        .then_some(())?;
        let named = (1..=TRIED).filter(|back| {
            let serial = count.saturating_sub(*back);
            heap.name_of_serial(pages.at, serial).is_some_and(|name| !name.is_empty())
        });
        (named.count() as u64 >= TRIED.saturating_sub(2)).then_some(pages.at)
    };
    search(module, 3, is_it)
}

/// The nodes of the tree of shapes: in 3.2 the VM points to them, later a structure that a variable points to. Its first
/// words are the list and its root, which are the same.
fn shapes(heap: &Heap<'_>, module: &dyn HostModule) -> Option<Addr> {
    let VariableKind::Shapes(_) = heap.layout.variables else { return None };
    let is_tree = |tree: Addr| {
        let list = heap.pointer(tree, 0).filter(|list| heap.pointer(tree, 8) == Some(*list))?;
        let count = heap.uint(tree, 16, 4)?;
        (count >= MIN_SHAPES && heap.is_shape_list(list)).then_some(list)
    };
    search(module, 1, |at| is_tree(heap.pointer(at, 0)?))
}

/// The first answer that words of the module's data give.
fn search(
    module: &dyn HostModule,
    words: u64,
    is_it: impl Fn(Addr) -> Option<Addr>,
) -> Option<Addr> {
    module.data().into_iter().find_map(|range| {
        let count = range.len().min(MAX_DATA).checked_div(8)?.checked_sub(words)?;
        (0..=count).find_map(|index| is_it(range.start.checked_add(index.checked_mul(8)?)?))
    })
}

fn data_words(host: &dyn Host, range: AddrRange) -> Vec<(Addr, u64)> {
    let words = (0..range.len().checked_div(8).unwrap_or_default()).filter_map(|index| {
        let at = range.start.checked_add(index.checked_mul(8)?)?;
        Some((at, host.space().read_word(at).ok()?))
    });
    words.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_say_their_version() {
        assert_eq!(version_of_name("libruby-3.3.so.3.3.8").as_deref(), Some("3.3.8"));
        assert_eq!(version_of_name("libruby-2.7.so.2.7").as_deref(), Some("2.7"));
        assert_eq!(version_of_name("libruby.so.3.4").as_deref(), Some("3.4"));
        assert_eq!(version_of_name("libruby-3.1.so").as_deref(), Some("3.1"));
        assert_eq!((version_of_name("libruby.so"), version_of_name("libc.so.6")), (None, None));
    }
}
