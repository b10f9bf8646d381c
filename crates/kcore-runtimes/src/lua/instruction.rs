//! Instructions of Lua's virtual machine: `lopcodes.h` and `lopcodes.c` of each version.

use super::layout::Series;

/// What an instruction does, as far as that tells what a register holds or who is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// One register becomes another's value.
    Move,
    /// A register becomes a constant, whose number stands in the instruction, or in the next.
    Constant,
    ConstantBehind,
    /// Registers become nil.
    Nil,
    /// A register becomes the value of an upvalue.
    Upvalue,
    /// A global variable by its name: 5.1.
    Global,
    /// A member of a table that is an upvalue, by a constant.
    OfUpvalue,
    /// A member of a table, by a register or a constant.
    OfTable,
    /// One by an integer, or by a constant that is text: 5.4.
    OfInteger,
    OfName,
    /// A method.
    Method,
    /// The call of an iterator.
    ForCall,
    /// A call, or one in place of the function itself.
    Call,
    /// A jump.
    Jump,
    /// A loop's jump, over which 5.1 looks as over others.
    Loop,
    /// A function is made: words follow in 5.1.
    Closure,
    /// A list is stored: a word may follow in 5.1.
    List,
    /// It may call the metamethod of this name.
    Calls(&'static str),
    /// It calls the metamethod whose number it has: 5.4.
    CallsNumbered,
    /// Anything else.
    Plain,
}

use Op::{
    Call, Calls, CallsNumbered, Closure, Constant, ConstantBehind, ForCall, Global, Jump, List,
    Loop, Method, Move, Nil, OfInteger, OfName, OfTable, OfUpvalue, Plain, Upvalue,
};

const SET: Op = Calls("newindex");

/// Each code of operation: what it does, and whether it sets the register `A`.
const OPS_51: &[(Op, bool)] = &[
    (Move, true),
    (Constant, true),
    (Plain, true),
    (Nil, true),
    (Upvalue, true),
    (Global, true),
    (OfTable, true),
    (SET, false),
    (Plain, false),
    (SET, false),
    (Plain, true),
    (Method, true),
    (Calls("add"), true),
    (Calls("sub"), true),
    (Calls("mul"), true),
    (Calls("div"), true),
    (Calls("mod"), true),
    (Calls("pow"), true),
    (Calls("unm"), true),
    (Plain, true),
    (Calls("len"), true),
    (Calls("concat"), true),
    (Jump, false),
    (Calls("eq"), false),
    (Calls("lt"), false),
    (Calls("le"), false),
    (Plain, true),
    (Plain, true),
    (Call, true),
    (Call, true),
    (Plain, false),
    (Loop, true),
    (Loop, true),
    (ForCall, false),
    (List, false),
    (Plain, false),
    (Closure, true),
    (Plain, true),
];

const OPS_52: &[(Op, bool)] = &[
    (Move, true),
    (Constant, true),
    (ConstantBehind, true),
    (Plain, true),
    (Nil, true),
    (Upvalue, true),
    (OfUpvalue, true),
    (OfTable, true),
    (SET, false),
    (Plain, false),
    (SET, false),
    (Plain, true),
    (Method, true),
    (Calls("add"), true),
    (Calls("sub"), true),
    (Calls("mul"), true),
    (Calls("div"), true),
    (Calls("mod"), true),
    (Calls("pow"), true),
    (Calls("unm"), true),
    (Plain, true),
    (Calls("len"), true),
    (Calls("concat"), true),
    (Jump, false),
    (Calls("eq"), false),
    (Calls("lt"), false),
    (Calls("le"), false),
    // Jumped code can change the register.
    (Plain, true),
    (Plain, true),
    (Call, true),
    (Call, true),
    (Plain, false),
    (Plain, true),
    (Plain, true),
    (ForCall, false),
    (Plain, true),
    (Plain, false),
    (Closure, true),
    (Plain, true),
    (Plain, false),
];

const OPS_53: &[(Op, bool)] = &[
    (Move, true),
    (Constant, true),
    (ConstantBehind, true),
    (Plain, true),
    (Nil, true),
    (Upvalue, true),
    (OfUpvalue, true),
    (OfTable, true),
    (SET, false),
    (Plain, false),
    (SET, false),
    (Plain, true),
    (Method, true),
    (Calls("add"), true),
    (Calls("sub"), true),
    (Calls("mul"), true),
    (Calls("mod"), true),
    (Calls("pow"), true),
    (Calls("div"), true),
    (Calls("idiv"), true),
    (Calls("band"), true),
    (Calls("bor"), true),
    (Calls("bxor"), true),
    (Calls("shl"), true),
    (Calls("shr"), true),
    (Calls("unm"), true),
    (Calls("bnot"), true),
    (Plain, true),
    (Calls("len"), true),
    (Calls("concat"), true),
    (Jump, false),
    (Calls("eq"), false),
    (Calls("lt"), false),
    (Calls("le"), false),
    (Plain, false),
    (Plain, true),
    (Call, true),
    (Call, true),
    (Plain, false),
    (Plain, true),
    (Plain, true),
    (ForCall, false),
    (Plain, true),
    (Plain, false),
    (Closure, true),
    (Plain, true),
    (Plain, false),
];

