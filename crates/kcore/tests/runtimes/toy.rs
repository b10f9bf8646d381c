//! A runtime that does not exist, and has every duty. It takes the functions of testdata's `nodes` for its
//! own: `handle_get` is what it interprets, `serve` is its interpreter, `main` began its thread. Its heap is the tree
//! that the program keeps in `root`.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use kcore::{
    Addr, AddrRange, CodeAddr, Damage, DyingStack, Ending, Finding, FrameKind, Host, Identity,
    LanguageFrame, Native, NativeStack, Phase, Probe, Regs, RuleFrame, RuleStep, Runtime, Span,
    Task, TaskProbe, TaskStart, ThreadFacts, Tid,
    graph::{GraphCell, Nodes, Root, RootKind},
    objects::{Edge, HeapObject, NamedEdge, Objects, Stopped, Watch},
};
use kcore_unwind::RegisterId;

/// Where the toy's library of fibers is found.
pub const TASK_PROBES: &[TaskProbe] = &[TaskProbe {
    probe: Probe { name: "fibers", find: find_fibers },
    begins_task: |function| function == "_start",
}];

/// Where the toy and a damaged copy of it are found.
pub const PROBES: &[Probe] = &[
    Probe { name: "toy", find: find_toy },
    Probe { name: "thief", find: |_| vec![Finding::Found(Box::new(Thief::new()))] },
    Probe { name: "absent", find: |_| Vec::new() },
];

/// `DWARF` numbers of x86-64.
const RBP: RegisterId = RegisterId(6);
const RSP: RegisterId = RegisterId(7);

/// What the tests ask by its type.
pub struct Toy {
    identity: Identity,
    pub interpreted: Addr,
    interpreter: Addr,
    outermost: Addr,
    tree: Addr,
    graph: GraphCell,
    pub followed: AtomicBool,
}

fn find_toy(host: &dyn Host) -> Vec<Finding> {
    let Some(toy) = Toy::find(host) else { return Vec::new() };
    let why = "its heap was not dumped: its frames are shown as native ones".into();
    let damage = Damage { name: "toy", version: Some("0.9".into()), why, stand_in: None };
    vec![Finding::Found(Box::new(toy)), Finding::Damaged(damage)]
}

impl Toy {
    fn find(host: &dyn Host) -> Option<Self> {
        let module = host.modules().into_iter().next()?;
        let start = |name: &str| {
            let symbol = module.symbols().table().lookup(name)?;
            module.addr(symbol.value())
        };
        let identity = Identity {
            name: "toy",
            version: Some("1.0".into()),
            instance: module.name().into(),
            metadata: "its symbols".into(),
            undecoded: vec!["closures: they have no layout".into()],
        };
        Some(Self {
            identity,
            interpreted: start("handle_get")?,
            interpreter: start("serve")?,
            outermost: start("main")?,
            tree: start("root")?,
            graph: GraphCell::default(),
            followed: AtomicBool::new(false),
        })
    }

    fn is_in(&self, host: &dyn Host, pc: CodeAddr, function: Addr) -> bool {
        let found = host.module_at(pc.lookup()).and_then(|module| {
            let found = module.symbols().function_at(module.svma(pc.lookup())?)?;
            module.addr(found.start)
        });
        found == Some(function)
    }
}

fn frame(function: &str, line: u32, inline: bool) -> LanguageFrame {
    LanguageFrame {
        kind: FrameKind::Lua,
        function: Some(function.into()),
        file: Some("toy.lua".into()),
        line: Some(line),
        language: Some("lua"),
        inline,
        ..LanguageFrame::default()
    }
}

impl Runtime for Toy {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    /// The interpreter keeps frame pointers, whatever call frame information says; nothing called
    /// `main`; and what has no such information is not the toy's.
    fn step(
        &self,
        host: &dyn Host,
        phase: Phase,
        frame: &RuleFrame<'_>,
        caller: &mut Regs,
    ) -> Option<RuleStep> {
        assert!(frame.thread.is_some() || frame.pc.is_return(), "a task's pc is a return address");
        if phase == Phase::AfterCfi {
            assert!(!self.is_in(host, frame.pc, self.outermost), "it has unwind information");
            return None;
        }
        let cfa = || Addr::new(frame.regs.get(RBP)?).checked_add(16);
        if self.is_in(host, frame.pc, self.outermost) {
            return Some(RuleStep::Outermost { cfa: cfa() });
        }
        if !self.is_in(host, frame.pc, self.interpreted) {
            return None;
        }
        let pointer = Addr::new(frame.regs.get(RBP)?);
        let cfa = cfa()?;
        *caller = *frame.regs;
        caller.set_pc(host.space().read_addr(pointer.checked_add(8)?).ok()?);
        caller.set(RBP, host.space().read_word(pointer).ok());
        caller.set(RSP, Some(cfa.get()));
        Some(RuleStep::Caller { cfa, interrupted: false })
    }

