//! Calls: `zend_execute_data` of `zend_compile.h`, read as `zend_fetch_debug_backtrace` of `zend_builtin_functions.c` does.

use std::sync::Arc;

use kcore_mem::Addr;
use rustc_hash::FxHashSet;

use super::{
    generator::delegating,
    memory::{Memory, OBJECT, pointer},
};

/// Calls of one stack, at most.
const MAX_FRAMES: usize = 1 << 20;
/// `opline`, `func`, `This`, its flags and `num_args`, and `prev_execute_data` of `zend_execute_data`.
const INSTRUCTION: u64 = 0;
const FUNCTION: u64 = 24;
pub const THIS: u64 = 32;
const FLAGS: u64 = 40;
const PASSED: u64 = 44;
const PREVIOUS: u64 = 48;
/// Where arguments and variables begin.
pub const VARIABLES: u64 = 80;
/// `ZEND_CALL_TOP`: an activation of the machine was begun for it.
const TOP: u64 = 1 << 17;
/// `type`, `function_name` and `scope` of `zend_function`.
const KIND: u64 = 0;
const NAME: u64 = 8;
const SCOPE: u64 = 16;
/// `ZEND_INTERNAL_FUNCTION`, `ZEND_USER_FUNCTION` and `ZEND_EVAL_CODE`.
const INTERNAL: u8 = 1;
const USER: u8 = 2;
const EVAL: u8 = 4;
/// Bytes of a `zend_op`, and its `extended_value`, `lineno` and `opcode`.
const OPERATION: u64 = 32;
const EXTENDED: u64 = 20;
const LINE: u64 = 24;
const OPCODE: u64 = 28;
/// `ZEND_HANDLE_EXCEPTION` and `ZEND_INCLUDE_OR_EVAL`.
const HANDLE_EXCEPTION: u8 = 149;
const INCLUDE: u8 = 73;
/// `ZEND_GENERATOR_CREATE`, `ZEND_YIELD` and `ZEND_YIELD_FROM`: what is stored is what comes behind them.
const GENERATOR_CREATE: u8 = 139;
const YIELDS: [u8; 2] = [160, 166];
/// The methods that resume fibers.
const RESUMING: [&str; 3] = ["Fiber->start", "Fiber->resume", "Fiber->throw"];
/// What is said where calls end before the outermost.
const DAMAGED: &str = "its calls are damaged, or were not dumped";

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// `zend_execute_data`.
    pub at: Addr,
    /// `zend_function`.
    pub function: Addr,
    /// What is called, as a trace of PHP spells it: `Account->pay`, `{main}`.
    pub name: Option<Arc<str>>,
    /// Where the code of PHP is; a function of C has none.
    pub code: Option<Code>,
    /// The code of a function of C.
    pub handler: Option<Addr>,
    /// Whether its function has no name: it is a file, or the bottom of the stack of a fiber.
    pub is_nameless: bool,
    /// Whether an activation of the machine was begun for it.
    pub is_top: bool,
    /// How many arguments were passed.
    pub passed: u64,
}

/// Where a call of code of PHP is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// The file.
    pub file: Option<Arc<str>>,
    /// The line of the instruction that was stored last.
    pub line: Option<u32>,
    /// The instructions.
    pub first: Addr,
    /// Behind them.
    pub end: Addr,
}

/// The calls of one stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// They, innermost first.
    pub frames: Vec<Frame>,
    /// Where the stacks of fibers end in them, by the frame at the bottom of each, and how many calls are inside of it.
    pub bottoms: Vec<(Addr, usize)>,
    /// Why they end before the outermost.
    pub broken: Option<&'static str>,
}

