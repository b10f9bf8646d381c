//! What keeps a Node.js process alive: handles, requests, timers.
//!
//! `src/env.h`, `src/handle_wrap.h`, `src/req_wrap.h`: an `Environment` lists its handles and requests;
//! the offsets are exported for debuggers (`src/node_postmortem_metadata.cc`), and filled in when the
//! process starts. What libuv knows of a handle is in `deps/uv/include/uv.h`. Timers are objects of
//! JavaScript (`lib/internal/timers.js`), found among all objects of the heap.

use std::{collections::HashSet, sync::Arc};

use kcore_mem::Addr;

use super::{
    Function, Heap, Tagged, V8,
    census::{Census, Stopped, Watch},
    heap::Object,
};
use crate::Host;

/// Handles or requests of one environment, at most; environments are looked at until there are so many in
/// all.
const MAX_LISTED: usize = 1 << 20;
/// Owners that own each other, at most.
const MAX_OWNERS: usize = 8;
/// Properties of an object that are looked at.
const MAX_PROPERTIES: u64 = 64;
/// A context of a whole realm has more slots than any other.
const MIN_NATIVE_SLOTS: u64 = 100;

// `uv_handle_t`: the object of Node.js that it is of, its type, its flags.
const UV_DATA: u64 = 0;
const UV_TYPE: u64 = 16;
const UV_FLAGS: u64 = 88;
/// The flag that the loop waits for the handle, `UV_HANDLE_REF` in `deps/uv/src/uv-common.h`.
const UV_REFERENCED: u64 = 8;
/// Words behind the list in which a handle keeps its `uv_handle_t`.
const MAX_WORDS_TO_UV: u64 = 8;
/// `UV_HANDLE_TYPE_MAP` in `deps/uv/include/uv.h`, from 1.
const UV_TYPES: [&str; 16] = [
    "async", "check", "fs_event", "fs_poll", "handle", "idle", "pipe", "poll", "prepare",
    "process", "stream", "tcp", "timer", "tty", "udp", "signal",
];

/// An object of JavaScript, by its class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Where it lies, without tag.
    pub at: Addr,
    /// The name of its class.
    pub class: Arc<str>,
}

/// What a process waits for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Awaited {
    /// A handle, and its type as libuv has it.
    Handle(Option<&'static str>),
    /// A request that is under way.
    Request,
    /// A timer: whether it comes again, and after how many milliseconds.
    Timer {
        /// Milliseconds.
        delay: Option<f64>,
        /// Whether it comes again.
        repeats: bool,
    },
    /// What `setImmediate` was given.
    Immediate,
}

/// A handle, a request or a timer of Node.js.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeHandle {
    /// What it is.
    pub what: Awaited,
    /// The object of C++; `None` of what is JavaScript's alone.
    pub at: Option<Addr>,
    /// Its object of JavaScript.
    pub object: Option<Named>,
    /// The object of JavaScript that it works for: a server, a socket; itself where there is none.
    pub owner: Option<Named>,
    /// Whether the process waits for it.
    pub referenced: Option<bool>,
    /// The name of the function that a timer calls.
    pub callback: Option<Arc<str>>,
}

impl V8 {
    /// The handles, requests and timers of all environments of the process.
    ///
    /// # Errors
    /// When whoever watches the heap being searched stopped it.
    pub fn handles(&self, host: &dyn Host, watch: Watch<'_>) -> Result<Vec<NodeHandle>, Stopped> {
        let (Some(heap), Some(census)) = (self.decodable(host), self.census(host, watch)?) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        if let Some(offsets) = Offsets::load(self, host) {
            let handles = Handles { heap: &heap, offsets };
            for environment in handles.environments(&census) {
                if found.len() < MAX_LISTED {
                    found.extend(handles.listed(environment));
                }
            }
        }
        found.extend(timers(&heap, &census));
        Ok(found)
    }

    /// A number that Node.js keeps for debuggers, as it is in the process.
    fn node_number(&self, host: &dyn Host, name: &str) -> Option<u64> {
        let modules = host.modules();
        let module = modules.into_iter().find(|module| self.owns(*module))?;
        let (svma, _) = module.exported(&format!("nodedbg_{name}"))?;
        host.space().read_uint(module.addr(svma)?, 4).ok()
    }
}

/// Where lists and their members lie.
struct Offsets {
    environment_slot: u64,
    handles: u64,
    handle_node: u64,
    requests: u64,
    request_node: u64,
    next: u64,
    persistent: u64,
}