    /// Two functions run where the interpreted one does, another one joins the interpreter, and the
    /// outermost frame is nobody's business.
    fn decode(&self, host: &dyn Host, stack: &NativeStack<'_>) -> Vec<Span> {
        let mut spans = Vec::new();
        for (index, native) in stack.frames.iter().enumerate() {
            if self.is_in(host, native.pc, self.interpreted) {
                let language = vec![frame("inner", 3, true), frame("outer", 7, false)];
                spans.push(Span::replacing(index, language));
            } else if self.is_in(host, native.pc, self.interpreter) {
                let language = vec![frame("loop", 9, false)];
                spans.push(Span { frames: index..index + 1, native: Native::Kept, language });
            } else if self.is_in(host, native.pc, self.outermost) {
                spans.push(Span::replacing(index, Vec::new()));
            }
        }
        spans
    }

    fn tasks(&self, host: &dyn Host) -> Vec<Task> {
        let thread = host.threads().first().copied();
        let task = |id, thread, start| Task {
            runtime: "toy",
            id,
            name: None,
            state: "suspended".into(),
            waits_on: Some("a timer".into()),
            until: None,
            entry: Some(self.interpreter),
            thread,
            stack: None,
            start,
        };
        let regs = thread.and_then(|thread| host.registers(thread));
        let suspended = regs.map(|regs| {
            let pc = CodeAddr::Return(regs.pc());
            task(2, None, TaskStart::Suspended { regs: (&regs).into(), pc, bottom: None })
        });
        let unknown = task(3, None, TaskStart::Unknown("its stack was freed".into()));
        let running = task(1, thread, TaskStart::Running);
        let frames = vec![frame("yield", 12, false), frame("generate", 15, false)];
        let parked = task(4, None, TaskStart::Language(frames));
        [Some(running), suspended, Some(unknown), Some(parked)].into_iter().flatten().collect()
    }

    fn identify(&self, _host: &dyn Host, at: Addr) -> Option<String> {
        (at == self.interpreted).then(|| "the toy's code".to_owned())
    }

    fn objects(&self, _host: &dyn Host) -> Option<&dyn Objects> {
        Some(self)
    }

    fn thread(&self, _host: &dyn Host, _thread: Tid) -> Option<ThreadFacts> {
        Some(ThreadFacts { name: Some("toy main".into()), state: None })
    }

    /// Tells how much of the dying thread it was shown.
    fn end(&self, _host: &dyn Host, dying: &DyingStack<'_>) -> Vec<Ending> {
        let is_whole = dying.stack.frames.len() == dying.functions.len();
        let trace = dying.functions.iter().filter(|name| !name.is_empty()).cloned().collect();
        is_whole.then(|| Ending::Fatal { message: "toy".into(), trace }).into_iter().collect()
    }

    /// Frames of the toy need the first word of the code that is interpreted.
    fn follow_running(&self, host: &dyn Host) -> bool {
        let word = host.space().read_word(self.interpreted);
        self.followed.store(word.is_ok(), Ordering::Relaxed);
        true
    }
}

/// Bytes of an object: the addresses of two others, and a number.
const SIZE: u64 = 24;
/// Objects, at most.
const MAX_OBJECTS: usize = 1000;
/// What keeps the tree.
const GLOBAL: RootKind = RootKind { word: "global", text: "the global variable", is_certain: true };

impl Toy {
    /// Every object of the tree, once.
    fn tree(&self, host: &dyn Host) -> Vec<Addr> {
        let mut found = vec![self.tree];
        let mut next = 0;
        while let Some(at) = found.get(next).copied().filter(|_| next < MAX_OBJECTS) {
            let below = self.edges(host, at).into_iter().map(|edge| edge.to);
            let new: Vec<Addr> = below.filter(|to| !found.contains(to)).collect();
            found.extend(new);
            next += 1;
        }
        found
    }
}

