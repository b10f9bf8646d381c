//! An object that was found, by its address alone.

use std::sync::Arc;

use kcore::Addr;
use kcore_dcmd::{Dot, Fields, Record, View};

use super::counted::tagged;

/// An object of JavaScript.
pub struct ObjectRecord {
    /// Where it begins, without tag.
    pub at: Addr,
    /// The name of its constructor.
    pub constructor: Arc<str>,
}

impl Record for ObjectRecord {
    fn kind(&self) -> &'static str {
        "js_object"
    }

    fn view(&self) -> View {
        View::Line("{address:x}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.addr("address", tagged(self.at)).text("constructor", self.constructor.as_ref());
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(tagged(self.at)))
    }
}
