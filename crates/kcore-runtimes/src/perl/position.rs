//! Where code stands: `COP` of `cop.h`, and `closest_cop` of `util.c`.

use std::sync::Arc;

use kcore_mem::Addr;

use super::memory::Memory;

/// `cop_line`, and `cop_file` or, without threads, `cop_filegv`; `cop_seq`.
const LINE: u64 = 36;
const FILE: u64 = 48;
const SEQUENCE: u64 = 60;
/// `op_next`, `op_sibparent`, `op_targ`, the word with `op_type` and `op_moresib`, `op_flags` of `OP`, and `op_first`.
const NEXT: u64 = 0;
const SIBLING: u64 = 8;
const TARGET: u64 = 24;
const TYPE: u64 = 32;
const FLAGS: u64 = 34;
const FIRST: u64 = 40;
const TYPE_MASK: u64 = 0x1ff;
/// `op_moresib`, behind the type and five bits.
const MORE_SIBLINGS: u64 = 1 << 14;
/// `OPf_KIDS`.
const HAS_KIDS: u64 = 4;
/// `OP_SCOPE` from `OP_NEXTSTATE` on: `regen/opcodes`.
const SCOPE: u64 = 5;
/// Operations that are looked at for one line, and how deep they lie, at most.
const MAX_OPERATIONS: u32 = 4096;
const MAX_DEPTH: u32 = 64;
/// Where files lie in the names of their globs: `_<main.pl`.
const FILE_PREFIX: &str = "_<";

/// A place in a source file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// The file as Perl knows it: `(eval 1)` of text.
    pub file: Option<Arc<str>>,
    /// The line, from 1.
    pub line: Option<u32>,
}

/// What tells where in a statement of several lines code stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// The operation that is executed.
    At(Addr),
    /// The operation that is executed after it.
    Before(Addr),
}

impl Memory<'_> {
    /// The place of a statement. In a condition of several lines, a mark tells the line.
    pub fn position(&self, statement: Addr, mark: Option<Mark>, has_globs: bool) -> Position {
        let nearest = mark.and_then(|mark| Search::of(self, statement, mark)).unwrap_or(statement);
        let line = self.uint(nearest, LINE, 4).and_then(|line| u32::try_from(line).ok());
        let file = match has_globs {
            true => self.file_of_glob(statement),
            false => self
                .word(statement, FILE)
                .filter(|at| *at >= 0x1000)
                .and_then(|at| self.c_text(Addr::new(at)).filter(|file| !file.is_empty())),
        };
        Position { file: file.map(Arc::from), line: line.filter(|line| *line > 0) }
    }

    /// The type of an operation: of a statement that of all statements.
    pub fn operation_kind(&self, operation: Addr) -> Option<u64> {
        Some(self.uint(operation, TYPE, 2)? & TYPE_MASK)
    }

    fn file_of_glob(&self, statement: Addr) -> Option<String> {
        let (_, name) = self.glob_name(self.pointer(statement, FILE)?)?;
        Some(name.strip_prefix(FILE_PREFIX)?.to_owned())
    }

    /// The number of a statement, by which variables are told to be seen in it.
    pub fn sequence(&self, statement: Addr) -> Option<u64> {
        self.uint(statement, SEQUENCE, 4)
    }
}

/// A search for the statement nearest to an operation: those in conditions were optimised away, and are still there.
struct Search<'a> {
    memory: &'a Memory<'a>,
    mark: Mark,
    next_state: u64,
    left: u32,
}

impl<'a> Search<'a> {
    fn of(memory: &'a Memory<'a>, statement: Addr, mark: Mark) -> Option<Addr> {
        let bits = memory.uint(statement, TYPE, 2)?;
        let next_state = bits & TYPE_MASK;
        (next_state > 0 && bits & MORE_SIBLINGS != 0).then_some(())?;
        let first = memory.pointer(statement, SIBLING)?;
        Search { memory, mark, next_state, left: MAX_OPERATIONS }.below(statement, first, 0)
    }

    fn below(&mut self, statement: Addr, operation: Addr, depth: u32) -> Option<Addr> {
        self.left = self.left.checked_sub(1)?;
        (depth < MAX_DEPTH).then_some(())?;
        let kind = self.memory.operation_kind(operation)?;
        let is_scope = kind == self.next_state.saturating_add(SCOPE);
        let is_it = match self.mark {
            Mark::At(marked) => operation == marked,
            Mark::Before(marked) => {
                self.memory.pointer(operation, NEXT) == Some(marked) && !is_scope
            }
        };
        if is_it {
            return Some(statement);
        }
        (self.memory.uint(operation, FLAGS, 1)? & HAS_KIDS != 0).then_some(())?;
        let mut statement = statement;
        let mut kid = self.memory.pointer(operation, FIRST);
        while let Some(at) = kid {
            let target = self.memory.word(at, TARGET);
            if self.memory.operation_kind(at) == Some(0) && target == Some(self.next_state) {
                statement = at;
            }
            if let Some(found) = self.below(statement, at, depth.saturating_add(1)) {
                return Some(found);
            }
            let has_more = self.memory.uint(at, TYPE, 2)? & MORE_SIBLINGS != 0;
            kid = self.memory.pointer(at, SIBLING).filter(|_| has_more && self.left > 0);
        }
        None
    }
}
