//! The caller's registers by what a function's instructions did to the stack, for code that has
//! no call frame information: hand-written assembly, C libraries built without it.
//!
//! The instructions are followed in address order. Where control does not flow from one to the
//! next, the state comes from a branch that leads there, else from the deepest state seen, which
//! is that of the body between prologue and epilogue. Where no branch leads beyond a return, the
//! function ends and the next begins: so the trace may start at any function before the one that
//! is wanted, and finds functions whose symbols were stripped.

use std::collections::{HashMap, HashSet};

use kcore_mem::{Addr, AddrRange, AddressSpace};

use super::{
    decode::{decode, is_call, is_padding},
    regs::{RBP, RSP},
    stack_effect::{Effect, effect_of},
};
use crate::{Reading as State, RegisterId, Regs, reading::MAX_CODE};

/// Places of saved registers that are remembered: a function saves each of six once.
const MAX_SAVED: usize = 6;
/// Where compilers begin functions, in bytes.
const FUNCTION_ALIGNMENT: u64 = 16;
/// Code behind the pc that is looked at for loops, in bytes.
const LOOK_AHEAD: usize = 4 << 10;
/// Other readings of the code that are tried.
const MAX_RESTARTS: usize = 8;
/// Opcode of a jump with an 8-bit displacement.
const SHORT_JUMP: u8 = 0xeb;
/// Registers that a callee preserves.
pub const CALLEE_SAVED: [u16; 6] = [3, 6, 12, 13, 14, 15];

impl State {
    /// Right after the call: the return address is the last word below the CFA.
    fn at_entry() -> Self {
        Self { sp: Some(-8), ..Self::NOTHING }
    }

    fn apply(&mut self, effect: Effect) {
        match effect {
            Effect::Push(register) => self.push(register),
            Effect::Pop(register) => self.pop(register),
            Effect::Move(by) => self.move_by(by),
            Effect::SetFrame => self.fp = self.sp,
            Effect::FromFrame(offset) => {
                self.sp = self.fp.map(|fp| fp.wrapping_add(offset));
            }
            Effect::Leave => {
                self.sp = self.fp;
                self.pop(Some(RBP.0));
            }
            Effect::Unknown => self.sp = None,
            Effect::LoseFrame => self.fp = None,
            Effect::Load(register, by) => self.load(register, by),
            Effect::Store(..)
            | Effect::Switch
            | Effect::None
            | Effect::Branch(_)
            | Effect::Jump(_)
            | Effect::Stop => {}
        }
    }

    fn move_by(&mut self, by: i64) {
        self.sp = self.sp.map(|sp| sp.wrapping_add(by));
    }

    /// The first push of a register that a callee preserves saves the caller's value.
    fn push(&mut self, register: Option<u16>) {
        self.move_by(-8);
        if let (Some(register), Some(sp)) = (register, self.sp) {
            self.save(register, sp);
        }
    }

    fn save(&mut self, register: u16, at: i64) {
        let is_known = self.saved.iter().any(|(number, _)| *number == register);
        let is_preserved = CALLEE_SAVED.contains(&register);
        if is_preserved && !is_known && self.saved.len() < MAX_SAVED {
            self.saved.push((register, at));
        }
    }

    /// A register that is loaded from where it was saved is the caller's again.
    fn load(&mut self, register: u16, by: i64) {
        let from = self.sp.map(|sp| sp.wrapping_add(by));
        self.saved.retain(|(number, at)| *number != register || Some(*at) != from);
        if register == RBP.0 {
            self.fp = None;
        }
    }

    fn pop(&mut self, register: Option<u16>) {
        let from = self.sp;
        if let Some(register) = register {
            self.saved.retain(|(number, at)| *number != register || Some(*at) != from);
        }
        if register == Some(RBP.0) {
            self.fp = None;
        }
        self.move_by(8);
    }

    fn is_deeper_than(&self, other: &Self) -> bool {
        matches!((self.sp, other.sp), (Some(own), Some(theirs)) if own < theirs)
    }
}

/// All ways to read the code from the start of `function` up to `pc`, the likeliest first.
pub fn read_code(pc: Addr, function: AddrRange, space: &dyn AddressSpace) -> Vec<State> {
    let Some(code) = Code::read(pc, function.start, space) else { return Vec::new() };
    let mut trace = Trace::default();
    let state = trace.run(&code, 0);
    trace.look_ahead(&code);
    let states = trace.restarts().map(|start| Trace::default().run(&code, start));
    states.chain(std::iter::once(state)).flatten().collect()
}

