//! The `jsprop` walker.

use kcore::Addr;
use kcore::v8::value::{Limits, Slot, ValueKind};
use kcore_dcmd::{AddrUse, Cx, Dot, Result, Visit, Walker, WalkerSpec};

use crate::v8::subject::Subject;

/// Steps over the values of an object's properties, in their order.
pub struct Jsprop;

/// Properties of one object, at most.
const MAX_PROPERTIES: u64 = 1 << 20;

impl Walker for Jsprop {
    fn spec(&self) -> WalkerSpec {
        let summary = "walk the values of a JavaScript object's properties";
        WalkerSpec { name: "jsprop", summary, addr: AddrUse::Required }
    }

    fn walk(&self, cx: &mut Cx<'_>, from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        let subject = Subject::at(cx.core(), from.unwrap_or_default().number())?;
        let limits = Limits { depth: 1, entries: MAX_PROPERTIES, units: 0 };
        let ValueKind::Object(object) = subject.value(limits).kind else {
            return Err(subject.not_an("object"));
        };
        let elements = object.elements.iter().filter_map(|element| word(&element.slot));
        let properties = object.properties.iter().filter_map(|member| word(&member.slot));
        let mut words = elements.chain(properties);
        words.try_for_each(|word| visit(cx, Dot::Addr(Addr::new(word))))
    }
}

/// The value of a property; accessors have none.
const fn word(slot: &Slot) -> Option<u64> {
    match slot {
        Slot::Value(value) => value.word,
        Slot::Accessor { .. } => None,
    }
}
