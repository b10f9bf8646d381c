//! Functions of C that a program calls as subs (XS), by the globs that hold them: `gv.h`, `cv.h`.
//!
//! Modules of C have no names for them once they are stripped. What called one is Perl itself, and `caller` does not tell of
//! them.

use std::sync::Arc;

use kcore_mem::Addr;
use kcore_unwind::Frame;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Perl,
    interpreter::Interpreter,
    memory::{CODE, GLOB, HASH, Memory},
    plumbing::is_machine,
    value::Entries,
};
use crate::{FrameKind, Host, LanguageFrame, Native, Span, extents::Extents};

/// What calls subs. Since 5.38 it is not exported.
const CALLS: &str = "Perl_pp_entersub";
/// What is said of a function of C.
pub const TIER: &str = "XS";
/// `gp_cv` and `gp_hv` of `GP`, and `xcv_root_u` of `XPVCV`.
const GLOB_CODE: u64 = 16;
const GLOB_HASH: u64 = 32;
const FUNCTION: u64 = 48;
/// What the names of packages end with in those around them.
const PACKAGE: &str = "::";
/// Packages and symbols that are looked at, at most.
const MAX_PACKAGES: usize = 1 << 16;
const MAX_SYMBOLS: usize = 1 << 20;

/// Functions of C by where they begin.
pub type Functions = FxHashMap<Addr, Arc<str>>;

impl Memory<'_> {
    /// The functions of C that the symbols of all packages hold.
    fn functions(&self, interpreter: &Interpreter) -> Functions {
        let mut functions = Functions::default();
        let main = interpreter.symbols.and_then(|at| self.pointer(at, 0));
        let mut packages: Vec<Addr> = main.into_iter().collect();
        let mut known: FxHashSet<Addr> = packages.iter().copied().collect();
        let mut left = MAX_SYMBOLS;
        while let Some(package) = packages.pop() {
            for (name, glob) in Entries::of(self, package).into_iter().flatten().take(left) {
                left = left.saturating_sub(1);
                let held = self.of_kind(glob, GLOB).and_then(|glob| self.held(glob));
                let Some(held) = held else { continue };
                if name.ends_with(PACKAGE) {
                    let inner = self.pointer(held, GLOB_HASH);
                    let inner = inner.and_then(|inner| self.of_kind(inner, HASH));
                    let is_new = |inner: &Addr| known.len() < MAX_PACKAGES && known.insert(*inner);
                    packages.extend(inner.filter(is_new));
                } else if let Some((at, name)) = self.c_function(held) {
                    functions.entry(at).or_insert(name);
                }
            }
        }
        functions
    }

    fn c_function(&self, held: Addr) -> Option<(Addr, Arc<str>)> {
        let code = self.of_kind(self.pointer(held, GLOB_CODE)?, CODE)?;
        self.is_c_code(code)?.then_some(())?;
        let at = self.word(self.body(code)?, FUNCTION).filter(|at| *at > 0)?;
        Some((Addr::new(at), self.code_name(code)?.into()))
    }
}

impl Perl {
    /// Frames for native ones without names that Perl called as subs.
    pub(super) fn functions_of_c(
        &self,
        host: &dyn Host,
        interpreter: &Interpreter,
        frames: &[Frame],
    ) -> Vec<Span> {
        let name = |frame: &Frame| {
            let is_own = self.is_own_code(frame.pc.lookup());
            (is_own, host.function_at(frame.pc))
        };
        let is_call = |caller: &Frame, machine: &Frame| match name(caller) {
            (true, Some(name)) => &*name == CALLS,
            (true, None) => name(machine).1.is_some_and(|name| is_machine(&name)),
            (false, _) => false,
        };
        let triples = frames.iter().zip(frames.iter().skip(1)).zip(frames.iter().skip(2));
        let nameless = triples.enumerate().filter(|(_, ((frame, caller), machine))| {
            name(frame) == (false, None) && is_call(caller, machine)
        });
        let span = |(place, ((frame, _), _)): (usize, ((&Frame, &Frame), &Frame))| {
            let module = host.module_at(frame.pc.lookup())?;
            let start = Extents::of(module)?.around(module, frame.pc.lookup())?.start;
            let functions = self.functions.get_or_init(|| self.memory(host).functions(interpreter));
            let language = LanguageFrame {
                kind: FrameKind::Perl,
                function: Some(functions.get(&start)?.clone()),
                language: Some("perl"),
                tier: Some(TIER),
                ..LanguageFrame::default()
            };
            let caller = place.saturating_add(1);
            let function =
                Span { frames: place..caller, native: Native::Kept, language: vec![language] };
            Some([function, Span::replacing(caller, Vec::new())])
        };
        nameless.filter_map(span).flatten().collect()
    }
}
