//! What functions are called: `ldebug.c` (`funcnamefromcode`, `getobjname`, `findsetreg`), and `lauxlib.c`
//! (`pushfuncname`).
//!
//! Lua keeps no names of functions. A message guesses one from the code that calls, and so does this, with the rules of
//! the version that runs.

use std::sync::Arc;

use super::{
    calls::Call,
    globals::Globals,
    instruction::{Instruction, Op},
    layout::Series,
    memory::{Function, Memory},
    proto::Proto,
};

/// Registers that were moved to each other, at most.
const MAX_MOVES: u32 = 64;
/// Instructions that are looked at for one name, at most.
const MAX_LOOKED_AT: u64 = 1 << 16;
/// The flag of an operand that is a constant, before 5.4.
const IS_CONSTANT: u64 = 256;
/// The name of the table that has global variables.
const ENVIRONMENT: &str = "_ENV";
/// Registers behind that of an iterator which its call sets.
const ITERATOR: u64 = 2;

/// A name, and in what way something has it.
type Named = (&'static str, String);

/// What a message calls a function: without the word `function` where it has a name.
pub fn name(
    memory: &Memory<'_>,
    globals: &Globals,
    call: &Call,
    caller: Option<&Call>,
) -> Arc<str> {
    let global = || globals.name(call.value).map(str::to_owned);
    let guessed = || guessed(memory, call, caller);
    let plain = |(_, name): Named| name;
    let with_way = |(way, name): Named| match way {
        "function" => name,
        _ => format!("{way} '{name}'"),
    };
    let is_c = matches!(call.function, Some(Function::C { .. }));
    let named = match memory.layout.series {
        Series::V51 => guessed().map(plain),
        Series::V52 => guessed().map(plain).or_else(|| global().filter(|_| is_c)),
        Series::V53 | Series::V54 => global().or_else(|| guessed().map(with_way)),
    };
    let place = || call.proto.as_ref().map(|proto| proto.place(memory.layout.series));
    named.or_else(place).unwrap_or_else(|| "?".to_owned()).into()
}

/// The name that the code of the caller tells.
fn guessed(memory: &Memory<'_>, call: &Call, caller: Option<&Call>) -> Option<Named> {
    if call.is_finalizer {
        return Some(("metamethod", "__gc".to_owned()));
    }
    let caller = caller.filter(|_| !call.is_tail)?;
    let (proto, index) = (caller.proto.as_ref()?, caller.index?);
    if caller.is_hooked {
        return Some(("hook", "?".to_owned()));
    }
    let code = Code { memory, proto, series: memory.layout.series };
    let instruction = code.at(index)?;
    match instruction.op {
        Op::Call => code.object(index, instruction.a, MAX_MOVES),
        Op::ForCall if code.series == Series::V51 => code.object(index, instruction.a, MAX_MOVES),
        Op::ForCall => Some(("for iterator", "for iterator".to_owned())),
        _ => {
            let lines = if code.series == Series::V54 { "" } else { "__" };
            let name = instruction.metamethod().filter(|_| code.series != Series::V51)?;
            Some(("metamethod", format!("{lines}{name}")))
        }
    }
}

/// Whether a function that a function of Lua called runs in its activation of the machine: in 5.1, where no bit says
/// so.
pub fn is_called_by_call(memory: &Memory<'_>, caller: &Call) -> bool {
    let code =
        caller.proto.as_ref().zip(caller.index).and_then(|(proto, index)| {
            Code { memory, proto, series: memory.layout.series }.at(index)
        });
    code.is_some_and(|instruction| instruction.op == Op::Call)
}

/// The code of a function.
struct Code<'a> {
    memory: &'a Memory<'a>,
    proto: &'a Proto,
    series: Series,
}

