//! What threads of Java wait for, and who holds it: monitors, and the owned synchronizers of `java.util.concurrent`.
//!
//! `src/hotspot/share/runtime/{objectMonitor.hpp,lockStack.hpp,javaThread.hpp}`, JDK 11 to 25. A monitor that somebody waits
//! for is always an `ObjectMonitor`. Its owner is a thread, to JDK 21 perhaps by an address in its stack, since JDK 24 by
//! its number; or it is not known there, and the object is in the lock stack of its owner.

use std::{cell::OnceCell, collections::BTreeMap, sync::Arc};

use kcore_mem::{Addr, AddrRange};
use rustc_hash::FxHashMap;

use super::{
    classes::Objects,
    lock_thread::LockThread,
    memory::Memory,
    parked_monitors, readers,
    threads::{JavaThread, Threads},
    virtual_threads::VirtualThread,
    vm_structs::VmStructs,
};

/// Objects in the lock stack of one thread, at most: JDK 25 has room for eight.
const MAX_HELD: u64 = 64;
/// What stands for an owner that the monitor does not know.
const ANONYMOUS: u64 = 1;
/// The class of what knows its owner, and the field.
const OWNED: &str = "java.util.concurrent.locks.AbstractOwnableSynchronizer";
const OWNER: &str = "exclusiveOwnerThread";
/// Why an owner is not known.
const UNREAD_OWNER: &str = "who holds it was not copied, or cannot be read";
const UNKNOWN_OWNER: &str = "held by a thread that is not known";

/// Where the fields of monitors lie.
#[derive(Clone, Copy, Debug)]
pub struct LockLayout {
    pending: u64,
    waiting: u64,
    object: u64,
    /// Whether `object` leads to a pointer to the object: to JDK 15 it is the object itself.
    is_handle: bool,
    owner: u64,
    /// Where a thread has the number by which monitors know it, since JDK 24.
    owner_number: Option<u64>,
    stack_base: u64,
    stack_size: u64,
    lock_stack: Option<LockStack>,
}

/// Where a thread keeps the objects whose monitors it entered without anybody else wanting that.
#[derive(Clone, Copy, Debug)]
struct LockStack {
    top: u64,
    base: u64,
}

/// What threads wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JavaLock {
    /// The object.
    pub object: Addr,
    /// Its class.
    pub class: Option<Arc<str>>,
    /// Whether it is a monitor, and not a synchronizer.
    pub is_monitor: bool,
    /// The thread that holds it.
    pub owner: Option<LockThread>,
    /// Why it is not known whether and by whom it is held, in words, where it is not.
    pub owner_missing: Option<&'static str>,
    /// The threads that hold it for reading, as far as they are known.
    pub readers: Vec<LockThread>,
    /// How often it is held for reading by others than these.
    pub unknown_readers: u64,
    /// Who waits for it.
    pub waiters: Vec<LockWaiter>,
}

/// A thread that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockWaiter {
    /// The thread.
    pub thread: LockThread,
    /// Why it waits.
    pub reason: WaitReason,
}

/// Why a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitReason {
    /// It wants to enter a monitor.
    Enter,
    /// It waits to be notified, `Object.wait`.
    Notify,
    /// It is parked.
    Park,
}

impl WaitReason {
    /// The word for it in output.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enter => "enter",
            Self::Notify => "notify",
            Self::Park => "park",
        }
    }
}

/// What somebody waits for, before its owner is known.
#[derive(Clone, Copy)]
struct WantedLock {
    object: Addr,
    monitor: Option<Addr>,
    reason: WaitReason,
}

