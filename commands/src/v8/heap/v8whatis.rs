//! `::v8whatis` — the heap object that holds an address.

use kcore::v8::V8;
use kcore::v8::census::{HeapOccupant, Holder};
use kcore::{Addr, AddrRange};
use kcore_dcmd::{
    AddrUse, Args, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Opt, Record, Result, Spec,
    View,
};

use super::counted::tagged;
use crate::operand;

const OPTIONS: &[Opt] = &[
    Opt {
        flag: 'v',
        value: None,
        help: "also show the kind and size of the object, and where the address lies in it",
    },
    Opt {
        flag: 'd',
        value: Some("maxoff"),
        help: "only if the address is at most this far from the beginning",
    },
];

const HELP: &str = "\
kcore searches only the chunk of the heap that holds the address. Memory from which V8 was about \
to allocate holds no objects, only remains of dead ones.";

const EXAMPLES: &[Example] = &[Example {
    line: "::findjsobjects -c Module | ::v8whatis -v",
    shows: "the object, and its size",
}];

/// Finds the object around an address.
pub struct V8whatis;

impl Dcmd for V8whatis {
    fn spec(&self) -> Spec {
        Spec::new("v8whatis", Group::Runtimes, "find the JavaScript heap object around an address")
            .addr(AddrUse::Required)
            .options(OPTIONS)
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let farthest = operand::option(cx, args, 'd', u64::MAX)?;
        let word = cx.dot().number();
        let core = cx.core();
        let place = core.runtimes().of::<V8>().find_map(|v8| {
            // A tagged value is the address of its object.
            let at = if word & 1 == 1 { word & !3 } else { word };
            v8.place(core.as_ref(), Addr::new(at))
        });
        let verbose = args.has('v');
        match place {
            Some(HeapOccupant::Object(holder)) if holder.offset <= farthest => {
                cx.emit(&HolderRecord { holder, verbose })
            }
            Some(HeapOccupant::Unused(range)) => Err(unused(word, range)),
            _ => Err(DcmdError::at(Addr::new(word), format!("{word:x} is in no heap object"))),
        }
    }
}

/// The error for an address in memory that V8 was about to allocate.
fn unused(word: u64, range: AddrRange) -> DcmdError {
    let (start, end) = (range.start.get(), range.end.get());
    let why = format!(
        "{word:x} is in no heap object: V8 was about to allocate from {start:x} to {end:x}"
    );
    DcmdError::at(Addr::new(word), why)
}

struct HolderRecord {
    holder: Holder,
    verbose: bool,
}

impl Record for HolderRecord {
    fn kind(&self) -> &'static str {
        "js_holder"
    }

    fn view(&self) -> View {
        View::Line(if self.verbose {
            "{address:x} (type: {class}), {bytes} bytes, at offset {offset}"
        } else {
            "{address:x}"
        })
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.addr("address", tagged(self.holder.at))
            .text("class", self.holder.class.as_ref())
            .num("bytes", self.holder.size)
            .hex("offset", self.holder.offset);
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(tagged(self.holder.at)))
    }
}
