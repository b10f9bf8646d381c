//! Environments of Node.js, one for each loop, and what they list.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use kcore_mem::Addr;
use kcore_unwind::Tid;

use super::{
    Awaited, MAX_NAME, Named, NodeHandle,
    offsets::Offsets,
    owner,
    uv::{UvHandle, timer_within},
};
use crate::{
    Host,
    v8::{Function, Heap, census::Census, heap::Object},
};

/// Handles or requests of one environment, at most; environments are looked at until there are so many in
/// all.
const MAX_LISTED: usize = 1 << 20;
/// A context of a whole realm has more slots than any other.
const MIN_NATIVE_SLOTS: u64 = 100;
/// Contexts between a function and its realm, at most.
const MAX_CONTEXTS: usize = 256;
/// Native context: data of the embedder.
const EMBEDDER_DATA: u64 = 48;
/// Words behind the list in which a handle keeps its `uv_handle_t`.
const MAX_WORDS_TO_UV: u64 = 8;
/// Bytes at the outer end of a stack in which a thread's environment is searched.
const OUTER_STACK: u64 = 64 << 10;
/// Bytes of an environment in which its timer is searched.
const ENVIRONMENT: u64 = 8 << 10;

/// The environments of a process.
pub struct Environments<'a> {
    heap: Heap<'a>,
    offsets: Offsets,
    /// Each, and the thread that runs it.
    all: Vec<(Addr, Option<Tid>)>,
}

