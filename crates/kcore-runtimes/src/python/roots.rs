//! What keeps Python's objects from outside of its heap.
//!
//! Certain roots are the modules and other dicts of the interpreters, the frames of threads with their variables, the
//! exceptions of threads, and the namespaces of static types. Words of stacks, registers, operands of frames and the data
//! of modules may be left over, or may be references of C code: they count only if nothing certain keeps the object. What
//! C code keeps in memory that it allocated is not known.

use std::sync::Arc;

use kcore_mem::{Addr, AddrRange};
use rustc_hash::FxHashSet;

use super::{
    Python,
    dict::Entries,
    frame::PyFrame,
    heap::{self, DICT, Heap, Object},
    interpreter::{Interpreter, ThreadState},
};
use crate::{
    Host,
    graph::{Nodes, Root, RootKind, native_words},
    objects::{Stopped, Watch},
};

/// A module, of `sys.modules`.
pub const MODULE: RootKind = RootKind::certain("module", "the module");
/// A dict that an interpreter keeps.
pub const INTERPRETER: RootKind = RootKind::certain("interpreter", "the interpreter's");
/// A variable of a frame.
pub const VARIABLE: RootKind = RootKind::certain("variable", "the variable");
/// A frame: its code, and the variables of its module.
pub const FRAME: RootKind = RootKind::certain("frame", "the frame of");
/// An exception that is handled, or on its way to a handler.
pub const EXCEPTION: RootKind = RootKind::certain("exception", "the exception");
/// The namespace of a type that C code made.
pub const TYPE: RootKind = RootKind::certain("type", "the static type");
/// A word behind the variables of a frame, where operands lie.
pub const OPERAND: RootKind = RootKind::guessed("operand", "an operand of");
/// A word of the stack of a thread.
pub const STACK: RootKind = RootKind::guessed("stack", "the stack");
/// A register of a thread.
pub const REGISTER: RootKind = RootKind::guessed("register", "a register");
/// A word of the data of a module of C code.
pub const STATIC: RootKind = RootKind::guessed("static", "the data of");

/// Words behind the variables of a frame that may be operands, at most.
const MAX_OPERANDS: u64 = 32;
/// Words of stacks and of data that are remembered, at most.
const MAX_WORDS: usize = 1 << 22;

/// Takes a root.
type Tell<'t> = &'t mut dyn FnMut(Root);

impl Python {
    /// Calls `tell` with each root that is known.
    pub(super) fn each_root(
        &self,
        host: &dyn Host,
        nodes: &dyn Nodes,
        watch: Watch<'_>,
        tell: Tell<'_>,
    ) -> Result<(), Stopped> {
        let heap = self.heap(host);
        let mut named = FxHashSet::default();
        for interpreter in &self.state(host).interpreters {
            self.of_interpreter(host, &heap, interpreter, &mut named, tell);
        }
        self.of_static_types(host, &heap, tell);
        // A frame of a module has the dict of the module, which is told with the module already.
        let mut tell_others = |root: Root| {
            if !named.contains(&root.to) {
                tell(root);
            }
        };
        for thread in &self.state(host).threads {
            self.of_thread(host, &heap, thread, &mut tell_others);
        }
        let is_object = |word: u64| {
            let at = Addr::new(word & !3);
            nodes.number(at).map(|_| at)
        };
        native_words::registers(host, &is_object, &REGISTER).into_iter().for_each(&mut *tell);
        self.of_stacks(host, &is_object, watch, tell)?;
        of_data(host, &is_object, watch, tell)
    }

    /// The dicts and modules that an interpreter keeps. Puts the dicts of the modules into `named`.
    fn of_interpreter(
        &self,
        host: &dyn Host,
        heap: &Heap<'_>,
        interpreter: &Interpreter,
        named: &mut FxHashSet<Addr>,
        tell: Tell<'_>,
    ) {
        let offsets = &heap.layout.interpreter;
        let dict = |offset| heap.field_of(interpreter.at, offset, DICT);
        let modules = dict(offsets.modules);
        for (name, module) in modules.iter().flat_map(|dict| of_names(heap, *dict)) {
            let object = heap.object(module);
            let dict = object.and_then(|object| self.namespace_dict(host, heap, object));
            named.extend(dict.map(|dict| dict.at));
            tell(Root { name: Some(name), ..Root::new(&MODULE, module) });
        }
        let own = [
            ("modules", modules),
            ("sys", dict(offsets.sysdict)),
            ("builtins", dict(offsets.builtins)),
        ];
        for (name, dict) in own.into_iter().filter_map(|(name, dict)| Some((name, dict?))) {
            if !named.contains(&dict.at) {
                tell(Root { name: Some(name.into()), ..Root::new(&INTERPRETER, dict.at) });
            }
        }
    }

