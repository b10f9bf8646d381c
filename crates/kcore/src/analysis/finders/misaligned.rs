//! An access by an instruction that wants an aligned address.

use kcore_mem::MemoryOperand;

use crate::analysis::{Crash, EvidenceSource, Finder, FinderScope, Finding};

/// Instructions that want their operand to begin at a multiple of its size (Intel SDM, volume 2), without the `v` of
/// their newer forms.
const ALIGNED: [&str; 7] =
    ["movaps", "movapd", "movdqa", "movntps", "movntpd", "movntdq", "movntdqa"];
/// The newer forms of `movdqa` have the size of their elements in their names.
const ALIGNED_ELEMENTS: [&str; 2] = ["movdqa32", "movdqa64"];

pub const FINDER: Finder = Finder {
    name: "misaligned",
    needs: "a disassembler, and the registers at a fault without an address",
    scope: FinderScope::Crash(find),
};

fn find(crash: &Crash<'_>) -> Result<Option<Finding>, &'static str> {
    let Some(mnemonic) = crash.mnemonic().filter(|_| crash.has_no_address()) else {
        return Ok(None);
    };
    if !wants_alignment(&mnemonic) {
        return Ok(None);
    }
    let operands = crash.operands();
    let Some(operand) = operands.iter().find(|operand| is_misaligned(operand)) else {
        return Ok(None);
    };
    let access = operand.access;
    let sentence = format!(
        "the instruction {mnemonic} wants a multiple of {} as address, and {} is none{}",
        access.size,
        access.addr,
        crash.in_own_code()
    );
    let finding = Finding::certain(sentence);
    let finding =
        finding.with(format!("the instruction touches {}", access.addr), crash.shown_by_code());
    Ok(Some(finding.then_ask("where it came from", EvidenceSource::Stack(crash.tid()))))
}

fn wants_alignment(mnemonic: &str) -> bool {
    let name = mnemonic.strip_prefix('v').unwrap_or(mnemonic);
    ALIGNED.contains(&name) || ALIGNED_ELEMENTS.contains(&name)
}

fn is_misaligned(operand: &MemoryOperand) -> bool {
    let access = operand.access;
    let is_aligned = access.addr.get().checked_rem(access.size).is_none_or(|rest| rest == 0);
    !is_aligned && !access.is_non_canonical()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_without_alignment_are_not_taken_for_those_with_it() {
        for aligned in ["movaps", "vmovaps", "vmovdqa64", "movntdq"] {
            assert!(wants_alignment(aligned), "{aligned}");
        }
        for any in ["movups", "vmovdqu64", "movq", "vaddps"] {
            assert!(!wants_alignment(any), "{any}");
        }
    }
}
