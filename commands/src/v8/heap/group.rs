//! A group of objects, as `::findjsobjects` lists it.

use kcore::v8::census::Group;
use kcore_dcmd::{Cell, Column, Dot, Fields, Record, View};

use super::counted::tagged;

/// Columns of a line.
const WIDTH: usize = 80;
/// Columns before the name of the constructor.
const BEFORE: usize = 35;

/// What stands for keys in which objects of a group differ.
const OTHERS: &str = "<other keys>";
/// What stands in place of the names that do not fit.
const CUT: &str = ", ...";

const COLUMNS: &[Column] = &[
    Column::right("object", "OBJECT", 16).spec("x"),
    Column::right("objects", "#OBJECTS", 8),
    Column::right("property_count", "#PROPS", 8),
    Column::left("shown", "CONSTRUCTOR: PROPS", 0),
];

/// One line.
pub struct GroupRecord<'g>(pub &'g Group);

impl GroupRecord<'_> {
    /// The constructor, and as many names of properties as fit.
    fn shown(&self) -> String {
        let mut shown = self.0.constructor.to_string();
        let mut before = ": ";
        let names = self.0.properties.iter().map(|name| &**name);
        for name in names.chain(self.0.differs.then_some(OTHERS)) {
            let taken = [shown.as_str(), before, name, CUT].map(|text| text.chars().count());
            if taken.into_iter().fold(BEFORE, usize::saturating_add) > WIDTH {
                shown.push_str(before);
                shown.push_str(CUT.trim_start_matches([',', ' ']));
                break;
            }
            shown.push_str(before);
            shown.push_str(name);
            before = ", ";
        }
        shown
    }
}

impl Record for GroupRecord<'_> {
    fn kind(&self) -> &'static str {
        "js_group"
    }

    fn view(&self) -> View {
        View::Table(COLUMNS)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let group = self.0;
        let names = group.properties.iter().map(|name| Cell::text(name.as_ref()));
        out.addr("object", tagged(group.example))
            .num("objects", group.count)
            .num("property_count", group.properties.len() as u64)
            .text("constructor", group.constructor.as_ref())
            .put("properties", Cell::List(names.collect()))
            .flag("differs", group.differs)
            .num("bytes", group.bytes)
            .display("shown", Cell::text(self.shown()));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(tagged(self.0.example)))
    }
}
