//! Registers of machines without a layout of their own: all of them in the kernel's order, in two columns, then where
//! the thread stands.

use kcore_dcmd::{Cell, Fields};

use super::{Layout, RegsRecord};

/// The layout.
pub const LAYOUT: Layout = Layout { template: TEMPLATE, derived };

/// As many lines as the registers take: no machine has more than eighty.
const TEMPLATE: &str = "\
{line0}{line1?\n{line1}}{line2?\n{line2}}{line3?\n{line3}}{line4?\n{line4}}\
{line5?\n{line5}}{line6?\n{line6}}{line7?\n{line7}}{line8?\n{line8}}{line9?\n{line9}}\
{line10?\n{line10}}{line11?\n{line11}}{line12?\n{line12}}{line13?\n{line13}}\
{line14?\n{line14}}{line15?\n{line15}}{line16?\n{line16}}{line17?\n{line17}}\
{line18?\n{line18}}{line19?\n{line19}}{line20?\n{line20}}{line21?\n{line21}}\
{line22?\n{line22}}{line23?\n{line23}}{line24?\n{line24}}{line25?\n{line25}}\
{line26?\n{line26}}{line27?\n{line27}}{line28?\n{line28}}{line29?\n{line29}}\
{line30?\n{line30}}{line31?\n{line31}}{line32?\n{line32}}{line33?\n{line33}}\
{line34?\n{line34}}{line35?\n{line35}}{line36?\n{line36}}{line37?\n{line37}}\
{line38?\n{line38}}{line39?\n{line39}}\n\n{where}{symbol? {symbol}}";

const LINES: [&str; 40] = [
    "line0", "line1", "line2", "line3", "line4", "line5", "line6", "line7", "line8", "line9",
    "line10", "line11", "line12", "line13", "line14", "line15", "line16", "line17", "line18",
    "line19", "line20", "line21", "line22", "line23", "line24", "line25", "line26", "line27",
    "line28", "line29", "line30", "line31", "line32", "line33", "line34", "line35", "line36",
    "line37", "line38", "line39",
];

/// Cells that only the template shows.
fn derived<'a>(regs: &'a RegsRecord<'_>, out: &mut Fields<'a>) {
    let core = regs.names.core();
    let digits = core.target().register_size().saturating_mul(2);
    for (name, line) in LINES.iter().zip(columns(&regs.values, digits)) {
        out.display(name, Cell::text(line));
    }
    let pc = core.machine().and_then(|machine| regs.value(machine.pc_name()));
    let place = pc.map_or_else(|| "%pc <unknown>".to_owned(), |pc| format!("%pc 0x{pc:x}"));
    out.display("where", Cell::text(place));
}

/// Two columns, read downwards. Values have at least `digits` digits.
fn columns(values: &[(&'static str, Option<u64>)], digits: usize) -> Vec<String> {
    let width = values.iter().map(|(name, _)| name.len()).max().unwrap_or_default();
    let cell = |(name, value): &(&str, Option<u64>)| {
        let value = value.map_or_else(|| "<unknown>".to_owned(), |it| format!("0x{it:0digits$x}"));
        format!("%{name:width$} = {value:wide$}", wide = digits.saturating_add(2))
    };
    let (left, right) = values.split_at(values.len().div_ceil(2));
    let line = |(index, value): (usize, &(&'static str, Option<u64>))| match right.get(index) {
        Some(right) => format!("{}  {}", cell(value), cell(right).trim_end()),
        None => cell(value).trim_end().to_owned(),
    };
    left.iter().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_column_goes_on_where_the_first_ends() {
        let lines = columns(&[("r0", Some(1)), ("r1", None), ("cpsr", Some(0x10))], 8);
        assert_eq!(lines, ["%r0   = 0x00000001  %cpsr = 0x00000010", "%r1   = <unknown>"]);
    }

    #[test]
    fn the_template_has_each_line() {
        assert!(LINES.iter().all(|name| TEMPLATE.contains(&format!("{{{name}}}"))));
    }
}