/// The caller's registers and the CFA, or `None` where the code does not tell. Of several readings
/// of the code the first counts whose caller `is_plausible`.
pub fn caller_by_code(
    regs: &Regs,
    readings: &[State],
    space: &dyn AddressSpace,
    is_plausible: &dyn Fn(&Regs, Addr) -> bool,
) -> Option<(Regs, Addr)> {
    let mut callers = readings.iter().filter_map(|state| caller_of(state, regs, space));
    callers.find(|(caller, cfa)| is_plausible(caller, *cfa))
}

fn caller_of(state: &State, regs: &Regs, space: &dyn AddressSpace) -> Option<(Regs, Addr)> {
    let cfa = match (state.sp, state.fp) {
        (Some(sp), _) => regs.get(RSP)?.wrapping_sub_signed(sp),
        (None, Some(fp)) => regs.get(RBP)?.wrapping_sub_signed(fp),
        (None, None) => return None,
    };
    let slot = |offset: i64| space.read_register(Addr::new(cfa.wrapping_add_signed(offset)));
    let mut caller = regs.with_pc(Addr::new(slot(-8).ok()?));
    super::regs::forget_scratch(&mut caller);
    caller.set(RSP, Some(cfa));
    for (register, offset) in &state.saved {
        caller.set(RegisterId(*register), slot(*offset).ok());
    }
    Some((caller, Addr::new(cfa)))
}

/// The code from the start of a function up to the pc, and some more.
struct Code {
    start: Addr,
    bytes: Vec<u8>,
    /// Offset of the pc.
    pc: usize,
}

impl Code {
    /// `None` when the pc is far from the start.
    fn read(pc: Addr, start: Addr, space: &dyn AddressSpace) -> Option<Self> {
        let len = pc.offset_from(start).filter(|len| *len <= MAX_CODE)?;
        let pc = usize::try_from(len).ok()?;
        let mut bytes = vec![0; pc.checked_add(LOOK_AHEAD)?];
        let (read, _) = space.read_partial(start, &mut bytes);
        bytes.truncate(read);
        Some(Self { start, bytes, pc })
    }

    /// Whether compilers may begin a function at this offset.
    fn is_aligned(&self, at: usize) -> bool {
        self.start.get().wrapping_add(at as u64).is_multiple_of(FUNCTION_ALIGNMENT)
    }
}

struct Trace {
    state: State,
    deepest: State,
    /// Registers that were stored on the stack, by their DWARF numbers: they still hold what they held, unless
    /// the stack becomes another one.
    stored: Vec<(u16, i64)>,
    /// The state that a branch carries to an offset further on.
    carried: HashMap<usize, State>,
    /// The furthest offset to which a branch of this function leads.
    furthest: usize,
    /// How control comes to the next instruction.
    flow: Flow,
    /// Whether the last instruction but padding was a call.
    after_call: bool,
    /// Offsets where a function may begin, behind a call that need not return.
    after_calls: Vec<usize>,
    /// Offsets to which branches lead back.
    loop_heads: HashSet<usize>,
}

/// How control comes to an instruction from the one before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Flow {
    /// It goes on.
    Continues,
    /// It does not, but the function has more code.
    Broken,
    /// The function ended.
    Ended,
}

impl Default for Trace {
    fn default() -> Self {
        let entry = State::at_entry();
        let carried = HashMap::new();
        Self {
            state: entry.clone(),
            deepest: entry,
            stored: Vec::new(),
            carried,
            furthest: 0,
            flow: Flow::Continues,
            after_call: false,
            after_calls: Vec::new(),
            loop_heads: HashSet::new(),
        }
    }
}

impl Trace {
    /// Follows the code from offset `start` up to the pc. `None` when the pc is not on the boundary
    /// of an instruction, or the code is not readable.
    fn run(&mut self, code: &Code, start: usize) -> Option<State> {
        let mut at = start;
        while at < code.pc {
            if self.after_call && code.is_aligned(at) && self.furthest < at {
                self.after_calls.push(at);
            }
            at = self.step(code.bytes.get(at..)?, at)?;
        }
        (at == code.pc).then(|| self.state_before(at))
    }

