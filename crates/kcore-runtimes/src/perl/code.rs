//! Code of Perl: what it is called (`cv_name` of `pad.c`), and its variables (`pad.h`).

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    memory::{ARRAY, CODE, FORMAT, GLOB as GLOB_KIND, Memory, pointer, text_of},
    value::Entries,
};

/// `xcv_stash`, `xcv_gv_u`, `xcv_padlist_u`, `xcv_outside` and `xcv_flags` of `XPVCV`.
const STASH: u64 = 32;
const GLOB: u64 = 56;
const PADS: u64 = 72;
const OUTSIDE: u64 = 80;
const FLAGS: u64 = 92;
/// `CVf_ISXSUB`, `CVf_NAMED` and `CVf_LEXICAL`.
const IS_C: u64 = 0x8;
const IS_NAMED: u64 = 0x8000;
const IS_LEXICAL: u64 = 0x1_0000;
/// The package of what has none any more.
const GONE: &str = "__ANON__";
/// `xpadl_max` and `xpadl_arr` of `PADLIST`, `xpadnl_fill` and `xpadnl_alloc` of `PADNAMELIST`.
const LAST: u64 = 0;
const PAD_ARRAY: u64 = 8;
/// `xpadn_pv` of `PADNAME`, `xpadn_high`, `xpadn_len` and `xpadn_flags` behind `xpadn_low`, and `PADNAMEf_OUTER`.
const NAME: u64 = 0;
const HIGH: u64 = 4;
const NAME_LENGTH: u64 = 16;
const NAME_FLAGS: u64 = 17;
const IS_OUTER: u64 = 1;
/// `xpadn_ourstash`: of `our`, which is a name for a global variable.
const OUR: u64 = 8;
/// `PERL_PADSEQ_INTRO`: as an end, of what is being compiled.
const INTRODUCED: u64 = 0xffff_ffff;
/// `xav_alloc` of `XPVAV`.
const ALLOCATED: u64 = 32;
/// Variables of code, at most.
const MAX_VARIABLES: u64 = 1 << 16;

/// A variable of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name, with what tells its kind: `@list`.
    pub name: Arc<str>,
    /// Its value.
    pub value: Addr,
}