    /// The namespaces of static types, which are in no list of the collector.
    fn of_static_types(&self, host: &dyn Host, heap: &Heap<'_>, tell: Tell<'_>) {
        for (class, name) in self.known_static_types(host) {
            let object = heap.object(class).filter(|object| object.is(heap::TYPE));
            let dict = object.and_then(|object| self.namespace_dict(host, heap, object));
            if let Some(dict) = dict {
                tell(Root { name: Some(name), ..Root::new(&TYPE, dict.at) });
            }
        }
    }

    fn of_thread(&self, host: &dyn Host, heap: &Heap<'_>, thread: &ThreadState, tell: Tell<'_>) {
        let exceptions = self.exceptions(host, thread);
        let raised = exceptions.raised.and_then(|raised| raised.value);
        for at in exceptions.handled.into_iter().chain(raised) {
            tell(Root { thread: thread.tid, ..Root::new(&EXCEPTION, at) });
        }
        let groups = self.chain(heap, thread).groups;
        for frame in groups.into_iter().flat_map(|group| group.frames) {
            self.of_frame(host, heap, thread, &frame, tell);
        }
    }

    fn of_frame(
        &self,
        host: &dyn Host,
        heap: &Heap<'_>,
        thread: &ThreadState,
        frame: &PyFrame,
        tell: Tell<'_>,
    ) {
        let function = &frame.code.name;
        let root = |kind, name: Arc<str>, to| Root {
            name: Some(name),
            thread: thread.tid,
            at: Some(frame.at),
            ..Root::new(kind, to)
        };
        // Those of a module or a class lie in a dict, which is a field of the frame.
        let locals = frame.code.is_optimized().then(|| self.locals(host, frame.at)).flatten();
        for local in locals.into_iter().flatten() {
            tell(root(&VARIABLE, format!("{} of {function}()", local.name).into(), local.at));
        }
        let name: Arc<str> = format!("{function}()").into();
        let offsets = &heap.layout.frame;
        for offset in [offsets.code, offsets.globals, offsets.locals] {
            let to = heap.word(frame.at, offset).and_then(|word| self.referred(word));
            to.into_iter().for_each(|to| tell(root(&FRAME, name.clone(), to)));
        }
        // To 3.10 a frame is an object itself.
        if heap.layout.minor <= 10 {
            tell(root(&FRAME, name.clone(), frame.at));
        }
        for to in self.operands(heap, frame) {
            tell(root(&OPERAND, name.clone(), to));
        }
    }

    /// The words behind the variables of a frame.
    fn operands(&self, heap: &Heap<'_>, frame: &PyFrame) -> Vec<Addr> {
        let slots = frame.code.slots(heap).map_or(0, |slots| slots.len() as u64);
        let words = (slots..slots.saturating_add(MAX_OPERANDS)).map_while(|index| {
            let offset = heap.layout.frame.slots.checked_add(index.checked_mul(8)?)?;
            heap.word(frame.at, offset)
        });
        words.filter_map(|word| self.referred(word)).collect()
    }

    fn of_stacks(
        &self,
        host: &dyn Host,
        is_object: &(impl Fn(u64) -> Option<Addr> + Sync),
        watch: Watch<'_>,
        tell: Tell<'_>,
    ) -> Result<(), Stopped> {
        let stacks = native_words::stacks(host);
        let memory: Vec<AddrRange> = stacks.iter().map(|(range, _)| *range).collect();
        let words = native_words::referring(host.space(), &memory, MAX_WORDS, is_object, watch)?;
        for (at, to) in words {
            let thread = native_words::thread_of(&stacks, at);
            tell(Root { thread, at: Some(at), ..Root::new(&STACK, to) });
        }
        Ok(())
    }
}

/// The entries of a dict whose keys are texts.
fn of_names(heap: &Heap<'_>, dict: Object) -> Vec<(Arc<str>, Addr)> {
    let entries = Entries::of(heap, dict).into_iter().flatten();
    let named =
        entries.filter_map(|entry| Some((heap.name(heap.object(entry.key)?)?.into(), entry.value)));
    named.collect()
}

/// Words of the writable data of modules: variables of C code.
fn of_data(
    host: &dyn Host,
    is_object: &(impl Fn(u64) -> Option<Addr> + Sync),
    watch: Watch<'_>,
    tell: Tell<'_>,
) -> Result<(), Stopped> {
    let memory: Vec<AddrRange> = host.modules().iter().flat_map(|module| module.data()).collect();
    let words = native_words::referring(host.space(), &memory, MAX_WORDS, is_object, watch)?;
    for (at, to) in words {
        let name = host.module_at(at).map(|module| module.name().into());
        tell(Root { name, at: Some(at), ..Root::new(&STATIC, to) });
    }
    Ok(())
}
