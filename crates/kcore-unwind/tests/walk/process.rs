//! A process made in code: text, a stack, unwind tables.

use std::sync::Arc;

use gimli::write::{
    Address, CallFrameInstruction, CommonInformationEntry, EhFrame, EndianVec, Expression,
    FrameDescriptionEntry, FrameTable,
};
use gimli::{LittleEndian, X86_64};
use kcore_mem::{Addr, AddrRange, AddressSpace, Budget, Fault, Origin, Region, Svma, Target};
use kcore_unwind::{
    Cfi, CfiBuilder, End, Flow, Frame, Modules, Phase, RegisterId, Regs, RuleFrame, RuleStep,
    StepRule, Walker,
    in_place::{Room, Tables, TablesBuilder},
    machine,
};

/// Where the text begins; functions are 0x100 apart.
pub const TEXT: u64 = 0x40_0000;
/// Where the stack begins, and its size in words.
pub const STACK: u64 = 0x7f00_0000_0000;
const STACK_WORDS: usize = 4096;
/// Where another stack begins, in a mapping of its own.
pub const LOWER_STACK: u64 = 0x7e00_0000_0000;

pub const RBP: RegisterId = RegisterId(6);
pub const RSP: RegisterId = RegisterId(7);
pub const RBX: RegisterId = RegisterId(3);

/// What is written of a function into the unwind table.
pub enum Unwind {
    /// CFA = rsp + the number of bytes, the return address right below it.
    Plain(i32),
    /// The same, and rbx saved this far below the CFA.
    SavingRbx(i32, i32),
    /// CFA = rbp + 16, rbp and the return address below it, and rsp lost.
    LosingRsp,
    /// CFA = the word to which rsp + the number of bytes points.
    Dereference(i64),
    /// A signal trampoline: pc and rsp in the two words at rsp.
    Signal,
    /// CFA = rbp, and nothing of the return address.
    CfaAlone,
    /// No caller.
    Outermost,
    /// Nothing is written.
    None,
}

/// The process.
#[derive(Default)]
pub struct Process {
    text: Vec<u8>,
    stack: Vec<u8>,
    lower_stack: Vec<u8>,
    cfi: Option<Arc<Cfi>>,
    entry: Option<Addr>,
    first_on_stack: Option<AddrRange>,
    text_is_lost: bool,
    made_at_run_time: Option<u64>,
    has_no_symbols: bool,
}

impl Process {
    /// A process whose function number i is unwound as the i-th of `functions` says. Its text is
    /// calls throughout, so that any place can be a return address.
    pub fn new(functions: &[Unwind]) -> Self {
        let text = [0xff, 0xd0].repeat(functions.len() * 0x80);
        let cfi = Some(Arc::new(table(functions).build()));
        Self { text, stack: vec![0; STACK_WORDS * 8], cfi, ..Self::default() }
    }

    /// The same, whose unwind table is read within a budget.
    pub fn within(functions: &[Unwind], budget: &Budget) -> Self {
        let cfi = Some(Arc::new(table(functions).within(budget).build()));
        Self { cfi, ..Self::new(functions) }
    }

