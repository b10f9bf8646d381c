//! How large objects are, by class and one by one.

use kcore::Addr;
use kcore::graph::ClassSize;
use kcore_dcmd::{Column, Dot, Fields, Record, View};

use super::counted::tagged;

const COLUMNS: &[Column] = &[
    Column::right("count", "COUNT", 10),
    Column::right("bytes", "BYTES", 12),
    Column::right("retained", "RETAINED", 12),
    Column::right("unreachable", "UNREACHABLE", 12),
    Column::left("class", "CLASS", 0),
];

/// The objects of a class.
pub struct ClassRecord<'s>(pub &'s ClassSize);

impl Record for ClassRecord<'_> {
    fn kind(&self) -> &'static str {
        "js_class"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let size = self.0;
        out.num("count", size.count)
            .num("bytes", size.bytes)
            .num("retained", size.retained)
            .num("unreachable", size.dead_count)
            .num("unreachable_bytes", size.dead_bytes)
            .text("class", size.class.as_ref())
            .addr("object", size.example.map(tagged));
    }

    fn dot(&self) -> Option<Dot> {
        self.0.example.map(|at| Dot::Addr(tagged(at)))
    }
}

/// All classes together.
pub struct TotalRecord {
    /// How many classes there are.
    pub classes: u64,
    /// How many of them are not shown.
    pub hidden: u64,
    /// How many objects are reachable.
    pub count: u64,
    /// Their size in bytes.
    pub bytes: u64,
    /// How many are not reachable any more.
    pub dead_count: u64,
    /// Their size in bytes.
    pub dead_bytes: u64,
}

impl TotalRecord {
    /// The sums of classes of which only some are shown.
    pub fn of(sizes: &[ClassSize], shown: usize) -> Self {
        let sum = |part: fn(&ClassSize) -> u64| sizes.iter().map(part).fold(0, u64::saturating_add);
        Self {
            classes: sizes.len() as u64,
            hidden: sizes.len().saturating_sub(shown) as u64,
            count: sum(|size| size.count),
            bytes: sum(|size| size.bytes),
            dead_count: sum(|size| size.dead_count),
            dead_bytes: sum(|size| size.dead_bytes),
        }
    }
}

impl Record for TotalRecord {
    fn kind(&self) -> &'static str {
        "js_heap"
    }

    fn view(&self) -> View {
        View::Line(
            "{count:>10} {bytes:>12} {blank:12} {unreachable:>12} \
             all {classes} classes{more?, {hidden} of them not shown}",
        )
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.num("count", self.count)
            .num("bytes", self.bytes)
            .num("unreachable", self.dead_count)
            .num("unreachable_bytes", self.dead_bytes)
            .num("classes", self.classes)
            .num("hidden", self.hidden)
            .display("more", kcore_dcmd::Cell::Bool(self.hidden > 0))
            .display("blank", kcore_dcmd::Cell::text(""));
    }
}

/// One object.
pub struct ObjectSize {
    /// Where it begins, without tag.
    pub at: Addr,
    /// What it is counted as.
    pub class: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// What would be freed with it, in bytes; `None` if it is not reachable.
    pub retained: Option<u64>,
}

impl Record for ObjectSize {
    fn kind(&self) -> &'static str {
        "js_object_size"
    }

    fn view(&self) -> View {
        View::Line(
            "{address:x} {class}: {bytes} bytes, \
             {retained?{retained} retained}{retained^not reachable}",
        )
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.addr("address", tagged(self.at))
            .text("class", self.class.as_str())
            .num("bytes", self.bytes)
            .num("retained", self.retained);
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(tagged(self.at)))
    }
}
