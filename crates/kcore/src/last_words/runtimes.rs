//! What runtimes know of the end of the process.

use std::sync::Arc;

use kcore_runtimes::{DyingStack, Ending, NativeStack};
use kcore_unwind::Tid;

use super::{DyingFrame, LastWords};
use crate::{Core, Stack};

/// What they know, given the stack of the thread that died.
pub fn find(core: &Core, tid: Tid, stack: &Stack, frames: &[DyingFrame]) -> Vec<LastWords> {
    let functions: Vec<Arc<str>> = frames.iter().map(|frame| frame.function.clone()).collect();
    let stack =
        NativeStack { thread: Some(tid), task: None, frames: &stack.frames, end: stack.end };
    let dying = DyingStack { stack, functions: &functions };
    core.runtimes().end(core, &dying).into_iter().map(told).collect()
}

fn told(ending: Ending) -> LastWords {
    let texts = |texts: Vec<Arc<str>>| texts.iter().map(|text| text.to_string()).collect();
    match ending {
        Ending::Exception { fate, type_name, message, signal, object, trace } => {
            LastWords::Exception {
                fate,
                type_name: type_name.to_string(),
                what: message.map(|message| message.to_string()),
                signal: signal.map(|signal| signal.to_string()),
                object,
                trace: texts(trace),
            }
        }
        Ending::Fatal { message, trace } => {
            LastWords::Fatal { message: message.to_string(), trace: texts(trace) }
        }
    }
}
