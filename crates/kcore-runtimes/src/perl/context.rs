//! What an interpreter executes: `PERL_SI` and `PERL_CONTEXT` of `cop.h`, as `caller_cx` of `pp_ctl.c` goes over them.

use kcore_mem::Addr;
use rustc_hash::FxHashSet;

use super::{
    interpreter::Interpreter,
    memory::{CODE, FORMAT, Memory},
};

/// `CXt_NULL`, `CXt_SUB`, `CXt_FORMAT` and `CXt_EVAL`, and what tells them.
const TYPE_MASK: u64 = 15;
const NULL: u64 = 0;
const SUB: u64 = 9;
const FORMATTING: u64 = 10;
const EVAL: u64 = 11;
/// `CXp_HASARGS` and `CXp_SUB_RE_FAKE` of calls, `CXp_EVALBLOCK` and `CXp_TRY` of evals.
const HAS_ARGUMENTS: u64 = 0x20;
const IS_FAKE: u64 = 0x80;
const IS_BLOCK: u64 = 0x40;
const IS_TRY: u64 = 0x80;
/// `blk_oldcop`, and `retop` of calls and evals.
const CALLER: u64 = 16;
const RETURN: u64 = 48;
/// `si_cxstack`, `si_prev` and `si_cxix` of `PERL_SI`.
const SI_CONTEXTS: u64 = 8;
const SI_PREVIOUS: u64 = 16;
const SI_INDEX: u64 = 32;
/// `PERLSI_MAIN` and `PERLSI_DIEHOOK`.
const MAIN: i32 = 1;
const DIE_HOOK: i32 = 8;
/// Contexts and stacks of them, at most.
const MAX_CONTEXTS: usize = 1 << 20;
const MAX_STACKS: usize = 1 << 16;

/// What was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A sub; a format is one too.
    Sub {
        /// Its code.
        code: Addr,
        /// The depth of its recursion before the call.
        depth: u64,
        /// Whether it was given a `@_` of its own.
        has_arguments: bool,
    },
    /// A block of `eval`.
    Block,
    /// Text that `eval` compiled; its code, once there is some.
    Text(Option<Addr>),
    /// A file, by `require`, `use` or `do`; its code, once there is some.
    File(Option<Addr>),
}

/// What `caller` tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// `PERL_CONTEXT`.
    pub at: Addr,
    /// What was called.
    pub callee: Callee,
    /// Where it was called: `blk_oldcop`.
    pub caller: Addr,
    /// What is executed when it ends; `None` where it was called by a function of C.
    pub returns_to: Option<Addr>,
    /// Whether it is the outermost one of a handler of `die`.
    pub handles_death: bool,
}

/// Calls that one activation of the machine executes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    /// They, innermost first.
    pub calls: Vec<Call>,
}

/// All calls of an interpreter, innermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// By the activations that execute them. The last one executes the program.
    pub groups: Vec<Group>,
    /// Why they end before the outermost.
    pub broken: Option<&'static str>,
}

/// One stack of contexts.
struct Stack {
    contexts: Addr,
    count: u64,
    purpose: i32,
    previous: Option<Addr>,
}

impl Chain {
    /// The calls of an interpreter.
    pub fn of(memory: &Memory<'_>, interpreter: &Interpreter) -> Self {
        let mut chain = Self::default();
        if chain.walk(memory, interpreter).is_none() {
            chain.broken = Some("its calls are damaged, or were not dumped");
        }
        chain
    }