    /// Follows the code behind the pc to the end of the function, for branches back.
    fn look_ahead(&mut self, code: &Code) {
        let mut at = code.pc;
        while self.flow != Flow::Ended {
            let next = code.bytes.get(at..).and_then(|bytes| self.step(bytes, at));
            let Some(next) = next else { return };
            at = next;
        }
    }

    /// Where functions begin behind calls that do not return, the last one first. What a branch
    /// leads back to is a loop, which compilers align as well.
    fn restarts(&self) -> impl Iterator<Item = usize> {
        let starts = self.after_calls.iter().rev().copied();
        starts.filter(|start| !self.loop_heads.contains(start)).take(MAX_RESTARTS)
    }

    /// Applies the instruction at offset `at`; gives the offset of the next.
    fn step(&mut self, code: &[u8], at: usize) -> Option<usize> {
        let found = decode(code)?;
        let next = at.checked_add(found.len)?;
        if self.flow != Flow::Continues && is_padding(&found) {
            return Some(next);
        }
        let effect = effect_of(&found);
        self.enter(at);
        self.state.apply(effect);
        if self.state.is_deeper_than(&self.deepest) {
            self.deepest = self.state.clone();
        }
        match effect {
            Effect::Store(register, by) => self.note_store(register, by),
            Effect::Switch => self.switch(),
            Effect::Branch(by) => self.carry(next, by, true),
            // A jump with a long displacement may as well be a call that ends the function.
            Effect::Jump(Some(by)) => self.carry(next, by, found.opcode == SHORT_JUMP),
            _ => {}
        }
        self.after_call = is_call(&found) || (self.after_call && is_padding(&found));
        self.flow = match effect {
            Effect::Jump(Some(_)) | Effect::Stop if self.furthest < next => Flow::Ended,
            Effect::Jump(_) | Effect::Stop => Flow::Broken,
            _ => Flow::Continues,
        };
        Some(next)
    }

    fn note_store(&mut self, register: u16, by: i64) {
        if let Some(sp) = self.state.sp
            && self.stored.len() < MAX_SAVED
        {
            self.stored.push((register, sp.wrapping_add(by)));
        }
    }

    /// On another stack registers are those of the code that left it, where it stored them.
    fn switch(&mut self) {
        self.state.switched = true;
        for (register, at) in &self.stored {
            self.state.save(*register, *at);
        }
    }

    /// Takes the state of the instruction at offset `at`.
    fn enter(&mut self, at: usize) {
        self.state = self.state_before(at);
        if self.flow == Flow::Ended {
            self.deepest = self.state.clone();
        }
    }

    fn state_before(&self, at: usize) -> State {
        match self.flow {
            Flow::Continues => self.state.clone(),
            Flow::Ended => State::at_entry(),
            Flow::Broken => self.carried.get(&at).unwrap_or(&self.deepest).clone(),
        }
    }

