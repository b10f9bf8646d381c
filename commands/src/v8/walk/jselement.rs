//! The `jselement` walker.

use kcore::Addr;
use kcore::v8::value::Held;
use kcore_dcmd::{AddrUse, Cx, Dot, Result, Visit, Walker, WalkerSpec};

use crate::v8::subject::Subject;

/// Steps over the elements of an array.
pub struct Jselement;

impl Walker for Jselement {
    fn spec(&self) -> WalkerSpec {
        let summary = "walk the elements of a JavaScript array that are tagged values";
        WalkerSpec { name: "jselement", summary, addr: AddrUse::Required }
    }

    fn walk(&self, cx: &mut Cx<'_>, from: Option<Dot>, visit: &mut Visit<'_>) -> Result<()> {
        let subject = Subject::at(cx.core(), from.unwrap_or_default().number())?;
        let elements = subject.v8.elements(subject.core, subject.word, u64::MAX);
        let (elements, _) = elements.ok_or_else(|| subject.not_an("array"))?;
        let bare = elements.iter().filter(|(_, held)| matches!(held, Held::Bare(_))).count();
        if bare > 0 {
            cx.note(&format!("{bare} elements are bare numbers, which have no address"))?;
        }
        elements.into_iter().try_for_each(|(_, held)| match held {
            Held::Word(word) => visit(cx, Dot::Addr(Addr::new(word))),
            Held::Bare(_) => Ok(()),
        })
    }
}
