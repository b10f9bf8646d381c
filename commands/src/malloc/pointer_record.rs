//! A pointer from one block to another as a record.

use kcore::{
    Addr, Core, Tid,
    native_heap::{BlockPointer, BlockRoot, HeapHost},
};
use kcore_dcmd::{Cell, Dot, Fields, Record, View};

use super::block_record::BlockRecord;

/// A pointer to a block.
pub struct PointerRecord<'p> {
    pointer: &'p BlockPointer,
    block: BlockRecord,
    /// How many pointers are before it on its way; `None` where it is on none.
    depth: Option<u64>,
}

impl<'p> PointerRecord<'p> {
    /// Of a pointer.
    pub fn new(core: &Core, pointer: &'p BlockPointer, depth: Option<u64>) -> Self {
        Self { pointer, block: BlockRecord::of(core, pointer.block.clone()), depth }
    }
}

impl Record for PointerRecord<'_> {
    fn kind(&self) -> &'static str {
        "block_pointer"
    }

    fn view(&self) -> View {
        View::Line(
            "    {name_text}{address:x}{into?+{into:#x}} [{usable} bytes]{type_text? {type_text}}",
        )
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let pointer = self.pointer;
        let block = self.block.block();
        let into = pointer.to.offset_from(block.at).filter(|into| *into > 0);
        let name = match (&pointer.name, pointer.offset) {
            (Some(name), _) => format!("{name} = "),
            (None, Some(offset)) => format!("+{offset:#x} = "),
            (None, None) => String::new(),
        };
        out.num("depth", self.depth)
            .addr("address", block.at)
            .num("usable", block.usable)
            .addr("to", pointer.to)
            .addr("at", pointer.at)
            .num("offset", pointer.offset)
            .opt_text("name", pointer.name.as_deref())
            .opt_text("target_type", pointer.target_type.as_deref())
            .put("block", self.block.cell())
            .display("into", Cell::or_null(into, Cell::Hex))
            .display("name_text", Cell::text(name))
            .display("type_text", Cell::or_null(pointer.target_type.as_deref(), Cell::text));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.block.block().at))
    }
}

/// What a root is called that is a variable of a thread.
const LOCAL_DATA: &str = "thread-local data";

/// What a way begins with.
pub struct RootRecord {
    root: BlockRoot,
    symbol: Option<String>,
    /// The thread whose variable it is, of one that is thread-local.
    owner: Option<Tid>,
    /// Whether the thread-local data of its thread lies in the same mapping as the stack.
    has_local_data: bool,
}

impl RootRecord {
    /// Of a root.
    pub fn new(core: &Core, root: BlockRoot) -> Self {
        let symbol = match root {
            BlockRoot::Data(at) => core.symbols().at(at),
            _ => None,
        };
        // Behind its end lies what has no symbol.
        let symbol = symbol.filter(|symbol| symbol.sized && symbol.offset < symbol.size);
        let symbol = symbol.map(|symbol| (symbol.name.to_string(), symbol.offset));
        let local = core.variables().thread_local_of_root(root);
        let owner = local.as_ref().map(|local| local.tid);
        let symbol = local.map(|local| (local.name, local.offset)).or(symbol);
        let spelled = symbol.map(|(name, offset)| match offset {
            0 => name,
            offset => format!("{name}+{offset:#x}"),
        });
        Self { root, symbol: spelled, owner, has_local_data: has_local_data(core, root) }
    }

    const fn at(&self) -> Option<Addr> {
        match self.root {
            BlockRoot::Data(at) | BlockRoot::Stack(_, at) | BlockRoot::Memory(at) => Some(at),
            BlockRoot::Register(..) => None,
        }
    }
}

fn has_local_data(core: &Core, root: BlockRoot) -> bool {
    let BlockRoot::Stack(tid, at) = root else { return false };
    let pointer = core.thread_pointer(tid);
    let mapping = core.mapping_at(at).map(|mapping| mapping.range);
    pointer.zip(mapping).is_some_and(|(pointer, mapping)| mapping.contains(pointer))
}

impl Record for RootRecord {
    fn kind(&self) -> &'static str {
        "block_root"
    }

    fn view(&self) -> View {
        View::Line(
            "{text}{thread? of thread {thread:d}}{address? at {address:x}}{symbol? ({symbol})}",
        )
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let (word, text) = match self.root {
            BlockRoot::Data(_) if self.owner.is_some() => ("data", LOCAL_DATA.to_owned()),
            BlockRoot::Stack(..) if self.owner.is_some() => ("stack", LOCAL_DATA.to_owned()),
            BlockRoot::Memory(_) if self.owner.is_some() => ("memory", LOCAL_DATA.to_owned()),
            BlockRoot::Data(_) => ("data", "data of a module".to_owned()),
            BlockRoot::Stack(..) if self.has_local_data => {
                ("stack", "a word of the stack, or of thread-local data,".to_owned())
            }
            BlockRoot::Stack(..) => ("stack", "a word of the stack".to_owned()),
            BlockRoot::Register(_, name) => ("register", format!("register {name}")),
            BlockRoot::Memory(_) => ("memory", "a word of memory in no heap".to_owned()),
        };
        let (thread, register) = match self.root {
            BlockRoot::Stack(tid, _) => (Some(tid), None),
            BlockRoot::Register(tid, name) => (Some(tid), Some(name)),
            BlockRoot::Data(_) | BlockRoot::Memory(_) => (self.owner, None),
        };
        out.text("root", word)
            .addr("address", self.at())
            .num("thread", thread.map(|tid| u64::from(tid.get())))
            .opt_text("register", register)
            .opt_text("symbol", self.symbol.as_deref())
            .display("text", Cell::text(text));
    }

    fn dot(&self) -> Option<Dot> {
        self.at().map(Dot::Addr)
    }
}
