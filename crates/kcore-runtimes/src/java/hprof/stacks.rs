//! Stacks of a dump.

use std::io;

use kcore_mem::Addr;

use super::{
    Dump, DumpedStack,
    classes::NO_TRACE,
    output::{FRAME, Parts, TRACE},
};
use crate::LanguageFrame;

/// The line of a frame of native code, and of one without a line.
const NATIVE_LINE: i32 = -3;
const NO_LINE: i32 = -1;

/// A thread of the dump.
pub(super) struct DumpedThread {
    /// The object that it is.
    pub object: Addr,
    /// Its number, and that of its trace.
    pub serial: u32,
    pub trace: u32,
    /// Its stack, among those that were told.
    pub stack: Option<usize>,
}

impl Dump<'_> {
    /// The traces of threads, and of virtual threads that no thread runs.
    pub(super) fn write_stacks(&mut self, stacks: &[DumpedStack]) -> io::Result<Vec<DumpedThread>> {
        self.trace(NO_TRACE, 0, &[])?;
        let mut told: Vec<DumpedThread> = Vec::new();
        let (java, host) = (self.java, self.host);
        for thread in &java.threads(host).all {
            let Some(object) = thread.object else { continue };
            let stack = stacks.iter().position(|stack| Some(stack.thread) == thread.tid);
            let frames = stack.and_then(|stack| stacks.get(stack));
            let frames: Vec<&LanguageFrame> =
                frames.into_iter().flat_map(|it| &it.frames).map(|(frame, _)| frame).collect();
            let serial = self.thread(&mut told, object, stack);
            self.trace(serial.saturating_add(NO_TRACE), serial, &frames)?;
        }
        for thread in java.virtual_threads(host) {
            if thread.thread.is_some() {
                continue;
            }
            let frames = java.virtual_frames(host, thread);
            let frames: Vec<&LanguageFrame> = frames.iter().collect();
            let serial = self.thread(&mut told, thread.object, None);
            self.trace(serial.saturating_add(NO_TRACE), serial, &frames)?;
        }
        self.told.stacks = told.len() as u64;
        Ok(told)
    }

    fn thread(&self, told: &mut Vec<DumpedThread>, object: Addr, stack: Option<usize>) -> u32 {
        let serial = u32::try_from(told.len()).unwrap_or(u32::MAX).saturating_add(1);
        told.push(DumpedThread { object, serial, trace: serial.saturating_add(NO_TRACE), stack });
        serial
    }

    fn trace(&mut self, trace: u32, thread: u32, frames: &[&LanguageFrame]) -> io::Result<()> {
        let mut body = Vec::new();
        body.u4(trace);
        body.u4(thread);
        body.u4(u32::try_from(frames.len()).unwrap_or_default());
        for (index, frame) in (0_u64..).zip(frames) {
            let number = (u64::from(trace) << 32).saturating_add(index);
            self.frame(number, frame)?;
            body.u8(number);
        }
        self.out.record(TRACE, &body)
    }

    fn frame(&mut self, number: u64, frame: &LanguageFrame) -> io::Result<()> {
        let method = frame.object.and_then(|at| self.java.method(self.host.space(), at));
        let method = method.as_deref();
        let name = method.map_or("<unknown>", |method| &method.name);
        let signature = method.map_or("", |method| &method.signature);
        let mut body = Vec::new();
        body.u8(number);
        body.u8(self.out.text(name)?);
        body.u8(self.out.text(signature)?);
        body.u8(match frame.file.as_deref() {
            Some(file) => self.out.text(file)?,
            None => 0,
        });
        let class = method.and_then(|method| self.serials.get(&method.class));
        body.u4(class.copied().unwrap_or_default());
        let is_native = method.is_some_and(|method| method.is_native());
        let line = frame.line.and_then(|line| i32::try_from(line).ok());
        let line = line.unwrap_or(if is_native { NATIVE_LINE } else { NO_LINE });
        body.u4(line.cast_unsigned());
        self.out.record(FRAME, &body)
    }
}
