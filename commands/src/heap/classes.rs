//! `::classes` — the objects of all languages' heaps, by class.

use std::{cmp::Reverse, collections::BTreeMap, sync::Arc};

use kcore::Addr;
use kcore::graph::ClassSize;
use kcore::objects::ClassCount;
use kcore_dcmd::{
    Args, Column, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Opt, Record, Result, Spec, View,
};

use super::subject::ObjectHeap;
use crate::{operand, watched::watched};

/// Classes that are shown of a heap unless more are asked for.
const SHOWN: usize = 20;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'a', value: None, help: "show every class" },
    Opt {
        flag: 'n',
        value: Some("count"),
        help: "how many classes of each heap to show, in decimal (default 20)",
    },
    Opt {
        flag: 'c',
        value: Some("class"),
        help: "print the addresses of the objects of this class instead",
    },
    Opt { flag: 'r', value: None, help: "show what each class retains, and sort by that" },
];

const HELP: &str = "\
Shows for each class how many objects it has and their own size in bytes, the largest class first. It counts the heap \
of every language runtime that kcore decodes; ::runtimes lists them. Python's heap lists only objects that can refer \
to others, so plain numbers and strings are not counted.\n\n\
With -r, RETAINED is what would be freed together with all objects of the class: their own size, and that of all \
objects that only they keep. An object that no known root keeps retains nothing. ::help path lists the known roots.";

const EXAMPLES: &[Example] = &[
    Example { line: "::classes -n 10", shows: "the ten classes with the most bytes" },
    Example { line: "::classes -r", shows: "the classes that retain most" },
    Example { line: "::classes -c Thread | ::path", shows: "why the objects of a class are kept" },
];

/// Counts objects by class.
pub struct Classes;

impl Dcmd for Classes {
    fn spec(&self) -> Spec {
        Spec::new("classes", Group::Runtimes, "count the objects of languages' heaps by class")
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let most = match args.value('n') {
            _ if args.has('a') => usize::MAX,
            Some(word) => operand::decimal(word)?,
            None => SHOWN,
        };
        let wanted = args.value('c').map(|class| class.to_text());
        let mut matches = wanted.is_none();
        for heap in ObjectHeap::all(cx)? {
            match &wanted {
                Some(class) => matches |= list(cx, heap, class)?,
                None => {
                    let rows = if args.has('r') { retained(cx, heap)? } else { counted(cx, heap)? };
                    rows.iter().take(most).try_for_each(|row| cx.emit(row))?;
                }
            }
            heap.note_missing(cx)?;
        }
        match wanted.filter(|_| !matches) {
            Some(class) => Err(DcmdError::failed(format!("no object has the class {class}"))),
            None => Ok(()),
        }
    }
}

/// The objects of each class; classes of one name are one.
fn counted(cx: &mut Cx<'_>, heap: ObjectHeap<'_>) -> Result<Vec<ClassRecord>> {
    let counts = watched(cx, |watch| heap.objects.class_counts(heap.core, watch))?;
    let mut by_name: BTreeMap<Option<Arc<str>>, ClassRecord> = BTreeMap::new();
    for ClassCount { count, bytes, example, .. } in counts {
        let class = heap.objects.class_at(heap.core, example);
        let known = by_name.entry(class.clone()).or_insert_with(|| ClassRecord {
            runtime: heap.identity.name,
            class,
            count: 0,
            bytes: 0,
            retained: None,
            example: Some(heap.objects.reference_to(example)),
        });
        known.count = known.count.saturating_add(count);
        known.bytes = known.bytes.saturating_add(bytes);
    }
    let mut rows: Vec<ClassRecord> = by_name.into_values().collect();
    rows.sort_by_key(|row| Reverse((row.bytes, row.count)));
    Ok(rows)
}

/// The objects of each class, with what they retain together.
fn retained(cx: &mut Cx<'_>, heap: ObjectHeap<'_>) -> Result<Vec<ClassRecord>> {
    let graph = heap.graph(cx)?;
    let retained = watched(cx, |watch| heap.objects.retained(&graph, watch))?;
    let name = |at| heap.objects.class_at(heap.core, at).unwrap_or_default();
    let sizes = graph.class_sizes(&retained, &name);
    Ok(sizes.into_iter().map(|size| ClassRecord::of(heap, size)).collect())
}

/// The addresses of the objects of a class; whether there is such a class.
fn list(cx: &mut Cx<'_>, heap: ObjectHeap<'_>, wanted: &str) -> Result<bool> {
    let counts = watched(cx, |watch| heap.objects.class_counts(heap.core, watch))?;
    let is_wanted = |count: &ClassCount| {
        heap.objects.class_at(heap.core, count.example).as_deref() == Some(wanted)
    };
    let classes: Vec<Option<Addr>> =
        counts.iter().filter(|count| is_wanted(count)).map(|count| count.class).collect();
    if classes.is_empty() {
        return Ok(false);
    }
    let mut found = Vec::new();
    watched(cx, |watch| {
        heap.objects.each_object(heap.core, watch, &mut |object| {
            found.extend(classes.contains(&object.class).then_some(object.at));
        })
    })?;
    for at in found {
        let at = heap.objects.reference_to(at);
        cx.emit(&ObjectAddress { at, runtime: heap.identity.name })?;
    }
    Ok(true)
}

const COLUMNS: &[Column] = &[
    Column::right("count", "COUNT", 10),
    Column::right("bytes", "BYTES", 12),
    Column::right("retained", "RETAINED", 12),
    Column::left("runtime", "RUNTIME", 8),
    Column::left("class", "CLASS", 0),
];

/// The objects of a class.
struct ClassRecord {
    runtime: &'static str,
    class: Option<Arc<str>>,
    count: u64,
    bytes: u64,
    /// What would be freed with them, in bytes; `None` where it was not asked for.
    retained: Option<u64>,
    /// One of them, as the language refers to it.
    example: Option<Addr>,
}

impl ClassRecord {
    fn of(heap: ObjectHeap<'_>, size: ClassSize) -> Self {
        Self {
            runtime: heap.identity.name,
            class: Some(size.class).filter(|class| !class.is_empty()),
            count: size.count.saturating_add(size.dead_count),
            bytes: size.bytes.saturating_add(size.dead_bytes),
            retained: Some(size.retained),
            example: size.example.map(|at| heap.objects.reference_to(at)),
        }
    }
}

impl Record for ClassRecord {
    fn kind(&self) -> &'static str {
        "class"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("runtime", self.runtime)
            .opt_text("class", self.class.as_deref())
            .num("count", self.count)
            .num("bytes", self.bytes)
            .num("retained", self.retained)
            .addr("example", self.example);
    }

    fn dot(&self) -> Option<Dot> {
        self.example.map(Dot::Addr)
    }
}

/// An object, by its address alone.
struct ObjectAddress {
    at: Addr,
    runtime: &'static str,
}

impl Record for ObjectAddress {
    fn kind(&self) -> &'static str {
        "heap_object"
    }

    fn view(&self) -> View {
        View::Line("{address:x}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("runtime", self.runtime).addr("address", self.at);
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.at))
    }
}
