//! The `jselement` walker.

use kcore::Addr;
use kcore::v8::value::ElementContent;
use kcore_dcmd::{AddrUse, Cx, Dot, Result, Visit, Walker, WalkerSpec};

use crate::v8::each_element::each_element;
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
        let mut bare: u64 = 0;
        each_element(subject, &mut |_, held| match held {
            ElementContent::Word(word) | ElementContent::Accessor(word) => {
                visit(cx, Dot::Addr(Addr::new(word)))
            }
            ElementContent::Bare(_) => {
                bare = bare.saturating_add(1);
                Ok(())
            }
        })?;
        match bare {
            0 => Ok(()),
            _ => cx.note(&format!("{bare} elements are bare numbers, which have no address")),
        }
    }
}