impl Offsets {
    fn load(v8: &V8, host: &dyn Host) -> Option<Self> {
        let number = |name| v8.node_number(host, name);
        let head = number("offset_Environment_HandleWrapQueue__head___ListNode_HandleWrap")?;
        let offsets = Self {
            environment_slot: number("const_ContextEmbedderIndex__kEnvironment__int")?,
            handles: number("offset_Environment__handle_wrap_queue___Environment_HandleWrapQueue")?
                .checked_add(head)?,
            handle_node: number("offset_HandleWrap__handle_wrap_queue___ListNode_HandleWrap")?,
            requests: number("offset_Environment__req_wrap_queue___Environment_ReqWrapQueue")?,
            request_node: number("offset_ReqWrap__req_wrap_queue___ListNode_ReqWrapQueue")?,
            next: number("offset_ListNode_HandleWrap__next___uintptr_t")?,
            persistent: number("offset_BaseObject__persistent_handle___v8_Persistent_v8_Object")?,
        };
        // They are 0 until the process has started.
        (offsets.handles != 0 && offsets.handle_node != 0).then_some(offsets)
    }
}

struct Handles<'h, 'a> {
    heap: &'h Heap<'a>,
    offsets: Offsets,
}

impl Handles<'_, '_> {
    /// The environments that the contexts of realms belong to, each once.
    fn environments(&self, census: &Census) -> Vec<Addr> {
        let types = &self.heap.layout.types;
        let contexts = census.objects().filter_map(|at| self.heap.object_at(at)).filter(|object| {
            (types.first_context..=types.last_context).contains(&object.kind)
                && self.heap.length(*object).is_some_and(|slots| slots >= MIN_NATIVE_SLOTS)
        });
        let mut seen = HashSet::new();
        let environments = contexts.filter_map(|context| self.environment(context));
        environments.filter(|environment| seen.insert(*environment)).collect()
    }

    /// The environment of a context: a bare pointer among the embedder's data.
    fn environment(&self, native_context: Object) -> Option<Addr> {
        const EMBEDDER_DATA: u64 = 48;
        let data = self.heap.field(native_context.at, EMBEDDER_DATA)?;
        let slot = self.offsets.environment_slot;
        (slot < self.heap.length(data)?).then_some(())?;
        let at = self.heap.word(data.at, slot.checked_mul(8)?.checked_add(16)?)?;
        let environment = Addr::new(at);
        // A list that is empty points to itself, too.
        let head = environment.checked_add(self.offsets.handles)?;
        (at != 0 && at.is_multiple_of(8) && self.next(head).is_some()).then_some(environment)
    }

    fn next(&self, node: Addr) -> Option<Addr> {
        let next = Addr::new(self.heap.word(node, self.offsets.next)?);
        // Lists are doubly linked, the other link first.
        (self.heap.word(next, 0)? == node.get()).then_some(next)
    }

    fn listed(&self, environment: Addr) -> Vec<NodeHandle> {
        let list = |head: u64, node: u64| {
            let head = environment.checked_add(head)?;
            let nodes = std::iter::successors(self.next(head), |at| self.next(*at));
            let nodes = nodes.take_while(move |at| *at != head).take(MAX_LISTED);
            Some(nodes.filter_map(move |at| Some(Addr::new(at.get().checked_sub(node)?))))
        };
        let offsets = &self.offsets;
        let handles = list(offsets.handles, offsets.handle_node).into_iter().flatten();
        let requests = list(offsets.requests, offsets.request_node).into_iter().flatten();
        let handles = handles.map(|at| self.handle(at));
        handles.chain(requests.map(|at| self.request(at))).collect()
    }

    fn handle(&self, at: Addr) -> NodeHandle {
        let uv = self.uv_handle(at);
        let kind = uv.and_then(|uv| {
            let number = usize::try_from(self.heap.uint(uv, UV_TYPE, 4)?).ok()?;
            UV_TYPES.get(number.checked_sub(1)?).copied()
        });
        let flags = uv.and_then(|uv| self.heap.uint(uv, UV_FLAGS, 4));
        NodeHandle {
            what: Awaited::Handle(kind),
            referenced: flags.map(|flags| flags & UV_REFERENCED != 0),
            ..self.listed_object(at, Awaited::Request)
        }
    }

    fn request(&self, at: Addr) -> NodeHandle {
        NodeHandle { referenced: Some(true), ..self.listed_object(at, Awaited::Request) }
    }

