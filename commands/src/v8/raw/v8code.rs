//! `::v8code` — machine code that V8 made.

use kcore::Addr;
use kcore::v8::CodeView;
use kcore_dcmd::{
    AddrUse, Args, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Opt, Record, Result, Spec,
    View,
};

use crate::v8::subject;

/// Instructions that are disassembled, at most.
const MAX_INSTRUCTIONS: u64 = 10_000;

/// Shows code.
pub struct V8code;

impl Dcmd for V8code {
    fn spec(&self) -> Spec {
        Spec::new("v8code", Group::Runtimes, "show machine code that V8 made")
            .addr(AddrUse::Required)
            .options(&[Opt { flag: 'd', value: None, help: "disassemble the code" }])
            .help(
                "The address lies in the code, such as a pc of a stack, or is that of V8's Code \
                 object. Code that is part of V8 itself is a builtin, and ::v8code does not \
                 show it.",
            )
            .examples(&[Example {
                line: "::jsfunctions -X ! head -3",
                shows: "the addresses of the machine code of functions, for ::v8code",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let core = cx.core();
        let at = cx.addr().unwrap_or_default().addr();
        let v8s = subject::instances(core)?;
        let found = v8s.iter().find_map(|v8| v8.code(&**core, at));
        let code = found
            .ok_or_else(|| DcmdError::at(at, format!("{:x} is not code that V8 made", at.get())))?;
        cx.emit(&CodeRecord(&code))?;
        if args.has('d') { disassemble(cx, &code) } else { Ok(()) }
    }
}

/// Disassembles code.
///
/// # Errors
/// As those of `::dis`.
pub fn disassemble(cx: &mut Cx<'_>, code: &CodeView) -> Result<()> {
    let start = code.instructions.start;
    let bytes = code.instructions.end.offset_from(start).unwrap_or_default();
    // An instruction has 4 bytes on average: ::dis stops where code ends.
    let count = bytes.checked_div(4).unwrap_or_default().clamp(1, MAX_INSTRUCTIONS);
    cx.eval(&format!("::dis -a -n 0t{count}"), Dot::Addr(start))
}

struct CodeRecord<'c>(&'c CodeView);

impl Record for CodeRecord<'_> {
    fn kind(&self) -> &'static str {
        "v8_code"
    }

    fn view(&self) -> View {
        View::Line("{address}: Code ({code_kind}), instructions {start} to {end}")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.addr("address", Addr::new(self.0.at.get() | 1))
            .text("code_kind", self.0.kind)
            .addr("start", self.0.instructions.start)
            .addr("end", self.0.instructions.end)
            .hex("flags", self.0.flags);
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.0.instructions.start))
    }
}
