//! How many objects each class has, and the objects of a class.

use std::{cmp::Reverse, sync::Arc};

use kcore_mem::Addr;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Java, element::source_name};
use crate::{
    Host,
    objects::{HeapObject, Objects, Stopped, Watch},
};

/// The objects of a heap by their class.
#[derive(Clone, Debug, Default)]
pub struct ClassHistogram {
    /// Classes, that with the most bytes first. Those of several loaders that have one name are one.
    pub rows: Vec<HistogramRow>,
    /// All together.
    pub total: HistogramRow,
}

/// The objects of one class.
#[derive(Clone, Debug, Default)]
pub struct HistogramRow {
    /// Its name as sources have it; `None` of all classes together.
    pub class: Option<Arc<str>>,
    /// How many there are.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How many are reachable, and their bytes, where that was asked for.
    pub live: Option<(u64, u64)>,
    /// One of them.
    pub example: Option<Addr>,
}

/// The classes whose objects are wanted.
#[derive(Clone, Debug, Default)]
pub struct WantedClass(FxHashSet<Addr>);

impl WantedClass {
    /// Whether there is such a class.
    pub fn is_known(&self) -> bool {
        !self.0.is_empty()
    }
}

impl HistogramRow {
    const fn add(&mut self, at: Addr, bytes: u64) {
        self.count = self.count.saturating_add(1);
        self.bytes = self.bytes.saturating_add(bytes);
        if self.example.is_none() {
            self.example = Some(at);
        }
    }
}

impl Java {
    /// Counts all objects.
    ///
    /// # Errors
    /// When whoever watches stopped it.
    pub fn histogram(&self, host: &dyn Host, watch: Watch<'_>) -> Result<ClassHistogram, Stopped> {
        let mut by_class: FxHashMap<Addr, HistogramRow> = FxHashMap::default();
        self.each_object(host, watch, &mut |HeapObject { at, class, size }| {
            by_class.entry(class.unwrap_or_default()).or_default().add(at, size);
        })?;
        Ok(self.named_rows(host, by_class))
    }

    /// Counts all objects, and those that are reachable; `None` where there are too many to find that out.
    ///
    /// # Errors
    /// When whoever watches stopped it.
    pub fn live_histogram(
        &self,
        host: &dyn Host,
        watch: Watch<'_>,
    ) -> Result<Option<ClassHistogram>, Stopped> {
        let Some(graph) = self.graph(host, watch)? else { return Ok(None) };
        let retained = self.retained(&graph, watch)?;
        let mut by_class: FxHashMap<Addr, HistogramRow> = FxHashMap::default();
        let nodes = graph.nodes();
        self.each_object(host, watch, &mut |HeapObject { at, class, size }| {
            let row = by_class.entry(class.unwrap_or_default()).or_default();
            row.add(at, size);
            let live = row.live.get_or_insert_default();
            let node = nodes.number(at);
            if node.is_some_and(|node| retained.bytes(node).is_some()) {
                *live = (live.0.saturating_add(1), live.1.saturating_add(size));
            }
        })?;
        Ok(Some(self.named_rows(host, by_class)))
    }

    fn named_rows(&self, host: &dyn Host, rows: FxHashMap<Addr, HistogramRow>) -> ClassHistogram {
        let mut total = HistogramRow::default();
        let mut by_name: FxHashMap<Arc<str>, HistogramRow> = FxHashMap::default();
        for row in rows.into_values() {
            let Some(name) = row.example.and_then(|at| self.class_at(host, at)) else { continue };
            sum(&mut total, &row);
            let class = Some(name.clone());
            let known = by_name.entry(name).or_insert_with(|| HistogramRow {
                class,
                example: row.example,
                ..HistogramRow::default()
            });
            sum(known, &row);
        }
        let mut rows: Vec<HistogramRow> = by_name.into_values().collect();
        rows.sort_by(|a, b| {
            Reverse(a.bytes).cmp(&Reverse(b.bytes)).then_with(|| a.class.cmp(&b.class))
        });
        ClassHistogram { rows, total }
    }

    /// The class of a name as sources have it, and those that extend it unless it alone is wanted.
    pub fn wanted_class(&self, host: &dyn Host, name: &str, is_alone: bool) -> WantedClass {
        let (Some(reader), Some(heap)) = (self.objects_in(host.space()), &self.layout.heap) else {
            return WantedClass::default();
        };
        let memory = reader.memory;
        let is_it = |class| {
            reader.methods.class(memory, class).is_some_and(|own| source_name(&own) == name)
        };
        let mut all = Vec::new();
        heap.each_class(&reader, &mut |class, _| all.push(class));
        let named: FxHashSet<Addr> = all.iter().copied().filter(|class| is_it(*class)).collect();
        if is_alone || named.is_empty() {
            return WantedClass(named);
        }
        let extends = |class: &Addr| {
            let parent = |class: &Addr| reader.fields.parent(memory, *class);
            let mut classes = std::iter::successors(Some(*class), parent).take(super::MAX_DEPTH);
            classes.any(|class| named.contains(&class))
        };
        WantedClass(all.iter().copied().filter(extends).collect())
    }

    /// The objects of some classes, lowest first.
    ///
    /// # Errors
    /// When whoever watches stopped it.
    pub fn instances(
        &self,
        host: &dyn Host,
        wanted: &WantedClass,
        watch: Watch<'_>,
    ) -> Result<Vec<Addr>, Stopped> {
        let mut found = Vec::new();
        if !wanted.is_known() {
            return Ok(found);
        }
        self.each_object(host, watch, &mut |object| {
            found.extend(object.class.filter(|class| wanted.0.contains(class)).map(|_| object.at));
        })?;
        Ok(found)
    }
}

fn sum(to: &mut HistogramRow, row: &HistogramRow) {
    to.count = to.count.saturating_add(row.count);
    to.bytes = to.bytes.saturating_add(row.bytes);
    if let Some((count, bytes)) = row.live {
        let live = to.live.get_or_insert_default();
        *live = (live.0.saturating_add(count), live.1.saturating_add(bytes));
    }
}
