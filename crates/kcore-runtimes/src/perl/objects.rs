//! The values of Perl as all runtimes have objects: those that interpreters have that threads execute.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    Perl,
    arenas::{Arenas, kind_of},
    context::{Callee, Chain},
    interpreter::Interpreter,
    memory::{ARRAY, CODE, FORMAT, GLOB, HASH, Memory},
    references::References,
};
use crate::{
    Host,
    graph::{GraphCell, Nodes, Root, RootKind},
    objects::{HeapObject, NamedEdge, Objects, Stopped, Watch},
};

/// The symbol table, with all packages.
pub const SYMBOLS: RootKind = RootKind::certain("global", "the symbol table");
/// Code that is executed.
pub const CALL: RootKind = RootKind::certain("stack", "a call of");
/// Objects between two looks at whether to go on.
const EVERY: u64 = 1 << 14;
/// What stands for the class of a value that is in none: the number of its type, or one of these.
const PAD: u64 = 64;
const PACKAGE: u64 = 65;
/// `SVs_OBJECT`, and `xmg_stash`.
const IS_OBJECT: u64 = 0x0010_0000;
const STASH: u64 = 0;

impl Perl {
    /// The interpreters that threads execute, each once, with a thread that does.
    fn interpreters(&self, host: &dyn Host) -> Vec<(kcore_unwind::Tid, Interpreter)> {
        let mut all: Vec<(kcore_unwind::Tid, Interpreter)> = Vec::new();
        for thread in host.threads() {
            let interpreter = self.interpreter(host, thread, &host.frames(thread));
            if let Some(new) = interpreter.filter(|new| all.iter().all(|(_, old)| old != new)) {
                all.push((thread, new));
            }
        }
        all
    }

    /// Where values lie. It is looked for once.
    pub(super) fn arenas(&self, host: &dyn Host) -> &Arenas {
        self.arenas.get_or_init(|| {
            let roots = self.interpreters(host).into_iter().filter_map(|(_, it)| it.arenas);
            Arenas::of(&self.memory(host), roots)
        })
    }

    /// The value whose head holds an address, and its type.
    pub(super) fn value_at(&self, host: &dyn Host, at: Addr) -> Option<(Addr, u8)> {
        let head = self.arenas(host).head_at(at)?;
        Some((head, kind_of(&self.memory(host), head)?))
    }

    fn object(&self, host: &dyn Host, at: Addr, kind: u8) -> HeapObject {
        let memory = self.memory(host);
        let class = memory.blessed_into(at).unwrap_or_else(|| self.plain_class(host, at, kind));
        HeapObject { at, class: Some(class), size: memory.size_of(at, kind) }
    }

    fn plain_class(&self, host: &dyn Host, at: Addr, kind: u8) -> Addr {
        Addr::new(match kind {
            ARRAY if self.arenas(host).pads.contains_key(&at) => PAD,
            HASH if self.memory(host).package(at).is_some() => PACKAGE,
            kind => u64::from(kind),
        })
    }
}

impl Memory<'_> {
    /// The package that a value is blessed into: where its symbols lie.
    fn blessed_into(&self, value: Addr) -> Option<Addr> {
        (self.flags(value)? & IS_OBJECT != 0).then_some(())?;
        self.pointer(self.body(value)?, STASH)
    }
}

impl Objects for Perl {
    fn holder(&self, host: &dyn Host, at: Addr) -> Option<HeapObject> {
        let (head, kind) = self.value_at(host, at)?;
        Some(self.object(host, head, kind))
    }

    fn class_at(&self, host: &dyn Host, at: Addr) -> Option<Arc<str>> {
        let (_, kind) = self.value_at(host, at).filter(|(head, _)| *head == at)?;
        let memory = self.memory(host);
        match memory.blessed_into(at) {
            Some(package) => memory.package(package).map(Arc::from),
            None => Some(word(self.plain_class(host, at, kind).get()).into()),
        }
    }

    fn each_object(
        &self,
        host: &dyn Host,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(HeapObject),
    ) -> Result<(), Stopped> {
        let (arenas, memory) = (self.arenas(host), self.memory(host));
        for (index, head) in (0_u64..).zip(arenas.heads()) {
            if index.is_multiple_of(EVERY) && watch(index, arenas.len()).is_break() {
                return Err(Stopped);
            }
            if let Some(kind) = kind_of(&memory, head) {
                tell(self.object(host, head, kind));
            }
        }
        Ok(())
    }

    fn missing(&self, _host: &dyn Host) -> Option<String> {
        let arenas = self.arenas.get()?;
        if arenas.len() == 0 {
            return Some("no thread executes an interpreter whose values are found".to_owned());
        }
        let cut = "a list of values is damaged, or was not dumped: there may be more";
        arenas.is_cut.then(|| cut.to_owned())
    }

    fn edges(&self, host: &dyn Host, at: Addr) -> Vec<NamedEdge> {
        let known = self.value_at(host, at).filter(|(head, _)| *head == at);
        let Some((_, kind)) = known else { return Vec::new() };
        let memory = self.memory(host);
        let mut edges = References::of(&memory, self.arenas(host), at, kind).found;
        edges.retain(|edge| self.value_at(host, edge.to).is_some_and(|(head, _)| head == edge.to));
        edges
    }

    fn roots(
        &self,
        host: &dyn Host,
        nodes: &dyn Nodes,
        watch: Watch<'_>,
        tell: &mut dyn FnMut(Root),
    ) -> Result<(), Stopped> {
        let memory = self.memory(host);
        let mut tell = |root: Root| {
            if nodes.number(root.to).is_some() {
                tell(root);
            }
        };
        for (thread, interpreter) in self.interpreters(host) {
            if watch(0, 0).is_break() {
                return Err(Stopped);
            }
            let held = |at: Option<Addr>| at.and_then(|at| memory.pointer(at, 0));
            let symbols = held(interpreter.symbols);
            symbols.into_iter().for_each(|to| tell(Root::new(&SYMBOLS, to)));
            let called = Chain::of(&memory, &interpreter);
            let called = called.calls().filter_map(|call| match call.callee {
                Callee::Sub { code, .. } => Some(code),
                Callee::Text(code) | Callee::File(code) => code,
                Callee::Block => None,
            });
            for code in called {
                let name = memory.code_name(code).map(Arc::from);
                tell(Root { name, thread: Some(thread), ..Root::new(&CALL, code) });
            }
            if let Some(code) = held(interpreter.main) {
                let name = Some("main program".into());
                tell(Root { name, thread: Some(thread), ..Root::new(&CALL, code) });
            }
        }
        Ok(())
    }

    fn unknown_roots(&self) -> &'static str {
        "temporary values, what `local` has saved, patterns, fields of classes, and what C code keeps in its own memory"
    }

    fn graph_cell(&self) -> &GraphCell {
        &self.graph
    }
}

/// What values are that are in no class.
fn word(class: u64) -> &'static str {
    match u8::try_from(class).unwrap_or_default() {
        4 => "(inversion list)",
        8 => "(pattern)",
        GLOB => "(glob)",
        10 => "(place)",
        ARRAY => "(array)",
        HASH => "(hash)",
        CODE => "(code)",
        FORMAT => "(format)",
        15 => "(file)",
        16 => "(object)",
        64 => "(pad)",
        65 => "(package)",
        _ => "(scalar)",
    }
}
