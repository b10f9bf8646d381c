//! Interpreters, and where they are found: `intrpvar.h`, `perlvars.h`, `perl.h` (`PERL_GET_CONTEXT`).
//!
//! Where Perl was built for threads, a process may have several interpreters, and a thread knows its own by a variable of the
//! thread or by `pthread_getspecific`. Otherwise there is one, whose parts are variables of the program.

use kcore_mem::{Addr, Svma};
use kcore_unwind::{Frame, RegisterId, Tid};

use super::memory::{Memory, pointer};
use crate::{Host, HostModule};

/// `si_stack`, `si_cxstack`, `si_cxix` and `si_cxmax` of `PERL_SI`.
const SI_STACK: u64 = 0;
const SI_CONTEXTS: u64 = 8;
const SI_INDEX: u64 = 32;
const SI_MOST: u64 = 36;
/// `specific_1stblock` of glibc's `struct pthread` on machines of 64 bits (`nptl/descr.h`, 2.19 to 2.42), bytes of each
/// entry, where that has its value, and how many there are.
const SPECIFIC: u64 = 0x310;
const SPECIFIC_SIZE: u64 = 16;
const SPECIFIC_VALUE: u64 = 8;
const SPECIFIC_COUNT: u64 = 32;
/// `Iop` of `interpreter`, in all versions.
const OPERATION: u64 = 8;
/// Registers of a machine, at most.
const MAX_REGISTERS: u16 = 64;
/// Bytes of a stack that are searched, at most.
const MAX_STACK: u64 = 1 << 20;

/// Where the parts of an interpreter lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interpreter {
    /// `PL_op`.
    pub operation: Option<Addr>,
    /// `PL_curcop`.
    pub position: Addr,
    /// `PL_curstack`.
    pub stack: Addr,
    /// `PL_curstackinfo`.
    pub stack_info: Addr,
    /// `PL_defstash`.
    pub symbols: Option<Addr>,
    /// `PL_sv_arenaroot`.
    pub arenas: Option<Addr>,
    /// `PL_main_cv`.
    pub main: Option<Addr>,
}

/// How interpreters are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// There is one.
    Only(Interpreter),
    /// Each thread has one.
    PerThread {
        /// `PL_current_context`, a variable of the thread since 5.36.
        variable: Option<Svma>,
        /// What `PL_thr_key` holds.
        key: Option<u64>,
        /// `PL_curinterp`: a variable of the program that has the first one.
        first: Option<Addr>,
    },
}

impl Interpreter {
    /// That at an address, in a process that may have several.
    fn at(memory: &Memory<'_>, at: Addr) -> Option<Self> {
        let layout = &memory.layout.interpreter;
        let interpreter = Self {
            operation: at.checked_add(OPERATION),
            position: at.checked_add(layout.position)?,
            stack: at.checked_add(layout.stack)?,
            stack_info: at.checked_add(layout.stack_info)?,
            symbols: at.checked_add(layout.symbols),
            arenas: at.checked_add(layout.arenas),
            main: layout.main.and_then(|main| at.checked_add(main)),
        };
        interpreter.is_sound(memory).then_some(interpreter)
    }

    /// Whether its stack of values is that of its innermost stack of contexts: nothing else looks so.
    pub fn is_sound(&self, memory: &Memory<'_>) -> bool {
        let check = || {
            let info = memory.pointer(self.stack_info, 0)?;
            let (index, most) = (memory.int(info, SI_INDEX)?, memory.int(info, SI_MOST)?);
            let is_sound = memory.pointer(info, SI_STACK)? == memory.pointer(self.stack, 0)?
                && memory.pointer(info, SI_CONTEXTS).is_some()
                && (-1..=most).contains(&index);
            is_sound.then_some(())
        };
        check().is_some()
    }
}

impl Storage {
    /// Whether each thread has its own.
    pub const fn is_per_thread(&self) -> bool {
        matches!(self, Self::PerThread { .. })
    }

    /// The first interpreter of the process, for who sees that without its threads.
    pub fn first(&self, memory: &Memory<'_>) -> Option<Interpreter> {
        match *self {
            Self::Only(interpreter) => Some(interpreter).filter(|it| it.is_sound(memory)),
            Self::PerThread { first, .. } => Interpreter::at(memory, memory.pointer(first?, 0)?),
        }
    }

    /// The interpreter of a thread.
    pub fn of(
        &self,
        host: &dyn Host,
        memory: &Memory<'_>,
        module: &dyn HostModule,
        thread: Tid,
    ) -> Option<Interpreter> {
        match *self {
            Self::Only(interpreter) => Some(interpreter).filter(|it| it.is_sound(memory)),
            Self::PerThread { variable, key, .. } => {
                let variable = || {
                    let at = host.thread_local(thread, module, variable?)?;
                    Interpreter::at(memory, memory.pointer(at, 0)?)
                };
                let specific = || {
                    let block = host.thread_pointer(thread)?;
                    Interpreter::at(memory, memory.pointer(block, specific(key?)?)?)
                };
                variable().or_else(specific)
            }
        }
    }

    /// The interpreter that the functions of Perl on a stack have in their registers and variables.
    pub fn on_stack(
        host: &dyn Host,
        memory: &Memory<'_>,
        thread: Tid,
        frames: &[Frame],
    ) -> Option<Interpreter> {
        let regs = host.registers(thread);
        let registers =
            (0..MAX_REGISTERS).filter_map(|number| regs.as_ref()?.get(RegisterId(number)));
        let start = frames.first()?.sp?;
        let end = frames.iter().rev().find_map(|frame| frame.cfa.or(frame.sp))?;
        let held = host.space().read_held(start, end.offset_from(start)?.min(MAX_STACK));
        let (words, _) = held.as_chunks::<8>();
        let words = registers.chain(words.iter().map(|word| u64::from_le_bytes(*word)));
        let mut known = rustc_hash::FxHashSet::default();
        let mut new = words.filter_map(pointer).filter(|at| known.insert(*at));
        new.find_map(|at| Interpreter::at(memory, at))
    }
}

/// Where a thread has what it keeps under a key, from its own block on.
fn specific(key: u64) -> Option<u64> {
    (key < SPECIFIC_COUNT).then_some(())?;
    key.checked_mul(SPECIFIC_SIZE)?.checked_add(SPECIFIC)?.checked_add(SPECIFIC_VALUE)
}