    fn listed_object(&self, at: Addr, what: Awaited) -> NodeHandle {
        let persistent = self.heap.word(at, self.offsets.persistent).map(Addr::new);
        let object = persistent.and_then(|handle| self.heap.field(handle, 0));
        let owner = object.map(|object| owner(self.heap, object));
        NodeHandle {
            what,
            at: Some(at),
            object: object.map(|object| named(self.heap, object)),
            owner: owner.map(|owner| named(self.heap, owner)),
            referenced: None,
            callback: None,
        }
    }

    /// libuv's side of a handle, which points back.
    fn uv_handle(&self, at: Addr) -> Option<Addr> {
        let first = at.checked_add(self.offsets.handle_node)?.checked_add(16)?;
        let words = (0..MAX_WORDS_TO_UV).map(|word| word.saturating_mul(8));
        let pointers = words.filter_map(|offset| self.heap.word(first, offset)).map(Addr::new);
        let mut pointers = pointers.filter(|uv| uv.get().is_multiple_of(8));
        pointers.find(|uv| self.heap.word(*uv, UV_DATA) == Some(at.get()))
    }
}

/// The object that another one works for in the end.
fn owner(heap: &Heap<'_>, object: Object) -> Object {
    let next = |object: &Object| {
        let owner = heap.object(symbol_property(heap, *object, "owner_symbol")?)?;
        heap.is_receiver(owner).then_some(owner)
    };
    let mut owners = std::iter::successors(Some(object), next).take(MAX_OWNERS);
    std::iter::from_fn(|| owners.next()).last().unwrap_or(object)
}

fn symbol_property(heap: &Heap<'_>, object: Object, description: &str) -> Option<Tagged> {
    let own = heap.properties(object, MAX_PROPERTIES);
    let found = own.iter().find(|property| heap.is_symbol(property.key, description))?;
    Some(found.value)
}

fn named(heap: &Heap<'_>, object: Object) -> Named {
    Named { at: object.at, class: heap.constructor_name(object).into() }
}

/// The timers and immediates that are still to come.
fn timers<'c>(heap: &'c Heap<'_>, census: &'c Census) -> impl Iterator<Item = NodeHandle> + 'c {
    let has = |object: Object, name: &str| heap.property(object, name).is_some();
    let of_class: HashSet<u64> = census
        .maps()
        .iter()
        .filter(|map| {
            let example = map.example();
            heap.is_receiver(example)
                && (has(example, "_onTimeout") || has(example, "_onImmediate"))
        })
        .map(|map| map.map.get() | 1)
        .collect();
    let candidates = census
        .objects()
        .filter(move |at| heap.word(*at, 0).is_some_and(|map| of_class.contains(&map)));
    candidates.filter_map(|at| timer(heap, heap.object_at(at)?))
}

/// A timer; `None` of one that is over.
fn timer(heap: &Heap<'_>, object: Object) -> Option<NodeHandle> {
    let value = |name: &str| Some(heap.property(object, name)?.value);
    let is = |value: Tagged, name: &str| {
        heap.object(value).and_then(|value| heap.oddball(value)).is_some_and(|it| it == name)
    };
    is(value("_destroyed")?, "false").then_some(())?;
    let timeout = value("_onTimeout").and_then(|callback| Function::load(heap, callback));
    let immediate = || value("_onImmediate").and_then(|it| Function::load(heap, it));
    let (callback, what) = match timeout {
        Some(callback) => {
            // What is in no list was never started.
            heap.object(value("_idleNext")?).filter(|next| heap.is_receiver(*next))?;
            let delay = value("_idleTimeout").and_then(|delay| number(heap, delay));
            let repeats = value("_repeat").is_some_and(|repeat| !is(repeat, "null"));
            (callback, Awaited::Timer { delay, repeats })
        }
        None => (immediate()?, Awaited::Immediate),
    };
    let referenced = symbol_property(heap, object, "refed").map(|refed| is(refed, "true"));
    let it = named(heap, object);
    Some(NodeHandle {
        what,
        at: None,
        object: Some(it.clone()),
        owner: Some(it),
        referenced,
        callback: callback.name(heap).map(Arc::from),
    })
}

fn number(heap: &Heap<'_>, value: Tagged) -> Option<f64> {
    match value {
        Tagged::Smi(number) => Some(number.into()),
        value => heap.heap_number(heap.object(value)?),
    }
}