impl Objects for Toy {
    fn holder(&self, host: &dyn Host, at: Addr) -> Option<HeapObject> {
        let holds = |object: &Addr| AddrRange::with_len(*object, SIZE).contains(at);
        let at = self.tree(host).into_iter().find(holds)?;
        Some(HeapObject { at, class: Some(self.interpreted), size: SIZE })
    }

    fn class_at(&self, _host: &dyn Host, _at: Addr) -> Option<Arc<str>> {
        Some("tree".into())
    }

    fn each_object(
        &self,
        host: &dyn Host,
        _watch: Watch<'_>,
        tell: &mut dyn FnMut(HeapObject),
    ) -> Result<(), Stopped> {
        let class = Some(self.interpreted);
        self.tree(host).into_iter().for_each(|at| tell(HeapObject { at, class, size: SIZE }));
        Ok(())
    }

    fn edges(&self, host: &dyn Host, at: Addr) -> Vec<NamedEdge> {
        let edge = |(name, offset): (&str, u64)| {
            let to = host.space().read_addr(at.checked_add(offset)?).ok()?;
            let edge = Edge::Member(name.into());
            (to.get() != 0).then_some(NamedEdge { to, edge, is_weak: false })
        };
        [("left", 0), ("right", 8)].into_iter().filter_map(edge).collect()
    }

    fn roots(
        &self,
        _host: &dyn Host,
        _nodes: &dyn Nodes,
        _watch: Watch<'_>,
        tell: &mut dyn FnMut(Root),
    ) -> Result<(), Stopped> {
        tell(Root { name: Some("root".into()), ..Root::new(&GLOBAL, self.tree) });
        Ok(())
    }

    fn unknown_roots(&self) -> &'static str {
        "what the toy forgot"
    }

    fn graph_cell(&self) -> &GraphCell {
        &self.graph
    }
}

/// A library that keeps stacks and has no language: it is asked for tasks and for nothing else.
pub struct Fibers {
    identity: Identity,
    entry: Addr,
}

fn find_fibers(host: &dyn Host) -> Vec<Finding> {
    let find = || {
        let module = host.modules().into_iter().next()?;
        let entry = module.addr(module.symbols().table().lookup("serve")?.value())?;
        let identity = Identity {
            name: "fibers",
            version: None,
            instance: module.name().into(),
            metadata: "its symbols".into(),
            undecoded: Vec::new(),
        };
        Some(Finding::Found(Box::new(Fibers { identity, entry })))
    };
    find().into_iter().collect()
}

impl Runtime for Fibers {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn tasks(&self, host: &dyn Host) -> Vec<Task> {
        let thread = host.threads().first().copied();
        let Some(regs) = thread.and_then(|thread| host.registers(thread)) else {
            return Vec::new();
        };
        let suspended = Task {
            runtime: "fibers",
            id: 1,
            name: Some("the first".into()),
            state: "ready".into(),
            waits_on: None,
            until: None,
            entry: Some(self.entry),
            thread: None,
            stack: regs.get(RSP).map(|sp| AddrRange::with_len(Addr::new(sp), 4096)),
            start: TaskStart::Suspended {
                pc: CodeAddr::Return(regs.pc()),
                regs: (&regs).into(),
                bottom: None,
            },
        };
        let running = Task {
            id: 2,
            name: None,
            state: "running".into(),
            thread,
            start: TaskStart::Running,
            ..suspended.clone()
        };
        vec![suspended, running]
    }
}

/// Another runtime, which claims frames of the first and frames that are not there.
struct Thief {
    identity: Identity,
}

impl Thief {
    fn new() -> Self {
        let text: Arc<str> = "thief".into();
        Self {
            identity: Identity {
                name: "thief",
                version: None,
                instance: text.clone(),
                metadata: text,
                undecoded: Vec::new(),
            },
        }
    }
}

impl Runtime for Thief {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn decode(&self, _host: &dyn Host, stack: &NativeStack<'_>) -> Vec<Span> {
        let beyond = stack.frames.len();
        let stolen = || vec![frame("stolen", 1, false)];
        vec![Span::replacing(0, stolen()), Span::replacing(beyond, stolen())]
    }

    fn thread(&self, _host: &dyn Host, _thread: Tid) -> Option<ThreadFacts> {
        let state = Some("stealing".into());
        Some(ThreadFacts { name: Some("thief".into()), state })
    }
}
