//! `::dump` — memory in hexadecimal and ASCII.

mod layout;
mod record;

use kcore::{Addr, AddressSpace, Fault};
use kcore_dcmd::{AddrUse, Args, Cx, Dcmd, DcmdError, Dot, Example, Group, Opt, Result, Spec};

use self::layout::Layout;
use self::record::LineRecord;
use crate::operand;

const OPTIONS: &[Opt] = &[
    Opt {
        flag: 'e',
        value: None,
        help: "show each group as a number, in the byte order of the target",
    },
    Opt { flag: 'f', value: None, help: "read the object file instead of memory" },
    Opt { flag: 'p', value: None, help: "read physical memory, which a core does not have" },
    Opt { flag: 'q', value: None, help: "omit the ASCII column" },
    Opt {
        flag: 'r',
        value: None,
        help: "show offsets from the start instead of addresses; implies -u",
    },
    Opt { flag: 's', value: None, help: "show one * for lines that repeat" },
    Opt {
        flag: 't',
        value: None,
        help: "show only the bytes that you asked for, and blanks for others",
    },
    Opt {
        flag: 'u',
        value: None,
        help: "begin at the address, not at a multiple of the line width",
    },
    Opt { flag: 'v', value: None, help: "show addresses in full width" },
    Opt { flag: 'g', value: Some("bytes"), help: "bytes in a group: a power of two (default 4)" },
    Opt { flag: 'l', value: Some("bytes"), help: "the number of bytes to show" },
    Opt { flag: 'w', value: Some("paragraphs"), help: "16-byte paragraphs in a line, 1 to 16" },
];

const EXAMPLES: &[Example] = &[
    Example { line: "<rsp,40::dump", shows: "0x40 bytes of the stack" },
    Example { line: "<rsp,40::dump -e -g 8", shows: "the same bytes as words" },
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
                "The count is a number of bytes. The default is 1, which shows one line. Lines \
                 begin at a multiple of their width; \\/ and v in the header mark the column of \
                 the address. Dot is left behind the last byte that you asked for.\n\n\
                 If memory ends, ::dump shows what it could read and then says why it stopped.",
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

/// Emits line after line, including what was read of a line before a fault.
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

/// Reads a line. Memory outside of the wanted bytes may be missing.
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
