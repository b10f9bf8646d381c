//! A reference from one object to another.

use kcore::Addr;
use kcore::objects::Referrer;
use kcore_dcmd::{Cell, Dot, Fields, Record, View};

use super::{counted::tagged, edge};
use crate::heap::edge::unreferred;

/// What refers to an object.
pub struct ReferrerRecord<'r> {
    /// The reference.
    pub referrer: &'r Referrer,
    /// Whether the line names the object that is referred to, and the class of the one that refers.
    pub view: &'static str,
}

/// `ADDR referred to by OBJ.prop`.
pub const REFERRED: &str = "{object:x} referred to by {address:x}{shown}{weak? (weak)}";

impl Record for ReferrerRecord<'_> {
    fn kind(&self) -> &'static str {
        "js_reference"
    }

    fn view(&self) -> View {
        View::Line(self.view)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let referrer = self.referrer;
        out.addr("object", tagged(referrer.to))
            .addr("address", tagged(referrer.at))
            .opt_text("class", referrer.class.as_deref());
        edge::fields(&referrer.edge, out);
        out.flag("weak", referrer.is_weak)
            .display("shown", Cell::text(edge::shown(&referrer.edge)));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(tagged(self.referrer.at)))
    }
}

/// Nothing refers to an object.
pub struct Unreferred(pub Addr);

impl Record for Unreferred {
    fn kind(&self) -> &'static str {
        "js_unreferred"
    }

    fn view(&self) -> View {
        View::Line("{address:x} is not referred to by a known object.")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.addr("address", tagged(self.0));
    }

    fn absence(&self) -> Option<String> {
        Some(unreferred(tagged(self.0)))
    }
}
