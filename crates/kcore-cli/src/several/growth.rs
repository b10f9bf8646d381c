//! The classes of languages' heaps that grew from one core to another.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use kcore::{Core, objects::ClassCount};
use kcore_dcmd::{Column, DcmdError, Fields, Record, Sink, View};

/// Classes that are shown.
const SHOWN: usize = 20;

/// A class of a runtime's language. Its name is absent if it cannot be read.
type ClassKey = (&'static str, Option<Arc<str>>);

/// How many objects a class has, and their own size in bytes.
#[derive(Clone, Copy, Default)]
struct Size {
    count: u64,
    bytes: u64,
}

/// How many objects each class has, and how large they are, in the heaps of all languages of one core.
#[derive(Default)]
pub(super) struct ClassSizes {
    by_class: BTreeMap<ClassKey, Size>,
    /// What could not be read of each heap.
    missing: Vec<String>,
}

impl ClassSizes {
    /// Those of a core; none if it has no heap that can be read.
    pub(super) fn of(core: &Core) -> Self {
        let mut sizes = Self::default();
        for (identity, objects) in core.runtimes().with_objects(core) {
            let mut go_on = |_, _| ControlFlow::Continue(());
            let counts = objects.class_counts(core, &mut go_on).unwrap_or_default();
            for ClassCount { count, bytes, example, .. } in counts {
                let key = (identity.name, objects.class_at(core, example));
                sizes.add(key, Size { count, bytes });
            }
            let missing = objects.missing(core);
            sizes.missing.extend(missing.map(|missing| format!("{}: {missing}", identity.name)));
        }
        sizes
    }

    fn add(&mut self, key: ClassKey, size: Size) {
        let known = self.by_class.entry(key).or_default();
        known.count = known.count.saturating_add(size.count);
        known.bytes = known.bytes.saturating_add(size.bytes);
    }
}

const COLUMNS: &[Column] = &[
    Column::right("more_bytes", "MORE BYTES", 12),
    Column::right("bytes", "BYTES", 12),
    Column::right("more", "MORE", 10),
    Column::right("count", "COUNT", 10),
    Column::left("runtime", "RUNTIME", 8),
    Column::left("class", "CLASS", 0),
];

/// A class that has more bytes than before.
struct Growth<'a> {
    runtime: &'static str,
    class: Option<&'a str>,
    before: Size,
    after: Size,
}

impl Growth<'_> {
    const fn more_bytes(&self) -> u64 {
        self.after.bytes.saturating_sub(self.before.bytes)
    }
}

impl Record for Growth<'_> {
    fn kind(&self) -> &'static str {
        "class_growth"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.text("runtime", self.runtime)
            .opt_text("class", self.class)
            .num("bytes_before", self.before.bytes)
            .num("bytes", self.after.bytes)
            .num("more_bytes", self.more_bytes())
            .num("count_before", self.before.count)
            .num("count", self.after.count)
            // Larger objects may take the place of many small ones.
            .num("more", self.after.count.saturating_sub(self.before.count));
    }
}

/// Shows the classes whose objects have more bytes than before, the largest growth first. Notes say what was not read,
/// and how many classes are not shown.
pub(super) fn show(
    before: &ClassSizes,
    after: &ClassSizes,
    sink: &mut dyn Sink,
) -> Result<(), DcmdError> {
    for (which, sizes) in [("first", before), ("second", after)] {
        for missing in &sizes.missing {
            sink.note(&format!("{missing}: there may be more objects in the {which} core"))?;
        }
    }
    let growth = after.by_class.iter().map(|(key, after)| {
        let before = before.by_class.get(key).copied().unwrap_or_default();
        Growth { runtime: key.0, class: key.1.as_deref(), before, after: *after }
    });
    let mut grown: Vec<Growth<'_>> = growth.filter(|class| class.more_bytes() > 0).collect();
    grown.sort_by_key(|class| Reverse(class.more_bytes()));
    grown.iter().take(SHOWN).try_for_each(|class| sink.put(class))?;
    match grown.len().saturating_sub(SHOWN) {
        0 => Ok(()),
        more => sink.note(&format!("{more} more classes grew less")),
    }
}
