//! Roots of a dump.

use std::io;

use kcore_mem::Addr;

use super::{Dump, DumpedStack, HeapDumpError, output::Parts, stacks::DumpedThread};
use crate::{
    graph::Root,
    java::roots::{CLASS, EXCEPTION, JNI_GLOBAL, JNI_LOCAL, REGISTER, STACK},
    objects::Watch,
};

const ROOT_JNI_GLOBAL: u8 = 0x01;
const ROOT_JNI_LOCAL: u8 = 0x02;
const ROOT_JAVA_FRAME: u8 = 0x03;
const ROOT_STICKY_CLASS: u8 = 0x05;
const ROOT_THREAD_OBJECT: u8 = 0x08;
/// The number of a frame that is not known.
const NO_FRAME: u32 = u32::MAX;

impl Dump<'_> {
    /// Threads, references of native code, classes that are never unloaded, and words of stacks.
    pub(super) fn write_roots(
        &mut self,
        threads: &[DumpedThread],
        stacks: &[DumpedStack],
        watch: Watch<'_>,
    ) -> Result<(), HeapDumpError> {
        for thread in threads {
            let mut body = vec![ROOT_THREAD_OBJECT];
            body.id(Some(thread.object));
            body.u4(thread.serial);
            body.u4(thread.trace);
            self.root(&body)?;
        }
        let mut found = Vec::new();
        let (java, host) = (self.java, self.host);
        java.each_root(host, &self.starts, watch, &mut |root| found.push(root))?;
        for root in found {
            if let Some(body) = body(threads, stacks, &root) {
                self.root(&body)?;
            }
        }
        Ok(())
    }

    fn root(&mut self, body: &[u8]) -> io::Result<()> {
        self.told.roots = self.told.roots.saturating_add(1);
        self.out.part(body)
    }
}

fn body(threads: &[DumpedThread], stacks: &[DumpedStack], root: &Root) -> Option<Vec<u8>> {
    let word = root.kind.word;
    let mut body = Vec::new();
    let of = |tid| {
        threads.iter().find_map(|thread| {
            let stack = stacks.get(thread.stack?)?;
            (stack.thread == tid).then_some((thread.serial, stack))
        })
    };
    match word {
        _ if word == JNI_GLOBAL.word => {
            body.u1(ROOT_JNI_GLOBAL);
            body.id(Some(root.to));
            body.id(root.at);
        }
        _ if word == CLASS.word => {
            body.u1(ROOT_STICKY_CLASS);
            body.id(Some(root.to));
        }
        _ if [JNI_LOCAL, STACK, REGISTER, EXCEPTION].iter().any(|kind| kind.word == word) => {
            let (serial, stack) = of(root.thread?)?;
            let is_local = word == JNI_LOCAL.word;
            body.u1(if is_local { ROOT_JNI_LOCAL } else { ROOT_JAVA_FRAME });
            body.id(Some(root.to));
            body.u4(serial);
            body.u4(root.at.filter(|_| !is_local).map_or(NO_FRAME, |at| frame_of(stack, at)));
        }
        // Threads were told, and other classes are kept by their loaders.
        _ => return None,
    }
    Some(body)
}

/// The number of the frame of Java in whose memory a word lies.
fn frame_of(stack: &DumpedStack, at: Addr) -> u32 {
    let holds = |end: &Option<Addr>| end.is_some_and(|end| at < end);
    let index = stack.frames.iter().position(|(_, end)| holds(end));
    index.and_then(|index| u32::try_from(index).ok()).unwrap_or(NO_FRAME)
}