impl LockLayout {
    /// The layout that the tables of a virtual machine describe.
    ///
    /// # Errors
    /// In words, where they lack something.
    pub fn of(tables: &VmStructs) -> Result<Self, String> {
        let of_thread = |field: &str| {
            let own = tables.need(&format!("JavaThread.{field}"));
            own.or_else(|why| tables.offset(&format!("Thread.{field}")).ok_or(why))
        };
        let lock_stack = || {
            let own = tables.offset("JavaThread._lock_stack")?;
            let part = |field| own.checked_add(tables.offset(field)?);
            Some(LockStack { top: part("LockStack._top")?, base: part("LockStack._base[0]")? })
        };
        Ok(Self {
            pending: of_thread("_current_pending_monitor")?,
            waiting: of_thread("_current_waiting_monitor")?,
            object: tables.need("ObjectMonitor._object")?,
            is_handle: tables.offset("OopHandle._obj").is_some(),
            owner: tables.need("ObjectMonitor._owner")?,
            owner_number: tables.offset("JavaThread._monitor_owner_id"),
            stack_base: of_thread("_stack_base")?,
            stack_size: of_thread("_stack_size")?,
            lock_stack: lock_stack(),
        })
    }

    /// What all threads wait for, that with the most waiters first.
    pub fn locks(
        &self,
        objects: &Objects<'_>,
        threads: &Threads,
        virtual_threads: &[Arc<VirtualThread>],
        entered: &dyn Fn(&VirtualThread) -> Vec<Addr>,
    ) -> Vec<JavaLock> {
        let parked = Parked { all: virtual_threads, entered, by_entered: OnceCell::new() };
        let owners = Owners::of(self, objects.memory, threads, parked);
        let mut locks: BTreeMap<(Addr, bool), JavaLock> = BTreeMap::new();
        let of_system = threads
            .all
            .iter()
            .filter_map(|thread| Some((owners.running(thread), self.wanted(objects, thread)?)));
        // What one that a thread runs waits for in a monitor, that thread waits for.
        let of_heap = virtual_threads.iter().filter_map(|thread| {
            let wanted = self.wanted_by_virtual(objects, thread)?;
            Some((LockThread::Virtual(thread.clone()), wanted))
        });
        for (thread, wanted) in of_system.chain(of_heap) {
            let key = (wanted.object, wanted.monitor.is_some());
            let lock = locks.entry(key).or_insert_with(|| {
                let owner = self.owner(objects, &owners, wanted);
                let (readers, unknown_readers) = owners.readers(objects, wanted);
                JavaLock {
                    object: wanted.object,
                    class: objects.class_of(wanted.object).map(|(_, class)| class),
                    is_monitor: wanted.monitor.is_some(),
                    owner_missing: owner.as_ref().err().copied(),
                    owner: owner.ok().flatten(),
                    readers,
                    unknown_readers,
                    waiters: Vec::new(),
                }
            });
            lock.waiters.push(LockWaiter { thread, reason: wanted.reason });
        }
        let mut locks: Vec<JavaLock> = locks.into_values().collect();
        locks.sort_by_key(|lock| std::cmp::Reverse(lock.waiters.len()));
        locks
    }

    fn wanted(&self, objects: &Objects<'_>, thread: &JavaThread) -> Option<WantedLock> {
        let monitor = |field, reason| {
            let monitor = objects.memory.pointer(thread.at, field)?;
            let object = self.object_of(objects, monitor)?;
            Some(WantedLock { object, monitor: Some(monitor), reason })
        };
        let parked = || {
            let object = thread.facts.blocker?;
            Some(WantedLock { object, monitor: None, reason: WaitReason::Park })
        };
        monitor(self.pending, WaitReason::Enter)
            .or_else(|| monitor(self.waiting, WaitReason::Notify))
            .or_else(parked)
    }

    /// What a virtual thread waits for that says so itself.
    fn wanted_by_virtual(
        &self,
        objects: &Objects<'_>,
        thread: &VirtualThread,
    ) -> Option<WantedLock> {
        let monitor = || {
            let monitor = parked_monitors::awaited(objects, thread)?;
            let object = self.object_of(objects, monitor)?;
            let reason = match parked_monitors::is_to_be_notified(&thread.state) {
                true => WaitReason::Notify,
                false => WaitReason::Enter,
            };
            Some(WantedLock { object, monitor: Some(monitor), reason })
        };
        let parked = thread.blocker.map(|object| WantedLock {
            object,
            monitor: None,
            reason: WaitReason::Park,
        });
        parked.or_else(monitor)
    }

