//! What an allocator noted of a block as a record.

use kcore::native_heap::BlockEvent;
use kcore::{Addr, CodeAddr, Core, Location};
use kcore_dcmd::{Cell, Fields, Record, View};

const VIEW: &str =
    "    {event} by {who}{frames^, from a stack that cannot be read}{frames*\n        {.}}";

/// Who allocated or freed a block, and from which stack.
pub struct EventRecord {
    block: Addr,
    event: BlockEvent,
    /// What runs at each address of the stack, inlined calls first.
    frames: Vec<(CodeAddr, Location)>,
}

impl EventRecord {
    /// Of an event of a block.
    pub fn new(core: &Core, block: Addr, event: BlockEvent) -> Self {
        let pcs = event.stack.iter().flatten();
        let of_pc = |pc: &CodeAddr| -> Vec<(CodeAddr, Location)> {
            core.symbols().locations(*pc).iter().map(|it| (*pc, it.clone())).collect()
        };
        Self { block, frames: pcs.flat_map(of_pc).collect(), event }
    }

    /// The thread, by the system's number where that is known, and by the allocator's own.
    fn who(&self) -> String {
        let number = self.event.number;
        match self.event.thread {
            Some(tid) => format!("thread {tid} (T{number})"),
            None => format!("thread T{number}, whose number in the system is not known"),
        }
    }
}

fn frame_cell((pc, location): &(CodeAddr, Location)) -> Cell<'static> {
    let text =
        |it: Option<&std::sync::Arc<str>>| Cell::or_null(it, |it| Cell::text(it.to_string()));
    Cell::Object(vec![
        ("pc", Cell::Addr(pc.addr())),
        ("function", text(location.function.as_ref())),
        ("module", text(location.module.as_ref())),
        ("file", text(location.file.as_ref())),
        ("line", Cell::or_null(location.line, |line| Cell::Num(line.into()))),
        ("inline", Cell::Bool(location.inline)),
    ])
}

impl Record for EventRecord {
    fn kind(&self) -> &'static str {
        "block_event"
    }

    fn view(&self) -> View {
        View::Line(VIEW)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let stack = self.event.stack.as_ref();
        let texts = self.frames.iter().map(|(_, location)| Cell::text(location.to_string()));
        out.addr("block", self.block)
            .text("event", self.event.kind.as_str())
            .num("thread", self.event.thread.map(|tid| u64::from(tid.get())))
            .num("number", u64::from(self.event.number))
            .put(
                "stack",
                Cell::or_null(stack, |_| Cell::List(self.frames.iter().map(frame_cell).collect())),
            )
            .display("who", Cell::text(self.who()))
            .display("frames", Cell::List(texts.collect()));
    }
}
