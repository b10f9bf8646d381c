//! Asio's reactor with epoll, of Asio itself and of Boost: `epoll_reactor.hpp`, `object_pool.hpp`, `op_queue.hpp`,
//! `timer_queue.hpp`, `timer_queue_set.hpp` and `scheduler.hpp` of 1.22, whose members are found by their names.

use std::ops::ControlFlow;

use kcore_mem::{Addr, AddrRange, AddressSpace, Budget};
use kcore_symbols::{Type, TypeKind};
use rustc_hash::FxHashMap;

use super::{
    ReactorEvent, ReactorWait, Reactors,
    members::{member, offset, pointee},
    operation::{Operation, Operations},
};
use crate::{Host, HostModule, graph::native_words::referring, tokio::Deadline};

/// The tables of virtual functions of reactors, and the names of the libraries.
const TABLES: [(&str, &str); 2] = [
    ("_ZTVN4asio6detail13epoll_reactorE", "asio"),
    ("_ZTVN5boost4asio6detail13epoll_reactorE", "boost::asio"),
];
/// From the beginning of such a table to what objects refer to.
const TABLE_HEAD: u64 = 16;
/// Reactors of a process, elements of one list, and operations of one reactor, at most.
const MAX_REACTORS: usize = 1024;
const MAX_ELEMENTS: usize = 1 << 20;
/// Kinds of operations on a descriptor: read, write (connect too), and except.
const EVENTS: [ReactorEvent; 3] = [ReactorEvent::Read, ReactorEvent::Write, ReactorEvent::Except];
const NANOS: i64 = 1_000_000_000;
/// What the tables of queues are called whose times are of the monotonic clock.
const MONOTONIC: &str = "steady_clock";

/// Where Asio's objects have their members, in bytes from their beginnings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AsioLayout {
    /// `epoll_reactor`: `scheduler_`, `registered_descriptors_.live_list_`, `timer_queues_.first_`.
    pub scheduler: u64,
    /// See [`AsioLayout::scheduler`].
    pub descriptors: u64,
    /// See [`AsioLayout::scheduler`].
    pub queues: u64,
    /// `descriptor_state`: `next_`, `reactor_`, `descriptor_`, `op_queue_`, and bytes of one of those queues.
    pub descriptor_next: u64,
    /// See [`AsioLayout::descriptor_next`].
    pub descriptor_reactor: u64,
    /// See [`AsioLayout::descriptor_next`].
    pub descriptor_fd: u64,
    /// See [`AsioLayout::descriptor_next`].
    pub descriptor_queues: u64,
    /// See [`AsioLayout::descriptor_next`].
    pub queue_size: u64,
    /// `scheduler_operation`: `next_` and `func_`.
    pub operation_next: u64,
    /// See [`AsioLayout::operation_next`].
    pub operation_function: u64,
    /// `scheduler`: the first of `op_queue_`.
    pub posted: Option<u64>,
    /// Timers, where the program has any.
    pub timers: Option<TimerLayout>,
}

/// Where queues of timers have their members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimerLayout {
    /// `timer_queue_base::next_`.
    pub next: u64,
    /// The beginning and the end of `heap_`.
    pub heap: (u64, u64),
    /// `heap_entry`: its bytes, `time_`, `timer_`.
    pub entry_size: u64,
    /// See [`TimerLayout::entry_size`].
    pub time: u64,
    /// See [`TimerLayout::entry_size`].
    pub timer: u64,
    /// The first of `op_queue_` of `per_timer_data`.
    pub operations: u64,
}

/// Adds Asio's reactors, and what waits in them.
pub fn find(host: &dyn Host, budget: &Budget, into: &mut Reactors) {
    for module in host.modules() {
        for (table, library) in TABLES {
            let Some(symbol) = module.symbols().table().data_named(table).first().copied() else {
                continue;
            };
            let at = module.addr(symbol.value()).and_then(|at| at.checked_add(TABLE_HEAD));
            let reactors = at.map(|at| objects(host, at)).unwrap_or_default();
            if !reactors.is_empty() {
                take(host, budget, (module, library), &reactors, into);
            }
        }
    }
}