    /// Function 2 was interrupted at its start, and function 1, which has no unwind information, is the restorer
    /// that the handler, function 0, returns to.
    pub fn interrupted_before_a_restorer() -> Self {
        // mov $15,%rax; syscall
        let restorer = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];
        let mut context = vec![0; 5 + 23];
        context[5 + 15] = STACK + 8 * 200;
        context[5 + 16] = Self::function(2, 0);
        Self::new(&[Unwind::Plain(8), Unwind::None, Unwind::Plain(8), Unwind::Outermost])
            .code(1, &restorer)
            .words(0, &[Self::function(1, 0)])
            .words(1, &context)
            .words(200, &[Self::function(3, 4)])
    }

    /// The address `offset` bytes into function number `index`.
    pub fn function(index: u64, offset: u64) -> u64 {
        TEXT + index * 0x100 + offset
    }

    /// Puts code at the start of a function.
    pub fn code(mut self, index: u64, code: &[u8]) -> Self {
        let start = index as usize * 0x100;
        self.text[start..start + code.len()].copy_from_slice(code);
        self
    }

    /// Says that a function was made at run time, and belongs to no module.
    pub fn made_at_run_time(mut self, index: u64) -> Self {
        self.made_at_run_time = Some(index);
        self
    }

    /// Strips the symbols.
    pub fn without_symbols(mut self) -> Self {
        self.has_no_symbols = true;
        self
    }

    /// Leaves the text out of the core; its files are elsewhere.
    pub fn without_text(mut self) -> Self {
        self.text_is_lost = true;
        self
    }

    /// Puts words on the stack, from its word number `at` on.
    pub fn words(mut self, at: usize, words: &[u64]) -> Self {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.stack[at * 8..at * 8 + bytes.len()].copy_from_slice(&bytes);
        self
    }

    /// Puts words at the beginning of the other stack.
    pub fn lower_words(mut self, words: &[u64]) -> Self {
        self.lower_stack = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self
    }

    /// Puts a call of the function number `callee` at the start of a function; the call returns to offset 5.
    pub fn call(self, index: u64, callee: u64) -> Self {
        let distance = Self::function(callee, 0).wrapping_sub(Self::function(index, 5)) as u32;
        self.code(index, &[&[0xe8], &distance.to_le_bytes()[..]].concat())
    }

    /// Says where every stack begins.
    pub fn entry(mut self, at: u64) -> Self {
        self.entry = Some(Addr::new(at));
        self
    }

    /// Says of a function that it leaves the stack that it was called on.
    pub fn first_on_stack(mut self, index: u64) -> Self {
        let start = Addr::new(Self::function(index, 0));
        self.first_on_stack = Some(AddrRange::with_len(start, 0x100));
        self
    }

    /// Walks from `pc`, the stack pointer at the stack's word number `at`.
    pub fn walk(&self, pc: u64, at: u64) -> (Vec<(Frame, Regs)>, End) {
        self.walk_with(pc, at, 1000, |_| {})
    }

    /// The same with a limit, and other registers set.
    pub fn walk_with(
        &self,
        pc: u64,
        at: u64,
        limit: usize,
        set: impl FnOnce(&mut Regs),
    ) -> (Vec<(Frame, Regs)>, End) {
        let mut regs = Regs::new(Addr::new(pc));
        regs.set(RSP, Some(STACK + at * 8));
        set(&mut regs);
        let machine = machine(Target::X86_64, None).unwrap();
        frames_of(Walker::new(self, self, &*machine), &regs, limit)
    }

    /// The same, where a rule steps out of functions 0 and 1 by frame pointers.
    pub fn walk_by_rule(&self, pc: u64, at: u64, fp: u64) -> (Vec<(Frame, Regs)>, End) {
        let mut regs = Regs::new(Addr::new(pc));
        regs.set(RSP, Some(STACK + at * 8));
        regs.set(RBP, Some(STACK + fp * 8));
        let machine = machine(Target::X86_64, None).unwrap();
        let walker = Walker::new(self, self, &*machine).with_rule(Some(self));
        frames_of(walker, &regs, 1000)
    }
}

fn frames_of(mut walker: Walker<'_>, regs: &Regs, limit: usize) -> (Vec<(Frame, Regs)>, End) {
    let mut frames = Vec::new();
    let end = walker.walk(regs, limit, &mut |frame, regs| {
        frames.push((*frame, *regs));
        Flow::Continue
    });
    (frames, end)
}

impl StepRule for Process {
    fn step(&self, phase: Phase, frame: &RuleFrame<'_>, caller: &mut Regs) -> Option<RuleStep> {
        let is_its = [0, 1].into_iter().any(|index| is_in(index, frame.pc.lookup()));
        (phase == Phase::BeforeCfi && is_its).then_some(())?;
        let fp = Addr::new(frame.regs.get(RBP)?);
        *caller = frame.regs.with_pc(self.read_addr(fp.wrapping_offset(8)).ok()?);
        caller.set(RBP, self.read_word(fp).ok());
        let cfa = fp.wrapping_offset(16);
        caller.set(RSP, Some(cfa.get()));
        Some(RuleStep::Caller { cfa, interrupted: false })
    }
}

impl Process {
    /// What a walk in place looks up.
    pub fn tables(&self) -> Tables {
        let range = AddrRange::with_len(Addr::new(TEXT), self.text.len() as u64);
        let tables = TablesBuilder::new(machine(Target::X86_64, None).unwrap(), vec![range]);
        tables.module(range, self.cfi.clone().unwrap()).build()
    }

    /// Walks as a handler would, in room for so many frames.
    pub fn walk_in_place(
        &self,
        pc: u64,
        at: u64,
        room: usize,
        set: impl FnOnce(&mut Regs),
    ) -> (Vec<Frame>, End) {
        let mut regs = Regs::new(Addr::new(pc));
        regs.set(RSP, Some(STACK + at * 8));
        set(&mut regs);
        let mut room = Room::new(room);
        let end = room.walk(&self.tables(), self, &regs);
        (room.frames().to_vec(), end)
    }
}

/// Whether `at` lies in function number `index`.
fn is_in(index: u64, at: Addr) -> bool {
    AddrRange::with_len(Addr::new(Process::function(index, 0)), 0x100).contains(at)
}

