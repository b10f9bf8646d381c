//! `::nodebuffer` — the bytes of a Buffer.

use kcore::Addr;
use kcore_dcmd::{
    AddrUse, Args, Cx, Dcmd, Dot, Example, Fields, Group, Record, Result, Spec, View,
};

use super::subject::Subject;

/// Tells where the bytes of a Buffer lie.
pub struct Nodebuffer;

impl Dcmd for Nodebuffer {
    fn spec(&self) -> Spec {
        let summary = "show where the bytes of a Buffer, typed array or ArrayBuffer lie";
        Spec::new("nodebuffer", Group::Runtimes, summary)
            .addr(AddrUse::Required)
            .help("In a pipe, ::nodebuffer passes the address of the first byte.")
            .examples(&[Example {
                line: "::jsstack -f waitFor -p this | ::jsprint cell | ::nodebuffer | ::dump",
                shows: "the bytes of a typed array",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let subject = Subject::of(cx)?;
        let found = subject.v8.bytes(subject.core, subject.word);
        let (data, length) = found.ok_or_else(|| subject.not_an("object with bytes"))?;
        cx.emit(&Bytes { data, length })
    }
}

struct Bytes {
    data: Addr,
    length: u64,
}

impl Record for Bytes {
    fn kind(&self) -> &'static str {
        "js_bytes"
    }

    fn view(&self) -> View {
        View::Line("{address} {length} bytes")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.addr("address", self.data).num("length", self.length);
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.data))
    }
}