fn take(
    host: &dyn Host,
    budget: &Budget,
    (module, library): (&dyn HostModule, &'static str),
    reactors: &[Addr],
    into: &mut Reactors,
) {
    into.found.extend(reactors);
    let Some(layout) = AsioLayout::of(module, library) else {
        let why = format!(
            "what waits in the reactor of {library} at {:x}: {} has no debug information of it",
            reactors.first().copied().unwrap_or_default(),
            module.name()
        );
        into.unknown.push(why.into());
        return;
    };
    let mut operations = Operations::new(host, budget, layout.operation_function);
    for reactor in reactors {
        let is_monotonic = |queue: Addr| is_of_monotonic_clock(host, queue);
        let found = read(host.space(), *reactor, &layout, &is_monotonic, &mut |function| {
            operations.of(function)
        });
        into.waits.extend(found.into_iter().map(|wait| ReactorWait { library, ..wait }));
    }
}

/// Objects that begin with a word, in memory that may be written, without those that were given back as far as an allocator
/// tells.
fn objects(host: &dyn Host, word: Addr) -> Vec<Addr> {
    let memory = host.ranges().into_iter().filter(|it| it.readable && !it.executable);
    let memory: Vec<AddrRange> = memory.filter(|it| !it.is_file).map(|it| it.range).collect();
    let is_one = |found: u64| (found == word.get()).then_some(word);
    let watch = &mut |_, _| ControlFlow::Continue(());
    let found = referring(host.space(), &memory, MAX_REACTORS, &is_one, watch).unwrap_or_default();
    let places = found.into_iter().map(|(at, _)| at);
    let is_live = |at: &Addr| match host.is_used_block(*at) {
        Some(is_used) => is_used,
        // They are made with `new`: on a stack lies what is left of one.
        None => host.thread_of_stack(*at).is_none(),
    };
    places.filter(is_live).collect()
}

/// Whether a queue of timers has times of the monotonic clock, as the name of its table of virtual functions tells.
fn is_of_monotonic_clock(host: &dyn Host, queue: Addr) -> bool {
    let name = || {
        let table = host.space().read_addr(queue).ok()?;
        let module = host.module_at(table)?;
        let symbol = module.symbols().table().find(module.svma(table)?)?;
        Some(String::from_utf8_lossy(symbol.name()).contains(MONOTONIC))
    };
    name().unwrap_or_default()
}

impl AsioLayout {
    /// That of the types of a module.
    fn of(module: &dyn HostModule, library: &str) -> Option<Self> {
        let info = module.symbols().debug_info()?;
        let types = |name: &str| info.find_types(&format!("{library}::detail::{name}"));
        let whole = |name: &str| types(name).into_iter().find(|ty| ty.composite().is_some());
        let reactor = whole("epoll_reactor")?;
        let (descriptors, list) = member(&reactor, &["registered_descriptors_", "live_list_"])?;
        let descriptor = pointee(&list)?;
        let (descriptor_queues, queues) = member(&descriptor, &["op_queue_"])?;
        let TypeKind::Array(array) = queues.kind() else { return None };
        let queue = queues.follow(&array.element).ok()?.stripped().ok()?;
        let operation = pointee(&member(&queue, &["front_"])?.1)?;
        let (scheduler, to) = member(&reactor, &["scheduler_"])?;
        Some(Self {
            scheduler,
            descriptors,
            queues: offset(&reactor, &["timer_queues_", "first_"])?,
            descriptor_next: offset(&descriptor, &["next_"])?,
            descriptor_reactor: offset(&descriptor, &["reactor_"])?,
            descriptor_fd: offset(&descriptor, &["descriptor_"])?,
            descriptor_queues,
            queue_size: queue.size()?,
            operation_next: offset(&operation, &["next_"])?,
            operation_function: offset(&operation, &["func_"])?,
            posted: pointee(&to).and_then(|to| offset(&to, &["op_queue_", "front_"])),
            timers: types("timer_queue").iter().find_map(TimerLayout::of),
        })
    }
}

impl TimerLayout {
    fn of(queue: &Type) -> Option<Self> {
        let (start, first) = vector(queue, ["_M_start", "__begin_"])?;
        let (end, _) = vector(queue, ["_M_finish", "__end_"])?;
        let entry = pointee(&first)?;
        let (timer, to) = member(&entry, &["timer_"])?;
        Some(Self {
            next: offset(queue, &["next_"])?,
            heap: (start, end),
            entry_size: entry.size()?,
            time: offset(&entry, &["time_"])?,
            timer,
            operations: offset(&pointee(&to)?, &["op_queue_", "front_"])?,
        })
    }
}

/// A pointer of the vector `heap_`, as libstdc++ and libc++ call it.
fn vector(queue: &Type, [gnu, llvm]: [&str; 2]) -> Option<(u64, Type)> {
    member(queue, &["heap_", "_M_impl", gnu]).or_else(|| member(queue, &["heap_", llvm]))
}

/// What a reactor is read with.
struct AsioReader<'a> {
    space: &'a dyn AddressSpace,
    layout: &'a AsioLayout,
    reactor: Addr,
    operation: &'a mut dyn FnMut(Addr) -> Operation,
    found: Vec<ReactorWait>,
}