impl<'a> Environments<'a> {
    /// Those that the contexts of realms belong to, each once.
    pub fn find(host: &'a dyn Host, heap: Heap<'a>, offsets: Offsets, census: &Census) -> Self {
        let mut found = Self { heap, offsets, all: Vec::new() };
        let contexts = census.objects().filter_map(|at| heap.object_at(at));
        let contexts = contexts.filter(|object| is_native_context(&heap, *object));
        let mut seen = HashSet::new();
        let environments: Vec<Addr> = contexts
            .filter_map(|context| found.of_context(context))
            .filter(|environment| seen.insert(*environment))
            .collect();
        let threads = threads(host, &heap, &seen);
        let with_thread = |at: Addr| (at, threads.get(&at).copied());
        found.all = environments.into_iter().map(with_thread).collect();
        found
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The thread that runs an environment.
    pub fn thread(&self, environment: Addr) -> Option<Tid> {
        self.all.iter().find(|(at, _)| *at == environment).and_then(|(_, thread)| *thread)
    }

    /// Where C++ keeps the object of JavaScript of an object.
    pub const fn persistent(&self) -> u64 {
        self.offsets.persistent
    }

    /// The environment of an object: that of the realm whose function made it.
    pub fn of_object(&self, object: Object) -> Option<Addr> {
        let heap = &self.heap;
        let maker = heap.constructor(object).filter(|maker| heap.is_function(*maker))?;
        let maker = Function::load(heap, heap.object_or_tagged(maker.at))?;
        let outer = |context: &Object| {
            heap.object(heap.element(*context, 1)?).filter(|outer| heap.is_context(*outer))
        };
        let mut contexts = std::iter::successors(maker.context(heap), outer).take(MAX_CONTEXTS);
        self.of_context(contexts.find(|context| is_native_context(heap, *context))?)
    }

    /// In how many milliseconds the timer of an environment calls that stands for all of JavaScript's.
    pub fn timer(&self, environment: Addr) -> Option<f64> {
        timer_within(&self.heap, environment, ENVIRONMENT)
    }

    /// The environment of a context: a bare pointer among the embedder's data.
    fn of_context(&self, native_context: Object) -> Option<Addr> {
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

    /// The handles and requests of all.
    pub fn listed(&self) -> Vec<NodeHandle> {
        let all = self.all.iter().flat_map(|(at, thread)| self.listed_by(*at, *thread));
        all.take(MAX_LISTED).collect()
    }

    fn listed_by(&self, environment: Addr, thread: Option<Tid>) -> Vec<NodeHandle> {
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
        let all = handles.chain(requests.map(|at| self.request(at)));
        all.map(|handle| NodeHandle { thread, ..handle }).collect()
    }

    fn handle(&self, at: Addr) -> NodeHandle {
        let uv = self.uv_handle(at);
        let listed = self.listed_object(at, Awaited::Handle(uv.and_then(|uv| uv.kind())));
        let path = uv.and_then(|uv| uv.path()).map(Arc::from);
        NodeHandle {
            state: uv.map(|uv| uv.state()),
            referenced: uv.map(|uv| uv.is_referenced()),
            fd: uv.and_then(|uv| uv.fd()),
            pid: uv.and_then(|uv| uv.number("process")),
            signal: uv.and_then(|uv| uv.number("signal")),
            bound: path.or_else(|| self.bound(listed.owner.as_ref()?)),
            ..listed
        }
    }

    fn request(&self, at: Addr) -> NodeHandle {
        NodeHandle { referenced: Some(true), ..self.listed_object(at, Awaited::Request) }
    }

    fn listed_object(&self, at: Addr, what: Awaited) -> NodeHandle {
        let heap = &self.heap;
        let persistent = heap.word(at, self.offsets.persistent).map(Addr::new);
        let object = persistent.and_then(|handle| heap.field(handle, 0));
        let mut found = match object {
            Some(object) => NodeHandle::of_object(heap, what, object),
            None => NodeHandle::unnamed(what),
        };
        found.at = Some(at);
        found.owner = object.map(|object| Named::of(heap, owner(heap, object)));
        found
    }

    /// What a server or a watcher says that it is bound to: `0.0.0.0:80`, a file.
    fn bound(&self, owner: &Named) -> Option<Arc<str>> {
        let owner = self.heap.object_at(owner.at)?;
        let text = |name: &str| {
            let value = self.heap.object(self.heap.property(owner, name)?.value)?;
            self.heap.text(value, MAX_NAME)
        };
        let address = text("_connectionKey").and_then(|key| address_of(&key));
        address.or_else(|| text("filename")).map(Arc::from)
    }

    /// libuv's side of a handle, which points back.
    fn uv_handle(&self, at: Addr) -> Option<UvHandle<'_, 'a>> {
        let first = at.checked_add(self.offsets.handle_node)?.checked_add(16)?;
        let words = (0..MAX_WORDS_TO_UV).map(|word| word.saturating_mul(8));
        let pointers = words.filter_map(|offset| self.heap.word(first, offset)).map(Addr::new);
        let mut pointers = pointers.filter(|uv| uv.get().is_multiple_of(8));
        pointers.find_map(|uv| UvHandle::of(&self.heap, uv, at))
    }
}

/// The address in the key that a server has for others of its port: `4:0.0.0.0:80`, `6::::80`. A port that
/// the kernel chose is not there.
fn address_of(key: &str) -> Option<String> {
    let (family, rest) = key.split_once(':')?;
    let (host, port) = rest.rsplit_once(':')?;
    port.parse::<u16>().ok().filter(|port| *port != 0)?;
    Some(if family == "6" { format!("[{host}]:{port}") } else { format!("{host}:{port}") })
}

fn is_native_context(heap: &Heap<'_>, object: Object) -> bool {
    heap.is_context(object) && heap.length(object).is_some_and(|slots| slots >= MIN_NATIVE_SLOTS)
}

/// The threads that run environments: those whose functions, from the outermost one on, have them on the
/// stack most often.
fn threads(host: &dyn Host, heap: &Heap<'_>, environments: &HashSet<Addr>) -> HashMap<Addr, Tid> {
    let mut most: HashMap<Addr, (usize, Tid)> = HashMap::new();
    for tid in host.threads() {
        for (environment, count) in on_stack(host, heap, tid, environments) {
            let best = most.entry(environment).or_insert((count, tid));
            if count > best.0 {
                *best = (count, tid);
            }
        }
    }
    most.into_iter().map(|(environment, (_, tid))| (environment, tid)).collect()
}

/// How often the outer end of a thread's stack has each environment.
fn on_stack(
    host: &dyn Host,
    heap: &Heap<'_>,
    tid: Tid,
    environments: &HashSet<Addr>,
) -> HashMap<Addr, usize> {
    let mut counts = HashMap::new();
    let frames = host.frames(tid);
    let ends = || Some((frames.first()?.sp?, frames.last()?.cfa.or(frames.last()?.sp)?));
    let Some((start, end)) = ends() else { return counts };
    let start = start.get().max(end.get().saturating_sub(OUTER_STACK)) & !7;
    for at in (start..end.get()).step_by(8).filter_map(|at| heap.word(Addr::new(at), 0)) {
        if let Some(environment) = environments.get(&Addr::new(at)) {
            let count: &mut usize = counts.entry(*environment).or_default();
            *count = count.saturating_add(1);
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::address_of;

    #[test]
    fn keys_of_servers_are_addresses_with_ports() {
        assert_eq!(address_of("4:127.0.0.1:80").as_deref(), Some("127.0.0.1:80"));
        assert_eq!(address_of("6::::8080").as_deref(), Some("[::]:8080"));
        assert_eq!(address_of("4:0.0.0.0:0"), None, "the kernel chose");
        assert_eq!(address_of("-1:/run/socket:-1"), None);
    }
}
