//! `::dump` — memory in hexadecimal and ASCII.

mod layout;
mod record;

use kcore::{Addr, AddressSpace, Fault};
use kcore_dcmd::{AddrUse, Args, Cx, Dcmd, DcmdError, Dot, Example, Group, Opt, Result, Spec};

use self::layout::Layout;
use self::record::LineRecord;
use crate::operand;

const OPTIONS: &[Opt] = &[
    Opt { flag: 'e', value: None, help: "swap each group to the byte order of numbers" },
    Opt { flag: 'f', value: None, help: "read the object file, not memory" },
    Opt { flag: 'p', value: None, help: "read physical memory, which a core does not have" },
    Opt { flag: 'q', value: None, help: "no ASCII" },
    Opt { flag: 'r', value: None, help: "offsets from the beginning in place of addresses; as -u" },
    Opt { flag: 's', value: None, help: "one * for lines that repeat" },
    Opt { flag: 't', value: None, help: "only the bytes asked for, others blank" },
    Opt { flag: 'u', value: None, help: "do not begin at a multiple of the line's width" },
    Opt { flag: 'v', value: None, help: "addresses in full width" },
    Opt { flag: 'g', value: Some("bytes"), help: "bytes in a group: a power of two, default 4" },
    Opt { flag: 'l', value: Some("bytes"), help: "how many bytes" },
    Opt { flag: 'w', value: Some("paragraphs"), help: "16-byte paragraphs in a line, 1 to 16" },
];

const EXAMPLES: &[Example] = &[
    Example { line: "<rsp,40::dump", shows: "0x40 bytes of the stack" },
    Example { line: "<rsp,40::dump -e -g 8", shows: "the same as words" },
    Example { line: "main,20::dump -r", shows: "code of a function, with offsets" },
];

/// Shows memory in hexadecimal and ASCII.
pub struct Dump;

impl Dcmd for Dump {
    fn spec(&self) -> Spec {
        Spec::new("dump", Group::Memory, "dump memory from an address")
            .addr(AddrUse::Optional)
            .options(OPTIONS)
            .takes_count()
            .help(
                "The count is one of bytes; without it one byte, which means one line. Lines begin \
                 at a multiple of their width; the header marks the column of the address by \\/ \
                 and v. Dot is left behind the bytes asked for.\n\n\
                 Where memory ends, what could be read is shown, and then why no more.",
            )
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        refuse_physical(cx, args)?;
        let core = cx.core();
        let file = core.file_space();
        let space: &dyn AddressSpace =
            if args.has('f') || core.file().is_none() { &file } else { core.space() };
        let layout = layout(cx, args)?;
        show(cx, space, &layout, args.has('s'))?;
        cx.shell_mut().set_dot(Dot::Addr(layout.end), 0);
        Ok(())
    }
}

fn refuse_physical(cx: &Cx<'_>, args: &Args) -> Result<()> {
    match (args.has('p'), args.has('f')) {
        (true, true) => Err(DcmdError::usage("only one of -f and -p may be specified")),
        (true, false) => {
            let at = cx.dot().addr();
            let reason = "operation not supported by target";
            Err(DcmdError::at(at, format!("failed to read data at {at:#x}: {reason}")))
        }
        (false, _) => Ok(()),
    }
}

fn layout(cx: &Cx<'_>, args: &Args) -> Result<Layout> {
    let at = cx.dot().addr();
    let count = operand::count_option(cx, args, 'l', cx.input().count.unwrap_or(1))?;
    let paragraphs = operand::count_option(cx, args, 'w', 1)?;
    if !(1..=16).contains(&paragraphs) {
        return Err(DcmdError::usage(format!("invalid number of paragraphs -- {paragraphs}")));
    }
    let group = operand::count_option(cx, args, 'g', 4)?;
    Ok(Layout::new(at, count, paragraphs, group, args))
}

/// Emits line after line; what was read of a line before a fault is shown too.
fn show(cx: &mut Cx<'_>, space: &dyn AddressSpace, layout: &Layout, squeeze: bool) -> Result<()> {
    let mut previous: Option<Vec<u8>> = None;
    let mut squeezed = false;
    let mut at = layout.start;
    while at < layout.end {
        let mut bytes = vec![0; layout.line];
        let (read, fault) = read_line(space, layout, at, &mut bytes);
        bytes.truncate(read);
        let repeats = squeeze && previous.as_ref() == Some(&bytes) && fault.is_none();
        let star = repeats && !squeezed;
        squeezed = repeats;
        if !bytes.is_empty() {
            let header = at == layout.start;
            cx.emit(&LineRecord { layout, at, bytes: &bytes, header, repeats, star })?;
        }
        if let Some(fault) = fault {
            return Err(failure(fault));
        }
        previous = Some(bytes);
        at = at.saturating_add(layout.line as u64);
    }
    Ok(())
}

/// Reads a line. What lies beyond the bytes asked for need not be there.
fn read_line(
    space: &dyn AddressSpace,
    layout: &Layout,
    at: Addr,
    bytes: &mut [u8],
) -> (usize, Option<Fault>) {
    let (read, fault) = space.read_partial(at, bytes);
    let fault = fault.filter(|fault| fault.addr() < layout.end);
    (read, fault)
}

fn failure(fault: Fault) -> DcmdError {
    let (at, reason) = (fault.addr(), fault.reason());
    DcmdError::at(at, format!("failed to read data at {at:#x}: {reason}"))
}