    /// All calls, innermost first.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.groups.iter().flat_map(|group| &group.calls)
    }

    fn walk(&mut self, memory: &Memory<'_>, interpreter: &Interpreter) -> Option<()> {
        let mut next = memory.pointer(interpreter.stack_info, 0)?;
        let mut known = FxHashSet::default();
        let mut left = MAX_CONTEXTS;
        loop {
            (known.len() < MAX_STACKS && known.insert(next)).then_some(())?;
            let stack = Stack::read(memory, next)?;
            let is_main = stack.purpose == MAIN;
            self.walk_stack(memory, &stack, &mut left)?;
            match stack.previous.filter(|_| !is_main) {
                Some(previous) => next = previous,
                None => return Some(()),
            }
        }
    }

    /// Adds the calls of one stack. Each is executed by an activation of its own, but the main one, whose outermost calls
    /// the program's does.
    fn walk_stack(&mut self, memory: &Memory<'_>, stack: &Stack, left: &mut usize) -> Option<()> {
        let mut group = Group::default();
        let mut is_executed = false;
        let first = self.groups.len();
        for index in (0..stack.count).rev() {
            *left = left.checked_sub(1)?;
            let at = stack.contexts.checked_add(index.checked_mul(memory.layout.context.size)?);
            let flags = memory.uint(at?, 0, 1)?;
            // What a block calls last has nothing to return to, and the same activation executes both.
            let is_last = self.groups.len() > first && group.calls.is_empty();
            is_executed |= is_hidden(flags) && !is_last;
            let Some(mut call) = call(memory, at?, flags)? else { continue };
            call.handles_death = stack.purpose == DIE_HOOK && index == 0;
            // `call_sv` begins an eval before what it calls.
            let is_around = call.callee == Callee::Block && call.returns_to.is_none();
            match self.groups.get_mut(first..).and_then(<[Group]>::last_mut) {
                Some(last) if is_around && group.calls.is_empty() => last.calls.push(call),
                _ => group.calls.push(call),
            }
            if matches!(call.callee, Callee::Sub { .. }) && call.returns_to.is_none() {
                self.groups.push(std::mem::take(&mut group));
                is_executed = false;
            }
        }
        if stack.purpose == MAIN || is_executed || !group.calls.is_empty() {
            self.groups.push(group);
        }
        Some(())
    }
}

impl Stack {
    fn read(memory: &Memory<'_>, at: Addr) -> Option<Self> {
        let count = i64::from(memory.int(at, SI_INDEX)?).checked_add(1)?;
        Some(Self {
            contexts: memory.pointer(at, SI_CONTEXTS)?,
            count: u64::try_from(count).ok()?,
            purpose: memory.int(at, memory.layout.context.purpose)?,
            previous: memory.pointer(at, SI_PREVIOUS),
        })
    }
}

/// Whether an activation executes a context that `caller` tells nothing of: a block of `sort`, or code in a pattern.
const fn is_hidden(flags: u64) -> bool {
    flags & TYPE_MASK == NULL || flags & TYPE_MASK == SUB && flags & IS_FAKE != 0
}

/// The call that a context is; `Some(None)` where it is none that `caller` tells of.
fn call(memory: &Memory<'_>, at: Addr, flags: u64) -> Option<Option<Call>> {
    let callee = match flags & TYPE_MASK {
        SUB if flags & IS_FAKE == 0 => sub(memory, at, flags)?,
        FORMATTING => sub(memory, at, flags)?,
        EVAL if flags & IS_TRY == 0 => eval(memory, at, flags),
        _ => return Some(None),
    };
    Some(Some(Call {
        at,
        callee,
        caller: memory.pointer(at, CALLER)?,
        returns_to: memory.pointer(at, RETURN),
        handles_death: false,
    }))
}

fn sub(memory: &Memory<'_>, at: Addr, flags: u64) -> Option<Callee> {
    let layout = &memory.layout.context;
    let code = memory.pointer(at, layout.code)?;
    matches!(memory.kind(code)?, CODE | FORMAT).then_some(())?;
    // A format does not recur.
    let is_sub = flags & TYPE_MASK == SUB;
    let depth = if is_sub { u64::try_from(memory.int(at, layout.depth)?).ok()? } else { 0 };
    let has_arguments = is_sub && flags & HAS_ARGUMENTS != 0;
    Some(Callee::Sub { code, depth, has_arguments })
}

fn eval(memory: &Memory<'_>, at: Addr, flags: u64) -> Callee {
    let layout = &memory.layout.context;
    let code = memory.pointer(at, layout.eval_code);
    let code = code.and_then(|code| memory.of_kind(code, CODE));
    match memory.pointer(at, layout.name) {
        _ if flags & IS_BLOCK != 0 => Callee::Block,
        Some(_) => Callee::File(code),
        None => Callee::Text(code),
    }
}
