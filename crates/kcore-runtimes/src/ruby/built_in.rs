//! Objects of classes that MRI brings: `include/ruby/internal/core/rtypeddata.h`, `proc.c`, `vm_core.h` (`rb_proc_t`),
//! `time.c`, `include/ruby/io.h`, `error.c`.

use kcore_mem::Addr;

use super::{
    heap::{Heap, Object, STRING},
    value::{Teller, elided, note, of_parts},
    version::Version,
};
use crate::{ScriptLabel, ScriptNode, ScriptPart, ScriptScalar};

/// `typed_flag` and `data` of `struct RTypedData`; the bit of those that have their data in them.
const TYPED: u64 = 24;
const BEHIND: u64 = 32;
const EMBEDDED: u64 = 2;
/// `code`, `type` of `struct rb_block`, and the flags behind it.
const CODE: u64 = 16;
const BLOCK_KIND: u64 = 24;
const FLAGS: u64 = 32;
const LAMBDA: u64 = 2;
/// `fptr` of `struct RFile`; `fd` of `rb_io_t` behind `self`, which is new in 3.0; `pathv` since 3.3, and before.
const CONTENT: u64 = 16;
const DESCRIPTOR: u64 = 16;
const PATHS: [u64; 2] = [24, 32];
/// `fd` and `pathv` of 2.7.
const OLD_DESCRIPTOR: u64 = 8;
const OLD_PATH: u64 = 24;
/// Nanoseconds of a millisecond.
const MILLISECOND: i64 = 1_000_000;

impl Teller<'_> {
    /// An object of C code, of which those of some classes are known.
    pub(super) fn data(&self, object: Object) -> ScriptNode {
        let class = self.heap.class_of(object).and_then(|class| self.heap.real_class(class));
        let is = |name| class.is_some_and(|class| self.heap.descends(class, name));
        let known = match () {
            () if is("Proc") => self.proc(object),
            () if is("Time") => self.time(object),
            () => None,
        };
        known.unwrap_or_else(|| note("object", "an object of C code"))
    }

    /// A block that became an object: its place in the program.
    fn proc(&self, object: Object) -> Option<ScriptNode> {
        let block = self.heap.data(object)?;
        (self.heap.uint(block, BLOCK_KIND, 4)? == 0).then_some(())?;
        let code = self.heap.code(self.heap.pointer(block, CODE)?)?;
        let is_lambda = self.heap.uint(block, FLAGS, 1)? & LAMBDA != 0;
        let word = if is_lambda { "lambda" } else { "proc" };
        let (file, line) = (Some(code.file), code.first_line);
        Some(ScriptNode::scalar("proc", ScriptScalar::Function { word, name: None, file, line }))
    }

    /// `timew` of `struct time_object` counts nanoseconds.
    fn time(&self, object: Object) -> Option<ScriptNode> {
        let word = self.heap.word(self.heap.data(object)?, 0)?;
        (word & 1 != 0).then_some(())?;
        let milliseconds = (word.cast_signed() >> 1).div_euclid(MILLISECOND);
        #[allow(clippy::cast_precision_loss)]
        let since_1970 = milliseconds as f64;
        Some(ScriptNode::scalar("time", ScriptScalar::Time(since_1970)))
    }

    /// A file: its path, or else its descriptor.
    pub(super) fn io(&self, object: Object) -> ScriptNode {
        let Some((descriptor, path)) = self.heap.file(object) else {
            return note("io", "a file that is closed, or cannot be read");
        };
        let text = path.unwrap_or_else(|| format!("fd {descriptor}"));
        ScriptNode::scalar("io", ScriptScalar::Note(text.into()))
    }

    /// An exception: its message, and then its cause and its own variables.
    pub(super) fn exception(&self, object: Object, depth: u32) -> Option<ScriptNode> {
        let exception = self.heap.exception(object.at.get())?;
        let message = exception.message.unwrap_or(exception.class);
        let Some(depth) = self.deeper(depth) else { return Some(elided("exception", 1)) };
        let text = ScriptNode::text(message);
        let mut parts = vec![ScriptPart::new(ScriptLabel::Fact("message"), text)];
        if let Some(cause) = exception.cause {
            let cause = self.node(cause.get(), depth);
            parts.push(ScriptPart::new(ScriptLabel::Fact("cause"), cause));
        }
        let own = self.heap.variables(object).unwrap_or_default();
        let own = own.into_iter().filter(|(name, _)| name.starts_with('@'));
        parts.extend(own.map(|(name, value)| {
            ScriptPart::new(ScriptLabel::Name(name), self.node(value, depth))
        }));
        let length = parts.len() as u64;
        Some(of_parts("exception", parts, length))
    }
}

impl Heap<'_> {
    /// Where the data of an object of C code lie.
    pub fn data(&self, object: Object) -> Option<Addr> {
        let may_hold = self.layout.version >= Version::new(3, 3);
        let flags = self.word(object.at, TYPED)?;
        match may_hold && flags & !3 == 0 && flags & EMBEDDED != 0 {
            true => object.at.checked_add(BEHIND),
            false => self.pointer(object.at, BEHIND),
        }
    }

    /// The descriptor of an open file, and its path where it has one.
    pub fn file(&self, object: Object) -> Option<(i64, Option<String>)> {
        let content = self.pointer(object.at, CONTENT)?;
        let string = |offset| self.field(content, offset, STRING);
        let (descriptor, path) = match self.layout.version >= Version::new(3, 0) {
            true => {
                (self.word(content, 0)? == object.at.get()).then_some(())?;
                (DESCRIPTOR, PATHS.into_iter().find_map(string))
            }
            false => {
                let path = string(OLD_PATH);
                let has_none = self.word(content, OLD_PATH)? == self.layout.nil;
                (has_none || path.is_some()).then_some(())?;
                (OLD_DESCRIPTOR, path)
            }
        };
        let descriptor = self.uint(content, descriptor, 4)?;
        let descriptor = i64::from(u32::try_from(descriptor).ok()?.cast_signed());
        (descriptor >= 0).then_some(())?;
        Some((descriptor, path.and_then(|path| self.text(path.at.get()))))
    }
}
