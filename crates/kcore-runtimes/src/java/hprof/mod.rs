//! The heap as a dump that heap analyzers read: HPROF binary format 1.0.2, as `src/hotspot/share/services/heapDumper.cpp`
//! of JDK 11 to 25 describes and writes it.
//!
//! Objects are numbered by their addresses, classes by those of their `java.lang.Class`. Everything is written as it is
//! met; what is kept of an object is the bit that says where it begins.

mod classes;
mod objects;
mod output;
mod roots;
mod stacks;
mod starts;

use std::io;

use kcore_mem::Addr;
use kcore_unwind::Tid;
use rustc_hash::FxHashMap;

use super::{Java, classes::Objects, klass::KlassLayout};
use crate::{
    Host, LanguageFrame,
    objects::{Objects as _, Stopped, Watch},
};
use classes::Fields;
use output::Output;
use starts::Starts;

/// The stack of a thread.
#[derive(Clone, Debug)]
pub struct DumpedStack {
    /// The thread.
    pub thread: Tid,
    /// Its frames of Java, innermost first, each with the end of its memory where that is known.
    pub frames: Vec<(LanguageFrame, Option<Addr>)>,
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeapDump {
    /// Classes.
    pub classes: u64,
    /// Objects and arrays.
    pub objects: u64,
    /// Roots.
    pub roots: u64,
    /// Stacks of threads.
    pub stacks: u64,
    /// What is not in it, in words.
    pub missing: Vec<String>,
}

/// Why there is no dump.
#[derive(Debug, thiserror::Error)]
pub enum HeapDumpError {
    /// It cannot be written.
    #[error(transparent)]
    Write(#[from] io::Error),
    /// Whoever watches stopped it.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The heap cannot be walked.
    #[error("the heap of Java cannot be walked: {0}")]
    NoHeap(String),
}

/// A dump that is written.
struct Dump<'a> {
    java: &'a Java,
    host: &'a dyn Host,
    objects: &'a Objects<'a>,
    klasses: &'a KlassLayout,
    out: Output<'a>,
    /// Of each class that was told, the address of its `java.lang.Class`, and the fields of its objects.
    classes: FxHashMap<Addr, (Addr, Fields)>,
    /// The numbers of classes that have one, by their names.
    serials: FxHashMap<std::sync::Arc<str>, u32>,
    starts: Starts,
    told: HeapDump,
}

impl Java {
    /// Writes the heap, the stacks of threads and what keeps objects.
    ///
    /// # Errors
    /// Where the heap cannot be walked, the dump cannot be written, or whoever watches stopped it.
    pub fn write_hprof(
        &self,
        host: &dyn Host,
        stacks: &[DumpedStack],
        to: &mut dyn io::Write,
        watch: Watch<'_>,
    ) -> Result<HeapDump, HeapDumpError> {
        let no_heap = || {
            let why = self.identity.undecoded.iter().map(|it| it.why.to_string());
            HeapDumpError::NoHeap(why.collect::<Vec<_>>().join("; "))
        };
        let objects = self.objects_in(host.space()).ok_or_else(no_heap)?;
        let klasses = self.layout.klasses.as_ref().ok_or_else(no_heap)?;
        self.spaces(host).ok_or_else(no_heap)?;
        let mut dump = Dump {
            java: self,
            host,
            objects: &objects,
            klasses,
            out: Output::new(to),
            classes: FxHashMap::default(),
            serials: FxHashMap::default(),
            starts: Starts::default(),
            told: HeapDump::default(),
        };
        dump.write(stacks, watch)?;
        Ok(dump.told)
    }
}

impl Dump<'_> {
    fn write(&mut self, stacks: &[DumpedStack], watch: Watch<'_>) -> Result<(), HeapDumpError> {
        self.out.header()?;
        let classes = self.name_classes()?;
        let threads = self.write_stacks(stacks)?;
        for class in classes {
            self.write_class(class)?;
        }
        self.write_objects(watch)?;
        self.write_roots(&threads, stacks, watch)?;
        self.told.missing.extend(self.java.missing(self.host));
        Ok(self.out.end()?)
    }
}