/// What waits in the reactor at an address. `is_monotonic` tells of a queue of timers whether its times are of the monotonic
/// clock, and `operation` what operations with a function have in common.
pub fn read(
    space: &dyn AddressSpace,
    reactor: Addr,
    layout: &AsioLayout,
    is_monotonic: &dyn Fn(Addr) -> bool,
    operation: &mut dyn FnMut(Addr) -> Operation,
) -> Vec<ReactorWait> {
    let mut reader = AsioReader { space, layout, reactor, operation, found: Vec::new() };
    reader.descriptors();
    reader.timers(is_monotonic);
    reader.posted();
    reader.found
}

impl AsioReader<'_> {
    fn pointer(&self, at: Addr, offset: u64) -> Option<Addr> {
        let to = self.space.read_addr(at.checked_add(offset)?).ok()?;
        (to.get() != 0).then_some(to)
    }

    /// The elements of a list that a word leads to. One that comes again ends it.
    fn list(&self, first: Option<Addr>, next: u64) -> Vec<Addr> {
        let mut met: FxHashMap<Addr, ()> = FxHashMap::default();
        let follow = |at: &Addr| self.pointer(*at, next);
        let all = std::iter::successors(first, follow).take(MAX_ELEMENTS);
        all.take_while(|at| met.insert(*at, ()).is_none()).collect()
    }

    fn descriptors(&mut self) {
        let layout = *self.layout;
        let first = self.pointer(self.reactor, layout.descriptors);
        for state in self.list(first, layout.descriptor_next) {
            if self.pointer(state, layout.descriptor_reactor) != Some(self.reactor) {
                return;
            }
            let fd = state.checked_add(layout.descriptor_fd);
            let fd = fd.and_then(|at| self.space.read_uint(at, 4).ok());
            let fd = fd.and_then(|fd| u32::try_from(fd).ok()).map(u32::cast_signed);
            for (index, event) in EVENTS.into_iter().enumerate() {
                let within = (index as u64).saturating_mul(layout.queue_size);
                let queue = layout.descriptor_queues.saturating_add(within);
                self.queue(state, queue, |wait| ReactorWait { event, fd, ..wait });
            }
        }
    }

    fn timers(&mut self, is_monotonic: &dyn Fn(Addr) -> bool) {
        let Some(timers) = self.layout.timers else { return };
        let first = self.pointer(self.reactor, self.layout.queues);
        for queue in self.list(first, timers.next) {
            if is_monotonic(queue) {
                self.timers_of(queue, timers);
            }
        }
    }

    fn timers_of(&mut self, queue: Addr, timers: TimerLayout) {
        let (start, end) = timers.heap;
        let bounds = self.pointer(queue, start).zip(self.pointer(queue, end));
        let Some((start, end)) = bounds.filter(|(start, end)| start <= end) else { return };
        let count = end.get().saturating_sub(start.get()).checked_div(timers.entry_size);
        let count = count.unwrap_or_default().min(MAX_ELEMENTS as u64);
        for index in 0..count {
            let entry = index.saturating_mul(timers.entry_size);
            let Some(entry) = start.checked_add(entry) else { return };
            let time = entry.checked_add(timers.time).and_then(|at| self.space.read_word(at).ok());
            let Some(timer) = self.pointer(entry, timers.timer) else { return };
            let deadline = time.map(|nanos| deadline(nanos.cast_signed()));
            let event = ReactorEvent::Timer;
            self.queue(timer, timers.operations, |wait| ReactorWait { event, deadline, ..wait });
        }
    }

    /// Operations that are complete, or that somebody posted.
    fn posted(&mut self) {
        let scheduler = self.pointer(self.reactor, self.layout.scheduler);
        if let (Some(scheduler), Some(posted)) = (scheduler, self.layout.posted) {
            self.queue(scheduler, posted, |wait| wait);
        }
    }

    /// The operations of a queue, as far as there is room.
    fn queue(&mut self, at: Addr, first: u64, make: impl Fn(ReactorWait) -> ReactorWait) {
        let layout = *self.layout;
        for at in self.list(self.pointer(at, first), layout.operation_next) {
            if self.found.len() >= MAX_ELEMENTS {
                return;
            }
            // The scheduler's own mark in its queue, which says that the reactor is to be asked, has no function.
            let Some(function) = self.pointer(at, layout.operation_function) else { continue };
            let known = (self.operation)(function);
            self.found.push(make(ReactorWait {
                library: "asio",
                reactor: self.reactor,
                at,
                event: ReactorEvent::Posted,
                fd: None,
                deadline: None,
                function: known.function,
                operation: known.kind,
                promise: known.promise.and_then(|offset| self.pointer(at, offset)),
            }));
        }
    }
}

fn deadline(nanos: i64) -> Deadline {
    let nanos_of_second = u32::try_from(nanos.rem_euclid(NANOS)).unwrap_or_default();
    Deadline { seconds: nanos.div_euclid(NANOS), nanos: nanos_of_second }
}
