//! Where the parts of the virtual machine lie, as its own tables say.

use kcore_mem::AddressSpace;

use super::{
    compiled::CompiledLayout, fields::FieldLayout, flags::Flags, heap::HeapLayout,
    klass::KlassLayout, locks::LockLayout, memory::Memory, method::MethodLayout, oops::Oops,
    roots::HandleLayout, saved_registers::SavedLayout, spaces::Collector, stream::Coding,
    threads::ThreadLayout, throwable::TraceLayout, vm_structs::VmStructs, walk::BufferLayout,
};

/// The first version that writes no byte of a number as zero.
const FROM_ONE: u8 = 20;

/// The layouts of one virtual machine.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Methods and classes.
    pub methods: MethodLayout,
    /// Compiled code.
    pub compiled: CompiledLayout,
    /// Whether code may have been compiled: not with `-Xint`, which alone turns off both options.
    pub compiles: bool,
    /// What pieces of code save of registers; `None` where the tables do not describe it.
    pub saved: Option<SavedLayout>,
    /// Threads; `None` where the tables do not describe them.
    pub threads: Option<ThreadLayout>,
    /// Objects and their fields; `None` where they cannot be decoded.
    pub objects: Option<(Oops, FieldLayout)>,
    /// Monitors; `None` where the tables do not describe them.
    pub locks: Option<LockLayout>,
    /// The heap and the classes; `None` where the tables do not describe them.
    pub heap: Option<HeapLayout>,
    /// How classes lay out their objects; `None` where the tables do not say.
    pub klasses: Option<KlassLayout>,
    /// Where the collector keeps objects; `None` where its heap cannot be walked.
    pub collector: Option<Collector>,
    /// The memory that threads set aside.
    pub buffers: Option<BufferLayout>,
    /// References of native code.
    pub handles: Option<HandleLayout>,
    /// Where exceptions were thrown; `None` where the tables do not describe it.
    pub traces: Option<TraceLayout>,
    /// What the tables do not describe, in words.
    pub missing: Vec<String>,
}

impl Layout {
    /// The layouts of a version, as its tables describe them.
    ///
    /// # Errors
    /// In words, where they do not describe what frames need.
    pub fn of(tables: &VmStructs, space: &dyn AddressSpace, major: u8) -> Result<Self, String> {
        let coding = if major < FROM_ONE { Coding::FromZero } else { Coding::FromOne };
        let mut missing = Vec::new();
        let threads =
            ThreadLayout::of(tables).map_err(|why| missing.push(format!("threads: {why}")));
        let objects = Oops::read(tables, space, major)
            .and_then(|oops| Ok((oops, FieldLayout::of(tables)?)))
            .map_err(|why| missing.push(format!("objects: {why}")));
        let locks = LockLayout::of(tables).map_err(|why| missing.push(format!("locks: {why}")));
        let heap = HeapLayout::of(tables).map_err(|why| missing.push(format!("heap: {why}")));
        let memory = Memory(space);
        let flags = Flags::read(tables, space);
        let alignment = flags.number(space, "ObjectAlignmentInBytes").unwrap_or(8);
        if objects.as_ref().is_ok_and(|(oops, _)| oops.may_lose_moved()) {
            missing.push(
                "references that ZGC has not updated yet since it moved an object".to_owned(),
            );
        }
        let klasses = KlassLayout::of(tables, memory, alignment)
            .map_err(|why| missing.push(format!("classes: {why}")));
        let collector = Collector::of(tables, &flags, space)
            .map_err(|why| missing.push(format!("all objects: {why}")));
        let is_off = |name| flags.is_on(space, name) == Some(false);
        Ok(Self {
            compiles: !(is_off("UseCompiler") && is_off("UseOnStackReplacement")),
            methods: MethodLayout::of(tables, coding)?,
            compiled: CompiledLayout::of(tables, coding, major)?,
            saved: SavedLayout::of(tables, memory),
            threads: threads.ok(),
            objects: objects.ok(),
            locks: locks.ok(),
            heap: heap.ok(),
            klasses: klasses.ok(),
            collector: collector.ok(),
            buffers: BufferLayout::of(tables, memory),
            handles: HandleLayout::of(tables),
            traces: TraceLayout::of(tables),
            missing,
        })
    }
}