impl Memory<'_> {
    /// The calls from one on. `before_exception` is where `opline_before_exception` lies.
    pub fn chain(&self, innermost: Addr, before_exception: Option<Addr>) -> Chain {
        let mut chain = Chain::default();
        if self.walk(innermost, before_exception, &mut chain).is_none() {
            chain.broken = Some(DAMAGED);
        }
        self.name_files(&mut chain);
        chain
    }

    fn walk(&self, innermost: Addr, exception: Option<Addr>, chain: &mut Chain) -> Option<()> {
        let mut seen = FxHashSet::default();
        let mut next = Some(innermost);
        while let Some(at) = next {
            (seen.len() < MAX_FRAMES && seen.insert(at)).then_some(())?;
            match self.function(at)? {
                Some(function) => self.push(at, function, exception, chain)?,
                // The frame of a generator that others delegate to stands for those.
                None => {
                    let inner = chain.frames.last().map(|frame| frame.at);
                    for frame in delegating(self, at, inner) {
                        let function = self.function(frame)??;
                        self.push(frame, function, exception, chain)?;
                        // The activation that was begun for it runs the one that it delegates to.
                        chain.frames.last_mut()?.is_top = false;
                    }
                }
            }
            next = match self.word(at, PREVIOUS)? {
                0 => None,
                word => Some(pointer(word)?),
            };
        }
        Some(())
    }

    /// The function of a call; of some none. `None` where that cannot be read.
    #[allow(clippy::option_option)]
    fn function(&self, at: Addr) -> Option<Option<Addr>> {
        match self.word(at, FUNCTION)? {
            0 => Some(None),
            word => pointer(word).map(Some),
        }
    }

    fn push(
        &self,
        at: Addr,
        function: Addr,
        exception: Option<Addr>,
        chain: &mut Chain,
    ) -> Option<()> {
        let frame = self.frame(at, function, exception)?;
        // What stands at the bottom of the stack of a fiber has no name.
        match frame.code.is_none() && frame.is_nameless {
            true => chain.bottoms.push((at, chain.frames.len())),
            false => {
                let is_behind = chain.bottoms.last().is_some_and(|it| it.1 == chain.frames.len());
                (!is_behind || may_resume(&frame)).then_some(())?;
                chain.frames.push(frame);
            }
        }
        Some(())
    }

    /// A call of a function.
    fn frame(&self, at: Addr, function: Addr, exception: Option<Addr>) -> Option<Frame> {
        let kind = self.byte(function, KIND)?;
        let code = match kind {
            INTERNAL => None,
            USER | EVAL => Some(self.code(at, function, exception)?),
            _ => return None,
        };
        let handler = code.is_none().then(|| self.word(function, self.layout.handler)).flatten();
        Some(Frame {
            at,
            function,
            name: self.function_name(at, function),
            code,
            handler: handler.map(Addr::new),
            is_nameless: self.word(function, NAME)? == 0,
            is_top: self.uint(at, FLAGS, 4)? & TOP != 0,
            passed: self.uint(at, PASSED, 4)?,
        })
    }

    fn code(&self, at: Addr, function: Addr, exception: Option<Addr>) -> Option<Code> {
        let offsets = self.layout.code;
        let first = self.pointer(function, offsets.opcodes)?;
        let size = self.uint(function, offsets.count, 4)?.checked_mul(OPERATION)?;
        let file = self.pointer(function, offsets.file).and_then(|file| self.text(file));
        let line = self.instruction(at).and_then(|at| self.line_at(function, at, exception));
        Some(Code { file: file.map(Arc::from), line, first, end: first.checked_add(size)? })
    }

    /// The instruction that was stored last.
    fn instruction(&self, at: Addr) -> Option<Addr> {
        self.pointer(at, INSTRUCTION)
    }

    /// The line of an instruction; of what handles an exception that of what threw it.
    fn line_at(&self, function: Addr, at: Addr, exception: Option<Addr>) -> Option<u32> {
        if self.byte(at, OPCODE)? == HANDLE_EXCEPTION {
            let before = exception.and_then(|place| self.pointer(place, 0));
            return match before {
                Some(before) => self.line_of(before),
                None => self.number(function, self.layout.code.last_line),
            };
        }
        self.line_of(at)
    }

    /// The line of an instruction.
    pub fn line_of(&self, instruction: Addr) -> Option<u32> {
        self.number(instruction, LINE)
    }

    fn number(&self, at: Addr, offset: u64) -> Option<u32> {
        let number = self.uint(at, offset, 4).and_then(|number| u32::try_from(number).ok());
        number.filter(|number| *number > 0)
    }

    /// The class and the name of a function.
    fn function_name(&self, at: Addr, function: Addr) -> Option<Arc<str>> {
        let name = self.text(self.pointer(function, NAME)?)?;
        let this = self.value(at.checked_add(THIS)?)?.object(OBJECT);
        let class = self.pointer(function, SCOPE).or_else(|| self.class_of(this?));
        let class = class.and_then(|class| self.class_name(class));
        Some(match (class, this) {
            (None, _) => name.into(),
            (Some(class), Some(_)) => format!("{class}->{name}").into(),
            (Some(class), None) => format!("{class}::{name}").into(),
        })
    }

    /// Names the frames of whole files after what runs them: `include`, `require`, `eval`, or `{main}`.
    fn name_files(&self, chain: &mut Chain) {
        let outer: Vec<Option<&'static str>> =
            chain.frames.iter().skip(1).map(|frame| self.includes(frame)).collect();
        for (index, frame) in chain.frames.iter_mut().enumerate() {
            if frame.code.is_some() && frame.is_nameless {
                let word = outer.get(index).copied().flatten();
                let eval = || (self.byte(frame.function, KIND) == Some(EVAL)).then_some("eval");
                frame.name = Some(word.or_else(eval).unwrap_or("{main}").into());
            }
        }
    }

    /// The word by which a call includes a file: `ZEND_EVAL` and the like.
    fn includes(&self, frame: &Frame) -> Option<&'static str> {
        frame.code.as_ref()?;
        let instruction = self.instruction(frame.at)?;
        (self.byte(instruction, OPCODE)? == INCLUDE).then_some(())?;
        match self.uint(instruction, EXTENDED, 4)? {
            1 => Some("eval"),
            2 => Some("include"),
            4 => Some("include_once"),
            8 => Some("require"),
            16 => Some("require_once"),
            _ => None,
        }
    }

    /// The frame of a generator that is suspended: where it yielded, and whether it has begun.
    pub fn suspended(&self, at: Addr) -> Option<(Frame, bool)> {
        let mut frame = self.frame(at, self.function(at)??, None)?;
        let code = frame.code.as_mut()?;
        let before = Addr::new(self.instruction(at)?.get().checked_sub(OPERATION)?);
        (before >= code.first && before < code.end).then_some(())?;
        let opcode = self.byte(before, OPCODE)?;
        if YIELDS.contains(&opcode) {
            code.line = self.line_of(before);
        }
        // Code that the JIT made stores the instruction itself.
        let created = [Some(opcode), self.byte(self.instruction(at)?, OPCODE)];
        Some((frame, !created.contains(&Some(GENERATOR_CREATE))))
    }
}

/// Whether a call may have resumed a fiber: that of a function of C, and of the methods of fibers one of these. A process
/// that runs on while its calls are read may have made another call in their place.
fn may_resume(frame: &Frame) -> bool {
    let name = frame.name.as_deref().unwrap_or_default();
    let is_resuming = RESUMING.contains(&name) || !name.starts_with("Fiber");
    frame.code.is_none() && is_resuming
}

impl Code {
    /// Whether an address is that of one of the instructions.
    pub fn has_instruction(&self, at: Addr) -> bool {
        at >= self.first
            && at < self.end
            && at.offset_from(self.first).is_some_and(|offset| offset.is_multiple_of(OPERATION))
    }
}
