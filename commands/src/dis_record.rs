//! One instruction of `::dis`.

use kcore::{Addr, Instruction};
use kcore_dcmd::{Cell, Dot, Fields, Record, View};

use crate::instruction;
use crate::names::Names;

/// Columns of the label, and the stop to which a longer one is padded.
const LABEL_WIDTH: usize = 32;
const LABEL_STOP: usize = 8;
/// Columns of the address before a label.
const ADDRESS_WIDTH: usize = 16;

/// What stands before an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Labels {
    Symbols,
    Addresses,
    Both,
}

/// One instruction.
pub struct InstructionRecord<'c> {
    pub names: &'c Names<'c>,
    pub instruction: Instruction,
    pub labels: Labels,
    /// Whether the current frame stands at it.
    pub current: bool,
    /// Whether it stands out.
    pub bold: bool,
}

impl InstructionRecord<'_> {
    /// The columns before the instruction, the mark included.
    fn label(&self) -> String {
        let at = self.instruction.addr;
        let address = format!("{:#x}", at.get());
        let symbol = || format!("{}:", self.names.spelled_or_address(at));
        let label = match self.labels {
            Labels::Symbols => padded(symbol()),
            Labels::Addresses => padded(address),
            Labels::Both => format!("{address:ADDRESS_WIDTH$}  {}", padded(symbol())),
        };
        if self.current { marked(label) } else { label }
    }
}

/// A label with at least one blank after it.
fn padded(label: String) -> String {
    let len = label.chars().count().saturating_add(1);
    let width = len.max(LABEL_WIDTH).next_multiple_of(LABEL_STOP);
    format!("{label:width$}")
}

/// The mark stands before the last blank, where a label that fills its column has its colon.
fn marked(mut label: String) -> String {
    label.pop();
    label.pop();
    label + "> "
}

impl Record for InstructionRecord<'_> {
    fn kind(&self) -> &'static str {
        "instruction"
    }

    fn view(&self) -> View {
        View::Line(if self.bold { "{label_text:!}{text:!}" } else { "{label_text}{text}" })
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let instruction = &self.instruction;
        let symbol = self.names.core().symbols().at(instruction.addr);
        let module = self.names.core().modules().at(instruction.addr);
        let bytes: String = instruction.bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let cell = |at: Option<Addr>| Cell::or_null(at, |at| Cell::Symbol(self.names.cell(at)));
        let operands = Some(instruction.operands.as_str()).filter(|text| !text.is_empty());
        out.addr("address", instruction.addr)
            .opt_text("module", module.map(kcore::Module::name))
            .opt_text("symbol", symbol.as_ref().map(|symbol| symbol.name.to_string()))
            .hex("offset", symbol.as_ref().map(|symbol| symbol.offset))
            .text("bytes", bytes)
            .text("mnemonic", instruction.mnemonic.as_str())
            .opt_text("operands", operands)
            .text("text", instruction::text(self.names, instruction))
            .put("target", cell(instruction.flow.target()))
            .put("reference", cell(instruction.reference))
            .flag("current", self.current)
            .display("label_text", Cell::text(self.label()));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.instruction.addr))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_their_column_with_a_mark() {
        for len in [1, 30, 31, 32, 33, 40, 41] {
            let label = padded("x".repeat(len - 1) + ":");
            assert!(label.len() >= 32 && label.len().is_multiple_of(8), "{len}");
            let marked = marked(label.clone());
            assert_eq!(marked.len(), label.len(), "{len}");
            assert!(label.ends_with(' ') && marked.ends_with("> "), "{len}");
        }
    }
}