fn table(functions: &[Unwind]) -> CfiBuilder {
    let mut table = FrameTable::default();
    for (index, unwind) in functions.iter().enumerate() {
        if matches!(unwind, Unwind::None) {
            continue;
        }
        let mut cie = CommonInformationEntry::new(encoding(), 1, -8, X86_64::RA);
        cie.signal_trampoline = matches!(unwind, Unwind::Signal);
        instructions(unwind).into_iter().for_each(|rule| cie.add_instruction(rule));
        let cie = table.add_cie(cie);
        // The kernel pushes the trampoline's first byte as return address, so its entry begins one
        // byte before it, as glibc's does.
        let early = u64::from(matches!(unwind, Unwind::Signal));
        let start = Address::Constant(Process::function(index as u64, 0) - early);
        table.add_fde(cie, FrameDescriptionEntry::new(start, 0x100));
    }
    let mut section = EhFrame::from(EndianVec::new(LittleEndian));
    table.write_eh_frame(&mut section).unwrap();
    let bytes = section.slice().to_vec();
    CfiBuilder::new(Target::X86_64, 0).eh_frame(Arc::new(bytes), Svma::new(0x50_0000))
}

fn encoding() -> gimli::Encoding {
    gimli::Encoding { address_size: 8, format: gimli::Format::Dwarf32, version: 1 }
}

fn instructions(unwind: &Unwind) -> Vec<CallFrameInstruction> {
    use CallFrameInstruction as Rule;
    let ra = Rule::Offset(X86_64::RA, -8);
    match unwind {
        Unwind::Plain(offset) => vec![Rule::Cfa(X86_64::RSP, *offset), ra],
        Unwind::LosingRsp => vec![
            Rule::Cfa(X86_64::RBP, 16),
            ra,
            Rule::Offset(X86_64::RBP, -16),
            Rule::Undefined(X86_64::RSP),
        ],
        Unwind::SavingRbx(offset, below) => {
            vec![Rule::Cfa(X86_64::RSP, *offset), ra, Rule::Offset(X86_64::RBX, -below)]
        }
        Unwind::Dereference(offset) => vec![Rule::CfaExpression(word_at(*offset)), ra],
        Unwind::Signal => {
            vec![Rule::CfaExpression(word_at(8)), Rule::ValExpression(X86_64::RA, word_at(0))]
        }
        Unwind::CfaAlone => vec![Rule::Cfa(X86_64::RBP, 0)],
        Unwind::Outermost => vec![Rule::Cfa(X86_64::RSP, 8), Rule::Undefined(X86_64::RA)],
        Unwind::None => Vec::new(),
    }
}

/// The word to which rsp plus `offset` points.
fn word_at(offset: i64) -> Expression {
    let mut expression = Expression::new();
    expression.op_breg(X86_64::RSP, offset);
    expression.op_deref();
    expression
}

impl AddressSpace for Process {
    fn target(&self) -> Target {
        Target::X86_64
    }

    fn slice(&self, at: Addr) -> Result<&[u8], Fault> {
        if let Some(offset) = at.offset_from(Addr::new(STACK)) {
            let held = self.stack.get(offset as usize..).filter(|held| !held.is_empty());
            return held.ok_or(Fault::NotDumped(at));
        }
        if let Some(offset) = at.offset_from(Addr::new(LOWER_STACK)) {
            let held = self.lower_stack.get(offset as usize..).filter(|held| !held.is_empty());
            return held.ok_or(Fault::NotDumped(at));
        }
        let offset = at.offset_from(Addr::new(TEXT)).filter(|offset| *offset < 0x10_0000);
        let text = offset.and_then(|offset| self.text.get(offset as usize..));
        let text = text.filter(|text| !text.is_empty()).ok_or(Fault::Unmapped(at))?;
        if self.text_is_lost { Err(Fault::NotDumped(at)) } else { Ok(text) }
    }

    fn origin(&self, at: Addr) -> Result<Origin, Fault> {
        self.slice(at).map(|_| Origin::Core)
    }

    fn regions(&self) -> Vec<Region> {
        Vec::new()
    }
}

impl Modules for Process {
    fn cfi_at(&self, at: Addr) -> Option<&Cfi> {
        self.is_in_module(at).then_some(self.cfi.as_deref()).flatten()
    }

    fn is_code(&self, at: Addr) -> bool {
        AddrRange::with_len(Addr::new(TEXT), self.text.len() as u64).contains(at)
    }

    fn is_in_module(&self, at: Addr) -> bool {
        self.is_code(at) && self.made_at_run_time.is_none_or(|index| !is_in(index, at))
    }

    fn function_before(&self, at: Addr) -> Option<AddrRange> {
        let start = at.get() & !0xff;
        let is_known = self.is_code(at) && !self.has_no_symbols;
        is_known.then(|| AddrRange::with_len(Addr::new(start), 0x100))
    }

    fn is_entry(&self, at: Addr) -> bool {
        self.entry.is_some_and(|entry| AddrRange::with_len(entry, 0x40).contains(at))
    }

    fn is_first_on_stack(&self, at: Addr) -> bool {
        self.first_on_stack.is_some_and(|function| function.contains(at))
    }
}