impl Code<'_> {
    fn at(&self, index: u64) -> Option<Instruction> {
        let word = self.proto.instruction(self.memory, index)?;
        Some(Instruction::read(self.series, word))
    }

    /// What a register holds at an instruction.
    fn object(&self, index: u64, register: u64, moves: u32) -> Option<Named> {
        let moves = moves.checked_sub(1)?;
        if let Some(name) = self.local(register, index) {
            return Some(("local", name));
        }
        let set = self.set(index, register)?;
        let instruction = self.at(set)?;
        match instruction.op {
            Op::Move if instruction.b < instruction.a => self.object(set, instruction.b, moves),
            Op::Move => None,
            Op::Global => Some(("global", self.text(instruction.bx))),
            Op::Upvalue => Some(("upvalue", self.upvalue(instruction.b))),
            Op::Constant if self.series > Series::V51 => self.constant(instruction.bx),
            Op::ConstantBehind => self.constant(self.at(set.checked_add(1)?)?.ax),
            Op::OfUpvalue => {
                let table = self.proto.upvalue(self.memory, instruction.b);
                let key = match self.series {
                    Series::V54 => self.text(instruction.c),
                    _ => self.key(set, instruction, moves),
                };
                Some((self.way(table), key))
            }
            Op::OfTable => {
                let way = self.way(self.table_name(set, instruction, moves));
                Some((way, self.key(set, instruction, moves)))
            }
            Op::OfInteger => Some(("field", "integer index".to_owned())),
            Op::OfName => {
                let way = self.way(self.table_name(set, instruction, moves));
                Some((way, self.text(instruction.c)))
            }
            Op::Method => Some(("method", self.key(set, instruction, moves))),
            _ => None,
        }
    }

    /// The name of the register that has the table which an instruction looks into.
    fn table_name(&self, set: u64, instruction: Instruction, moves: u32) -> Option<String> {
        match self.series {
            Series::V54 => self.object(set, instruction.b, moves).map(|(_, name)| name),
            _ => self.local(instruction.b, set),
        }
    }

    /// The name of a key: of a constant that is text, in the instruction or in a register.
    fn key(&self, set: u64, instruction: Instruction, moves: u32) -> String {
        let in_register = |register| match self.object(set, register, moves) {
            Some(("constant", name)) => name,
            _ => "?".to_owned(),
        };
        let c = instruction.c;
        match self.series {
            Series::V54 if instruction.op == Op::Method && instruction.k => self.text(c),
            Series::V54 => in_register(c),
            _ if c & IS_CONSTANT != 0 => self.text(c & !IS_CONSTANT),
            Series::V51 => "?".to_owned(),
            _ => in_register(c),
        }
    }

    fn way(&self, table: Option<String>) -> &'static str {
        match table.as_deref() == Some(ENVIRONMENT) && self.series > Series::V51 {
            true => "global",
            false => "field",
        }
    }

    fn local(&self, register: u64, index: u64) -> Option<String> {
        let locals = self.proto.locals(self.memory, index);
        locals.into_iter().find(|local| local.register == register).map(|local| local.name)
    }

    fn upvalue(&self, index: u64) -> String {
        self.proto.upvalue(self.memory, index).unwrap_or_else(|| "?".to_owned())
    }

    fn text(&self, index: u64) -> String {
        self.proto.constant(self.memory, index).unwrap_or_else(|| "?".to_owned())
    }

    fn constant(&self, index: u64) -> Option<Named> {
        Some(("constant", self.proto.constant(self.memory, index)?))
    }

    /// The last instruction before one that sets a register; `None` where a jump may lead around it.
    fn set(&self, last: u64, register: u64) -> Option<u64> {
        (last < MAX_LOOKED_AT).then_some(())?;
        let last = match self.at(last)?.op {
            // The instruction before it did not run.
            Op::CallsNumbered => last.checked_sub(1)?,
            _ => last,
        };
        let (mut set, mut target, mut index) = (None, 0, 0_u64);
        while index < last {
            let instruction = self.at(index)?;
            let next = index.checked_add(1)?;
            let jumped = next.checked_add_signed(instruction.jump);
            let ahead = jumped.filter(|to| (next..=last).contains(to));
            let is_old = self.series == Series::V51;
            match instruction.op {
                Op::Jump if !is_old => target = target.max(ahead.unwrap_or_default()),
                _ if self.changes(instruction, register) => {
                    set = (index >= target).then_some(index);
                }
                _ => {}
            }
            index = match instruction.op {
                Op::Jump | Op::Loop if is_old => ahead.unwrap_or(next),
                Op::Closure if is_old => next.checked_add(self.captured(instruction.bx)?)?,
                Op::List if is_old && instruction.c == 0 => next.checked_add(1)?,
                _ => next,
            };
        }
        set
    }

    fn changes(&self, instruction: Instruction, register: u64) -> bool {
        let Instruction { a, b, .. } = instruction;
        match instruction.op {
            Op::Nil if self.series == Series::V51 => (a..=b).contains(&register),
            Op::Nil => (a..=a.saturating_add(b)).contains(&register),
            Op::ForCall => register >= a.saturating_add(ITERATOR),
            Op::Call => register >= a,
            Op::Method if self.series == Series::V51 => {
                register == a || register == a.saturating_add(1)
            }
            _ => instruction.sets && register == a,
        }
    }

    /// How many upvalues a function of 5.1 has: a word for each follows where it is made.
    fn captured(&self, index: u64) -> Option<u64> {
        /// `nups`.
        const COUNT: u64 = 112;
        let inner = self.memory.pointer(self.proto.at, self.memory.layout.proto.inner)?;
        let inner = self.memory.pointer(inner, index.checked_mul(8)?)?;
        self.memory.uint(inner, COUNT, 1)
    }
}