    /// Carries the state to the target of a branch further on.
    fn carry(&mut self, next: usize, by: i64, same_function: bool) {
        let target = (next as i64).checked_add(by).and_then(|at| usize::try_from(at).ok());
        let Some(target) = target else { return };
        if target < next {
            self.loop_heads.insert(target);
            return;
        }
        self.carried.entry(target).or_insert_with(|| self.state.clone());
        if same_function {
            self.furthest = self.furthest.max(target);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kcore_mem::{Fault, Origin, Region, Target};

    /// Code at 0x1000, a stack of counting words at 0x8000.
    struct Memory(Vec<u8>, Vec<u8>);

    impl AddressSpace for Memory {
        fn target(&self) -> Target {
            Target::X86_64
        }

        fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
            let (base, bytes) =
                if at.get() < 0x8000 { (0x1000, &self.0) } else { (0x8000, &self.1) };
            let offset = at.get().checked_sub(base).ok_or(Fault::Unmapped(at))?;
            bytes.get(offset as usize..).filter(|rest| !rest.is_empty()).ok_or(Fault::Unmapped(at))
        }

        fn origin(&self, _: Addr) -> Result<Origin, Fault> {
            Ok(Origin::Core)
        }

        fn regions(&self) -> Vec<Region> {
            Vec::new()
        }
    }

    /// Runs the trace with the stack pointer at 0x8000 and the pc `at` bytes into `code`. Callers
    /// are plausible whose pc is even or odd, as `plausible` says.
    fn caller_where(code: &[u8], at: u64, plausible: u64) -> Option<(Regs, Addr)> {
        let stack = (0..64_u64).flat_map(|word| (0x100 + word).to_le_bytes()).collect();
        let memory = Memory(code.to_vec(), stack);
        let mut regs = Regs::new(Addr::new(0x1000 + at));
        regs.set(RSP, Some(0x8000));
        regs.set(RBP, Some(0x8040));
        let function = AddrRange::with_len(Addr::new(0x1000), 0x100);
        let is_plausible = |caller: &Regs, _: Addr| caller.pc().get() % 2 == plausible;
        let readings = read_code(regs.pc(), function, &memory);
        caller_by_code(&regs, &readings, &memory, &is_plausible)
    }

    fn caller(code: &[u8], at: u64) -> Option<(Regs, Addr)> {
        caller_where(code, at, 0).or_else(|| caller_where(code, at, 1))
    }

    /// push %rbx; call; nops up to 16; sub $0x20,%rsp; nop; then what follows.
    fn code_behind_a_call(rest: &[u8]) -> Vec<u8> {
        let mut code = vec![0x53, 0xe8, 0, 0, 0, 0];
        code.resize(16, 0x90);
        code.extend([0x48, 0x83, 0xec, 0x20, 0x90]);
        code.extend(rest);
        code
    }

    #[test]
    fn aligned_code_behind_a_call_is_a_function_unless_it_is_a_loop() {
        let function = code_behind_a_call(&[0xc3]);
        assert_eq!(caller_where(&function, 20, 0).unwrap().1, Addr::new(0x8028));
        assert_eq!(caller_where(&function, 20, 1).unwrap().1, Addr::new(0x8030), "second choice");
        let loops = code_behind_a_call(&[0x75, 0xf9, 0xc3]);
        assert_eq!(caller_where(&loops, 20, 1).unwrap().1, Addr::new(0x8030), "jne back to 16");
        assert!(caller_where(&loops, 20, 0).is_none());
    }

    #[test]
    fn pushes_and_a_moved_stack_pointer_are_undone() {
        // push %rbx; sub $0x10,%rsp; nop
        let code = [0x53, 0x48, 0x83, 0xec, 0x10, 0x90];
        let (regs, cfa) = caller(&code, 5).unwrap();
        assert_eq!(cfa, Addr::new(0x8020));
        assert_eq!(regs.pc(), Addr::new(0x103), "third word above the locals");
        assert_eq!(regs.get(RegisterId(3)), Some(0x102), "rbx as pushed");
        assert_eq!(caller(&code, 0).unwrap().1, Addr::new(0x8008), "at entry");
    }

    #[test]
    fn code_behind_an_early_return_has_the_state_of_the_branch_to_it() {
        // push %rbx; je to the mov; push %rax; pop %rax; pop %rbx; ret; nop; mov %eax,%eax; nop
        let code = [0x53, 0x74, 0x05, 0x50, 0x58, 0x5b, 0xc3, 0x90, 0x89, 0xc0, 0x90];
        let (regs, cfa) = caller(&code, 10).unwrap();
        assert_eq!(cfa, Addr::new(0x8010));
        assert_eq!(regs.get(RegisterId(3)), Some(0x100));
    }

    #[test]
    fn a_function_without_a_symbol_begins_where_the_one_before_it_ends() {
        // push %rbx; pop %rbx; ret; nop; sub $0x18,%rsp; nop
        let code = [0x53, 0x5b, 0xc3, 0x90, 0x48, 0x83, 0xec, 0x18, 0x90];
        let (regs, cfa) = caller(&code, 8).unwrap();
        assert_eq!(cfa, Addr::new(0x8020));
        assert_eq!(regs.get(RegisterId(3)), None, "rbx was not saved here, and is as it was");
    }

    /// Boost.Context's `jump_fcontext`, 1.61 to 1.80, without what saves floating-point registers.
    const SWITCH: &[u8] = &[
        0x48, 0x8d, 0x64, 0x24, 0xc8, // lea -0x38(%rsp),%rsp
        0x4c, 0x89, 0x64, 0x24, 0x08, // mov %r12,0x8(%rsp)
        0x48, 0x89, 0x5c, 0x24, 0x28, // mov %rbx,0x28(%rsp)
        0x48, 0x89, 0xe0, // mov %rsp,%rax
        0x48, 0x89, 0xfc, // mov %rdi,%rsp
        0x4c, 0x8b, 0x44, 0x24, 0x38, // mov 0x38(%rsp),%r8
        0x4c, 0x8b, 0x64, 0x24, 0x08, // mov 0x8(%rsp),%r12
        0x48, 0x8b, 0x5c, 0x24, 0x28, // mov 0x28(%rsp),%rbx
        0x48, 0x8d, 0x64, 0x24, 0x40, // lea 0x40(%rsp),%rsp
        0x41, 0xff, 0xe0, // jmp *%r8
    ];

    /// bRPC's `bthread_jump_fcontext`, which is that of 1.60 and before: the stack to go to is the second
    /// argument.
    const PUSHING_SWITCH: &[u8] = &[
        0x55, 0x53, 0x41, 0x57, 0x41, 0x56, 0x41, 0x55, 0x41, 0x54, // push %rbp … %r12
        0x48, 0x8d, 0x64, 0x24, 0xf8, // lea -0x8(%rsp),%rsp
        0x48, 0x83, 0xf9, 0x00, // cmp $0,%rcx
        0x74, 0x08, // je
        0x0f, 0xae, 0x1c, 0x24, 0xd9, 0x7c, 0x24, 0x04, // stmxcsr (%rsp); fnstcw 4(%rsp)
        0x48, 0x89, 0x27, // mov %rsp,(%rdi)
        0x48, 0x89, 0xf4, // mov %rsi,%rsp
        0x48, 0x8d, 0x64, 0x24, 0x08, // lea 0x8(%rsp),%rsp
        0x41, 0x5c, 0x41, 0x5d, 0x41, 0x5e, 0x41, 0x5f, 0x5b, 0x5d, // pop %r12 … %rbp
        0x41, 0x58, // pop %r8
        0x48, 0x89, 0xd0, // mov %rdx,%rax
        0x41, 0xff, 0xe0, // jmp *%r8
    ];

    #[test]
    fn a_switch_that_pushes_is_undone_at_each_instruction() {
        for (at, above) in [(0, 0), (1, 1), (2, 2), (8, 5), (10, 6), (15, 7), (19, 7), (32, 7)] {
            let (regs, cfa) = caller(PUSHING_SWITCH, at).unwrap();
            assert_eq!((cfa.get(), regs.pc().get()), (0x8008 + 8 * above, 0x100 + above), "{at}");
        }
        let (regs, cfa) = caller(PUSHING_SWITCH, 35).unwrap();
        let saved = [12, 13, 14, 15, 3, 6].map(|number| regs.get(RegisterId(number)));
        assert_eq!(saved, [1, 2, 3, 4, 5, 6].map(|word| Some(0x100 + word)), "of the other stack");
        assert_eq!((cfa.get(), regs.pc().get()), (0x8040, 0x107));
        let (regs, cfa) = caller(PUSHING_SWITCH, 44).unwrap();
        assert_eq!((cfa.get(), regs.get(RegisterId(12))), (0x8028, None), "r12 to r14 are back");
    }

    #[test]
    fn a_switch_has_its_caller_on_the_stack_that_it_is_on() {
        let found = |at| {
            let (regs, cfa) = caller(SWITCH, at).unwrap();
            let saved = [regs.get(RegisterId(12)), regs.get(RegisterId(3))];
            (cfa.get(), regs.pc().get(), saved)
        };
        assert_eq!(found(0), (0x8008, 0x100, [None, None]), "registers are as they were");
        assert_eq!(found(18), (0x8040, 0x107, [None, None]), "not left yet");
        assert_eq!(found(21), (0x8040, 0x107, [Some(0x101), Some(0x105)]), "on the other stack");
        assert_eq!(found(31), (0x8040, 0x107, [None, Some(0x105)]), "r12 was loaded");
        assert_eq!(found(36), (0x8040, 0x107, [None, None]));
    }

    #[test]
    fn a_realigned_stack_is_found_by_its_frame_pointer() {
        // push %rbp; mov %rsp,%rbp; and $-16,%rsp; nop
        let code = [0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xe4, 0xf0, 0x90];
        let (regs, cfa) = caller(&code, 8).unwrap();
        assert_eq!(cfa, Addr::new(0x8050));
        assert_eq!(regs.get(RBP), Some(0x108));
    }

    #[test]
    fn a_pc_inside_an_instruction_is_no_place_to_trace_to() {
        assert!(caller(&[0x48, 0x83, 0xec, 0x10, 0x90], 2).is_none());
        assert!(caller(&[0x53], 40).is_none());
    }
}