    /// The object whose monitor a virtual thread waits for that no thread runs.
    pub fn monitor_of(&self, objects: &Objects<'_>, thread: &VirtualThread) -> Option<Addr> {
        self.object_of(objects, parked_monitors::awaited(objects, thread)?)
    }

    /// The object of a monitor.
    fn object_of(&self, objects: &Objects<'_>, monitor: Addr) -> Option<Addr> {
        let memory = objects.memory;
        match (memory.pointer(monitor, self.object)?, self.is_handle) {
            (handle, true) => objects.oops.in_handle(memory, handle),
            (object, false) => Some(object),
        }
    }

    /// Who holds a lock, if somebody does.
    ///
    /// # Errors
    /// In words, where that is not known.
    fn owner(
        &self,
        objects: &Objects<'_>,
        owners: &Owners<'_>,
        wanted: WantedLock,
    ) -> Result<Option<LockThread>, &'static str> {
        let memory = objects.memory;
        let Some(monitor) = wanted.monitor else {
            if !objects.extends(wanted.object, OWNED).ok_or(UNREAD_OWNER)? {
                return Ok(None);
            }
            let owner = objects.referred(wanted.object, OWNER).map_err(|_| UNREAD_OWNER)?;
            let thread = |owner| owners.of_object(owner).ok_or(UNKNOWN_OWNER);
            return owner.map(thread).transpose();
        };
        match memory.uint(monitor, self.owner, 8).ok_or(UNREAD_OWNER)? {
            0 => Ok(None),
            owner => {
                let thread = self.owner_of_monitor(owners, wanted, owner);
                thread.map(Some).ok_or(UNKNOWN_OWNER)
            }
        }
    }

    /// The thread that a monitor says to hold it.
    fn owner_of_monitor(
        &self,
        owners: &Owners<'_>,
        wanted: WantedLock,
        owner: u64,
    ) -> Option<LockThread> {
        if owner == ANONYMOUS {
            let running = owners.by_held.get(&wanted.object).map(|thread| owners.running(thread));
            return running.or_else(|| owners.parked.that_entered(wanted.object));
        }
        // The number of a virtual thread is its own, whichever thread runs it.
        let by_id = || self.owner_number.and_then(|_| owners.virtual_by_id.get(&owner));
        if let Some(thread) = by_id() {
            return Some(LockThread::Virtual((*thread).clone()));
        }
        let of_system = owners.by_number.get(&owner).copied();
        of_system.or_else(|| owners.by_stack(Addr::new(owner))).map(|thread| owners.running(thread))
    }

    /// The stack of a thread.
    fn stack(&self, memory: Memory<'_>, thread: Addr) -> Option<AddrRange> {
        let base = memory.pointer(thread, self.stack_base)?;
        let size = memory.uint(thread, self.stack_size, 8)?;
        Some(AddrRange::new(Addr::new(base.get().checked_sub(size)?), base))
    }

    /// The objects in the lock stack of a thread, whose `_top` is relative to the thread.
    fn held(&self, memory: Memory<'_>, thread: Addr) -> Vec<Addr> {
        let held = || {
            let stack = self.lock_stack?;
            let len = memory.uint(thread, stack.top, 4)?.checked_sub(stack.base)?.checked_div(8)?;
            let first = thread.checked_add(stack.base)?;
            let offsets = (0..len.min(MAX_HELD)).map(|index| index.saturating_mul(8));
            Some(offsets.filter_map(|offset| memory.pointer(first, offset)).collect())
        };
        held().unwrap_or_default()
    }
}

/// Threads by what monitors know of their owners.
struct Owners<'a> {
    threads: &'a Threads,
    /// By the number or the address that a monitor has.
    by_number: FxHashMap<u64, &'a Arc<JavaThread>>,
    /// By the objects in their lock stacks.
    by_held: FxHashMap<Addr, &'a Arc<JavaThread>>,
    /// Their stacks, lowest first; none where monitors have numbers.
    stacks: Vec<(AddrRange, &'a Arc<JavaThread>)>,
    /// Virtual threads by their objects and by their numbers.
    virtual_by_object: FxHashMap<Addr, &'a Arc<VirtualThread>>,
    virtual_by_id: FxHashMap<u64, &'a Arc<VirtualThread>>,
    parked: Parked<'a>,
}