const OPS_54: &[(Op, bool)] = &[
    (Move, true),
    (Plain, true),
    (Plain, true),
    (Constant, true),
    (ConstantBehind, true),
    (Plain, true),
    (Plain, true),
    (Plain, true),
    (Nil, true),
    (Upvalue, true),
    (Plain, false),
    (OfUpvalue, true),
    (OfTable, true),
    (OfInteger, true),
    (OfName, true),
    (SET, false),
    (SET, false),
    (SET, false),
    (SET, false),
    (Plain, true),
    (Method, true),
    // Arithmetic, from ADDI to SHR.
    (Plain, true),
    (Plain, true),
    (Plain, true),
    (Plain, true),
    (Plain, true),
    (Plain, true),
    (Plain, true),
    (Plain, true),
    (Plain, true),
    (Plain, true),
    (Plain, true),
    (Plain, true),
    (Plain, true),
    (Plain, true),
    (Plain, true),
    (Plain, true),
    (Plain, true),
    (Plain, true),
    (Plain, true),
    (Plain, true),
    (Plain, true),
    (Plain, true),
    (Plain, true),
    (Plain, true),
    (Plain, true),
    (CallsNumbered, false),
    (CallsNumbered, false),
    (CallsNumbered, false),
    (Calls("unm"), true),
    (Calls("bnot"), true),
    (Plain, true),
    (Calls("len"), true),
    (Calls("concat"), true),
    (Calls("close"), false),
    (Plain, false),
    (Jump, false),
    (Calls("eq"), false),
    (Calls("lt"), false),
    (Calls("le"), false),
    (Plain, false),
    (Plain, false),
    (Calls("lt"), false),
    (Calls("le"), false),
    (Calls("lt"), false),
    (Calls("le"), false),
    (Plain, false),
    (Plain, true),
    (Call, true),
    (Call, true),
    (Calls("close"), false),
    (Plain, false),
    (Plain, false),
    (Plain, true),
    (Plain, true),
    (Plain, false),
    (ForCall, false),
    (Plain, true),
    (Plain, false),
    (Closure, true),
    (Plain, true),
    (Plain, true),
    (Plain, false),
];

/// Metamethods by their numbers: `TMS` of `ltm.h` of 5.4.
const METAMETHODS: [&str; 25] = [
    "index", "newindex", "gc", "mode", "len", "eq", "add", "sub", "mul", "mod", "pow", "div",
    "idiv", "band", "bor", "bxor", "shl", "shr", "unm", "bnot", "lt", "le", "concat", "call",
    "close",
];

/// An instruction with its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// What it does.
    pub op: Op,
    /// Whether it sets the register `a`.
    pub sets: bool,
    pub a: u64,
    pub b: u64,
    pub c: u64,
    /// The flag of 5.4 that `c` is a constant.
    pub k: bool,
    /// The long operand in place of `b` and `c`, and that in place of all.
    pub bx: u64,
    pub ax: u64,
    /// How far it jumps, from the next one on.
    pub jump: i64,
}

impl Instruction {
    /// Reads one; a code of operation that does not exist does nothing.
    pub fn read(series: Series, word: u32) -> Self {
        let word = u64::from(word);
        let bits = |from: u32, count: u32| word >> from & (1_u64 << count).wrapping_sub(1);
        let is_new = series == Series::V54;
        let ops = match series {
            Series::V51 => OPS_51,
            Series::V52 => OPS_52,
            Series::V53 => OPS_53,
            Series::V54 => OPS_54,
        };
        let code = usize::try_from(bits(0, if is_new { 7 } else { 6 })).unwrap_or_default();
        let (op, sets) = ops.get(code).copied().unwrap_or((Plain, false));
        if is_new {
            let jump = bits(7, 25).cast_signed().wrapping_sub(0xff_ffff);
            let (a, b, c, k) = (bits(7, 8), bits(16, 8), bits(24, 8), bits(15, 1) != 0);
            return Self { op, sets, a, b, c, k, bx: bits(15, 17), ax: bits(7, 25), jump };
        }
        let jump = bits(14, 18).cast_signed().wrapping_sub(0x1_ffff);
        let (a, b, c, k) = (bits(6, 8), bits(23, 9), bits(14, 9), false);
        Self { op, sets, a, b, c, k, bx: bits(14, 18), ax: bits(6, 26), jump }
    }

    /// The metamethod that it may call, without the lines before its name.
    pub fn metamethod(&self) -> Option<&'static str> {
        match self.op {
            Op::OfUpvalue | Op::OfTable | Op::OfInteger | Op::OfName | Op::Method => Some("index"),
            Op::Calls(name) => Some(name),
            Op::CallsNumbered => METAMETHODS.get(usize::try_from(self.c).ok()?).copied(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_lie_where_each_version_has_them() {
        // What luac of 5.1 and 5.4 made of `f(x)`: CALL 0 2 1.
        let old = Instruction::read(Series::V51, 28 | 1 << 14 | 2 << 23);
        assert_eq!((old.op, old.a, old.b, old.c), (Op::Call, 0, 2, 1));
        let new = Instruction::read(Series::V54, 68 | 3 << 7 | 2 << 16 | 1 << 24);
        assert_eq!((new.op, new.a, new.b, new.c), (Op::Call, 3, 2, 1));
        let back = Instruction::read(Series::V54, 56 | (0xff_ffff - 2) << 7);
        assert_eq!((back.op, back.jump), (Op::Jump, -2));
        let back = Instruction::read(Series::V53, 30 | (0x1_ffff - 7) << 14);
        assert_eq!((back.op, back.jump), (Op::Jump, -7));
    }

    #[test]
    fn every_version_has_as_many_operations_as_its_header() {
        let counts = [OPS_51, OPS_52, OPS_53, OPS_54].map(<[_]>::len);
        assert_eq!(counts, [38, 40, 47, 83]);
    }
}