impl Memory<'_> {
    /// What code is called, as `caller` says it.
    pub fn code_name(&self, code: Addr) -> Option<String> {
        matches!(self.kind(code)?, CODE | FORMAT).then_some(())?;
        let body = self.body(code)?;
        let flags = self.uint(body, FLAGS, 4)?;
        let of_package = |package: Option<String>, name: String| {
            format!("{}::{name}", package.as_deref().unwrap_or(GONE))
        };
        let named = self.pointer(body, GLOB)?;
        if flags & IS_NAMED != 0 {
            let name = self.key(named)?;
            let package = self.pointer(body, STASH).and_then(|stash| self.package(stash));
            return Some(if flags & IS_LEXICAL != 0 { name } else { of_package(package, name) });
        }
        let (package, name) = self.glob_name(named)?;
        Some(of_package(package, name))
    }

    /// Whether code is a function of C.
    pub fn is_c_code(&self, code: Addr) -> Option<bool> {
        Some(self.uint(self.body(code)?, FLAGS, 4)? & IS_C != 0)
    }

    /// The statement that code begins with; operations of statements have the type `kind`.
    pub fn first_statement(&self, code: Addr, kind: u64) -> Option<Addr> {
        /// `xcv_start_u`.
        const START: u64 = 40;
        /// Operations that may come before it.
        const MAX_BEFORE: usize = 8;
        (!self.is_c_code(code)?).then_some(())?;
        let mut at = self.pointer(self.body(code)?, START)?;
        for _ in 0..MAX_BEFORE {
            if self.operation_kind(at)? == kind {
                return Some(at);
            }
            at = self.pointer(at, 0)?;
        }
        None
    }

    /// The pads of code, and how many there are behind their names.
    fn pads(&self, code: Addr) -> Option<(Addr, u64)> {
        let pads =
            self.pointer(self.body(code)?, PADS).filter(|_| self.is_c_code(code) == Some(false))?;
        let last = self.word(pads, LAST).filter(|last| *last < MAX_VARIABLES)?;
        Some((self.pointer(pads, PAD_ARRAY)?, last))
    }

    /// The variables of one recursion of code: an array of which the first is `@_`.
    fn pad(&self, code: Addr, depth: u64) -> Option<(Addr, u64)> {
        let (pads, last) = self.pads(code)?;
        (depth <= last).then_some(())?;
        let pad = self.pointer(pads, depth.checked_mul(8)?)?;
        self.elements(self.of_kind(pad, ARRAY)?)
    }

    /// The pads of code, as many as its recursion went deep.
    pub fn pads_of(&self, code: Addr) -> Vec<Addr> {
        let Some((pads, last)) = self.pads(code) else { return Vec::new() };
        let pad = |depth: u64| self.pointer(pads, depth.checked_mul(8)?);
        (1..=last).map_while(pad).collect()
    }

    /// The names of the variables of code, by the places that pads have for them.
    pub fn slot_names(&self, code: Addr) -> Vec<Option<String>> {
        let Some((names, known)) = self.names(code) else { return Vec::new() };
        let name = |index: u64| self.name(self.pointer(names, index.checked_mul(8)?)?);
        (0..known).map(name).collect()
    }

    /// The names of variables of code, and how many there are.
    fn names(&self, code: Addr) -> Option<(Addr, u64)> {
        let (pads, _) = self.pads(code)?;
        let names = self.pointer(pads, 0)?;
        let fill = self.word(names, 0)?.cast_signed();
        let known = u64::try_from(fill.checked_add(1)?).ok()?.min(MAX_VARIABLES);
        Some((self.pointer(names, PAD_ARRAY)?, known))
    }

    /// `@_` of a call.
    pub fn arguments(&self, code: Addr, depth: u64) -> Option<Addr> {
        let (first, count) = self.pad(code, depth)?;
        let arguments = self.pointer(first, 0).filter(|_| count > 0)?;
        self.of_kind(arguments, ARRAY)
    }

    /// What was passed first in `@_`, also if that was shifted since: for who knows that it is kept elsewhere.
    pub fn first_passed(&self, arguments: Addr) -> Option<Addr> {
        if self.shifted(arguments).is_some_and(|shifted| shifted > 0) {
            return self.pointer(self.pointer(self.body(arguments)?, ALLOCATED)?, 0);
        }
        let (first, count) = self.elements(arguments)?;
        self.pointer(first, 0).filter(|_| count > 0)
    }

    /// How many elements were shifted from `@_`, which stand before the others: they are not counted as references, and may
    /// be gone. `None` where nothing tells: what was pushed makes it an array as others are.
    pub fn shifted(&self, arguments: Addr) -> Option<u64> {
        /// `SVpav_REAL`.
        const IS_COUNTED: u64 = 0x4000_0000;
        (self.flags(arguments)? & IS_COUNTED == 0).then_some(())?;
        let first = self.pointer(self.body(arguments)?, ALLOCATED)?;
        self.held(arguments)?.offset_from(first)?.checked_div(8)
    }

    /// The variables of code that are seen in a statement, by its number: those of its own, then those that it uses of code
    /// around it.
    pub fn variables(&self, code: Addr, depth: u64, sequence: u64) -> Option<Vec<Variable>> {
        let (values, count) = self.pad(code, depth)?;
        let (names, known) = self.names(code)?;
        let known = known.min(count);
        let variable = |index: u64, outer: bool| {
            let entry = self.pointer(names, index.checked_mul(8)?)?;
            let name = self.seen(entry, sequence, outer)?;
            let value = match self.pointer(entry, OUR) {
                Some(package) => self.global(package, &name)?,
                None => pointer(self.word(values, index.checked_mul(8)?)?)?,
            };
            Some(Variable { name: name.into(), value })
        };
        let own = (1..known).filter_map(|index| variable(index, false));
        let mut all: Vec<Variable> = Vec::new();
        // Of several of one name the last is seen.
        for variable in own {
            all.retain(|other| other.name != variable.name);
            all.push(variable);
        }
        for variable in (1..known).filter_map(|index| variable(index, true)) {
            if all.iter().all(|other| other.name != variable.name) {
                all.push(variable);
            }
        }
        Some(all)
    }

    /// The name of a variable, if it is seen in a statement.
    fn seen(&self, name: Addr, sequence: u64, outer: bool) -> Option<String> {
        let low = name.checked_add(self.layout.pad_name_low)?;
        let is_outer = self.uint(low, NAME_FLAGS, 1)? & IS_OUTER != 0;
        (is_outer == outer).then_some(())?;
        let (from, to) = (self.uint(low, 0, 4)?, self.uint(low, HIGH, 4)?);
        let is_seen = outer || (from < sequence && (sequence <= to || to == INTRODUCED));
        is_seen.then(|| self.name(name))?
    }

    /// The name that an entry has, if it is one of a variable.
    fn name(&self, name: Addr) -> Option<String> {
        let low = name.checked_add(self.layout.pad_name_low)?;
        let length = self.uint(low, NAME_LENGTH, 1)?;
        let text = self.word(name, NAME).filter(|at| *at >= 0x1000).map(Addr::new)?;
        let held = self.space.read_held(text, length);
        let name = text_of(&held, true);
        // A sub or a name of the compiler's own is no variable.
        let is_variable = name.starts_with(['$', '@', '%']) && name.len() > 1;
        (is_variable && held.len() as u64 == length).then_some(name)
    }

    /// The variable of a package that `our` names, if it was ever used: its name has the sign of its kind.
    fn global(&self, package: Addr, name: &str) -> Option<Addr> {
        /// `gp_sv`, `gp_av` and `gp_hv`.
        const SCALAR: u64 = 0;
        const ARRAY: u64 = 40;
        const HASH: u64 = 32;
        let (part, plain) = match name.split_at_checked(1)? {
            ("$", plain) => (SCALAR, plain),
            ("@", plain) => (ARRAY, plain),
            ("%", plain) => (HASH, plain),
            _ => return None,
        };
        let glob = Entries::of(self, package)?.named(plain)?;
        self.pointer(self.held(self.of_kind(glob, GLOB_KIND)?)?, part)
    }

    /// The code around code.
    pub fn outside(&self, code: Addr) -> Option<Addr> {
        let outside = self.pointer(self.body(code)?, OUTSIDE)?;
        self.of_kind(outside, CODE)
    }
}