/// Virtual threads, and what they entered before they were parked, which is looked up when somebody first asks.
struct Parked<'a> {
    all: &'a [Arc<VirtualThread>],
    entered: &'a dyn Fn(&VirtualThread) -> Vec<Addr>,
    by_entered: OnceCell<FxHashMap<Addr, &'a Arc<VirtualThread>>>,
}

impl Parked<'_> {
    /// The one that entered the monitor of an object.
    fn that_entered(&self, object: Addr) -> Option<LockThread> {
        let by_entered = self.by_entered.get_or_init(|| {
            let all = self.all.iter();
            all.flat_map(|it| (self.entered)(it).into_iter().map(move |at| (at, it))).collect()
        });
        by_entered.get(&object).map(|thread| LockThread::Virtual((*thread).clone()))
    }
}

impl<'a> Owners<'a> {
    fn of(
        layout: &LockLayout,
        memory: Memory<'_>,
        threads: &'a Threads,
        parked: Parked<'a>,
    ) -> Self {
        let virtual_threads = parked.all;
        let mut owners = Self {
            threads,
            virtual_by_object: virtual_threads.iter().map(|it| (it.object, it)).collect(),
            virtual_by_id: virtual_threads.iter().map(|it| (it.id, it)).collect(),
            parked,
            by_number: FxHashMap::default(),
            by_held: FxHashMap::default(),
            stacks: Vec::new(),
        };
        for thread in &threads.all {
            let number = match layout.owner_number {
                Some(field) => memory.uint(thread.at, field, 8),
                None => Some(thread.at.get()),
            };
            owners.by_number.extend(number.map(|number| (number, thread)));
            owners
                .by_held
                .extend(layout.held(memory, thread.at).into_iter().map(|at| (at, thread)));
            let stack = layout.stack(memory, thread.at).filter(|_| layout.owner_number.is_none());
            owners.stacks.extend(stack.map(|stack| (stack, thread)));
        }
        owners.stacks.sort_by_key(|(stack, _)| stack.start);
        owners
    }

    /// The thread whose object lies at an address.
    fn of_object(&self, object: Addr) -> Option<LockThread> {
        let of_heap = self.virtual_by_object.get(&object);
        let of_heap = of_heap.map(|thread| LockThread::Virtual((*thread).clone()));
        of_heap.or_else(|| self.threads.of_object(object).cloned().map(LockThread::Platform))
    }

    /// Who holds a lock for reading, and how often others do that are not known.
    fn readers(&self, objects: &Objects<'_>, wanted: WantedLock) -> (Vec<LockThread>, u64) {
        let of_system = self.threads.all.iter().filter_map(|thread| thread.object);
        let mut all = of_system.chain(self.parked.all.iter().map(|thread| thread.object));
        let found = match wanted.monitor {
            Some(_) => None,
            None => readers::of_lock(objects, wanted.object, &mut all),
        };
        let found = found.unwrap_or_default();
        let threads: Vec<LockThread> =
            found.threads.iter().filter_map(|thread| self.of_object(*thread)).collect();
        let all_are_known = threads.len() == found.threads.len();
        let known = if all_are_known { found.known } else { threads.len() as u64 };
        (threads, found.holds.saturating_sub(known))
    }

    /// The virtual thread that a thread runs, or else that itself: what it holds and waits for is the former's.
    fn running(&self, thread: &Arc<JavaThread>) -> LockThread {
        let runs = thread.runs.filter(|runs| Some(*runs) != thread.object);
        match runs.and_then(|runs| self.virtual_by_object.get(&runs)) {
            Some(runs) => LockThread::Virtual((*runs).clone()),
            None => LockThread::Platform(thread.clone()),
        }
    }

    /// The thread in whose stack an address lies.
    fn by_stack(&self, at: Addr) -> Option<&'a Arc<JavaThread>> {
        let above = self.stacks.partition_point(|(stack, _)| stack.start <= at);
        let (stack, thread) = self.stacks.get(above.checked_sub(1)?)?;
        stack.contains(at).then_some(*thread)
    }
}
