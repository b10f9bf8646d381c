//! The stack of a bthread as bRPC's own page `/bthreads/ID?st=1` prints it, so that both can be compared.

use kcore::{MAX_FRAMES, bthread::Bthread};
use kcore_dcmd::{Cell, Cx, Fields, Record, Result, View};

use super::subject::task;

/// Emits the frames of a bthread, innermost first.
pub fn emit(cx: &mut Cx<'_>, bthread: &Bthread) -> Result<()> {
    let core = cx.core();
    let Some(task) = task(core, bthread) else { return Ok(()) };
    let stack = core.stacks().of_task(task, MAX_FRAMES);
    for frame in core.stacks().named_frames(&stack) {
        let Some(pc) = frame.pc().map(|pc| pc.addr().get()) else { continue };
        let function = frame.location.function.as_deref().unwrap_or("<unknown>").to_owned();
        cx.emit(&Line { bthread: bthread.id, index: frame.index as u64, pc, function })?;
    }
    Ok(())
}

struct Line {
    bthread: u64,
    index: u64,
    pc: u64,
    function: String,
}

impl Record for Line {
    fn kind(&self) -> &'static str {
        "bthread_frame"
    }

    fn view(&self) -> View {
        View::Line("#{index} {shown_pc} {function}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.hex("bthread", self.bthread)
            .num("index", self.index)
            .hex("pc", self.pc)
            .text("function", self.function.as_str())
            .display("shown_pc", Cell::text(format!("{:#018x}", self.pc)));
    }
}
