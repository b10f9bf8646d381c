//! `$d` — the radix of numbers.

use kcore_dcmd::{AddrUse, Args, Cx, Dcmd, Example, Fields, Group, Record, Result, Spec, View};

const EXAMPLES: &[Example] = &[
    Example { line: "$d", shows: "the radix" },
    Example { line: "0t10$d; 0x10$d", shows: "numbers in decimal, and back" },
];

/// Shows the radix of numbers, or sets it.
pub struct Radix;

impl Dcmd for Radix {
    fn spec(&self) -> Spec {
        Spec::new("$d", Group::Language, "show or set the radix of numbers")
            .addr(AddrUse::Optional)
            .help(
                "The address is the new radix, from 2 to 16. Write it with a prefix (0t10, \
                 0x10), because kcore reads it in the old radix. The radix applies to numbers \
                 that you type and that kcore prints.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        if let Some(dot) = cx.addr() {
            cx.shell_mut().set_radix(dot.number())?;
        }
        let radix = cx.shell().radix();
        cx.emit(&RadixRecord(radix))
    }
}

struct RadixRecord(u32);

impl Record for RadixRecord {
    fn kind(&self) -> &'static str {
        "radix"
    }

    fn view(&self) -> View {
        View::Line("radix = {radix} base ten")
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        out.num("radix", u64::from(self.0));
    }
}
