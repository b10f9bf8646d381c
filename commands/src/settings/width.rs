//! `$w` — columns of a line.

use kcore_dcmd::{AddrUse, Args, Cx, Dcmd, DcmdError, Example, Group, Message, Result, Spec};

/// Columns that a line can have.
const WIDTHS: std::ops::RangeInclusive<u64> = 16..=4096;

/// Shows or sets the width of lines.
pub struct Width;

impl Dcmd for Width {
    fn spec(&self) -> Spec {
        Spec::new("$w", Group::Language, "show or set the width of lines")
            .addr(AddrUse::Optional)
            .help(
                "The address is the number of columns at which format letters wrap. Without an \
                 address, $w shows the width: the one that you set, or else that of the \
                 terminal, or 80. 0 follows the terminal again.",
            )
            .examples(&[Example { line: "0t132$w", shows: "the new width" }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        if let Some(width) = cx.addr().map(|dot| dot.number()) {
            cx.shell_mut().settings_mut().page_width = chosen(width)?;
        }
        let text = format!("output page width = {}", cx.shell().page_width());
        cx.emit(&Message(text))
    }
}

fn chosen(width: u64) -> Result<Option<usize>> {
    match usize::try_from(width) {
        Ok(0) => Ok(None),
        Ok(columns) if WIDTHS.contains(&width) => Ok(Some(columns)),
        _ => {
            let (least, most) = (WIDTHS.start(), WIDTHS.end());
            let message = format!("expected a width from 0t{least} to 0t{most}, not 0t{width}");
            Err(DcmdError::failed(message))
        }
    }
}
