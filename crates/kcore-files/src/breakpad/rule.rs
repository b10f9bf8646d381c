//! Rules of `STACK CFI` as instructions of DWARF.
//!
//! A rule computes the CFA, or what the caller had in a register, by a postfix expression: `.cfa: $rsp 8 +` and
//! `.ra: .cfa -8 + ^`, where `^` reads memory (`docs/symbol_files.md` of Breakpad). The usual ones have instructions of their
//! own, and any other becomes an expression of DWARF (DWARF 5, 6.4.2).

use super::{leb, registers::Registers};
use crate::target_bytes::TargetBytes;

const CFA_UNDEFINED: u8 = 0x07;
const CFA_SAME_VALUE: u8 = 0x08;
const CFA_REGISTER: u8 = 0x09;
const CFA_DEF_CFA_EXPRESSION: u8 = 0x0f;
const CFA_OFFSET: u8 = 0x11;
const CFA_DEF_CFA: u8 = 0x12;
const CFA_VAL_OFFSET: u8 = 0x15;
const CFA_VAL_EXPRESSION: u8 = 0x16;

const OP_DEREF: u8 = 0x06;
const OP_CONSTS: u8 = 0x11;
const OP_PICK: u8 = 0x15;
const OP_BREGX: u8 = 0x92;

/// Values that an expression may have at a time.
const MAX_DEPTH: u8 = 64;
const CFA: &[u8] = b".cfa";

/// Adds the instructions for rules to `out`. `None` when the CFA is computed in a way that is not known, so that nothing can be
/// said from here on. A register whose rule is not known counts as lost.
pub fn translate(rules: &[u8], registers: &Registers, out: &mut TargetBytes) -> Option<()> {
    let words: Vec<&[u8]> = rules.split(|byte| *byte == b' ').filter(|it| !it.is_empty()).collect();
    let mut rest = words.as_slice();
    while let Some((target, after)) = rest.split_first() {
        let target = target.strip_suffix(b":")?;
        let end = after.iter().position(|word| word.ends_with(b":")).unwrap_or(after.len());
        let (expression, others) = after.split_at_checked(end)?;
        rest = others;
        if target == CFA {
            cfa(expression, registers, out)?;
        } else if let Some(number) = registers.number(target) {
            register(number, expression, registers, out);
        }
    }
    Some(())
}

fn cfa(words: &[&[u8]], registers: &Registers, out: &mut TargetBytes) -> Option<()> {
    let from = |register: &[u8], offset: i64| Some((registers.number(register)?, offset));
    let offset_from = match words {
        [register] => from(register, 0),
        [register, offset, b"+"] => number(offset).and_then(|offset| from(register, offset)),
        [register, offset, b"-"] => {
            number(offset).and_then(|offset| from(register, offset.checked_neg()?))
        }
        _ => None,
    };
    if let Some((register, offset)) = offset_from {
        instruction(out, CFA_DEF_CFA, register);
        leb::signed(out, offset);
        return Some(());
    }
    let expression = expression(words, registers, false, out)?;
    out.raw(&[CFA_DEF_CFA_EXPRESSION]);
    block(out, &expression);
    Some(())
}

fn register(own: u64, words: &[&[u8]], registers: &Registers, out: &mut TargetBytes) {
    let offset = |at: &[u8]| number(at);
    match words {
        [b".cfa", at, b"+", b"^"] if offset(at).is_some() => {
            instruction(out, CFA_OFFSET, own);
            leb::signed(out, offset(at).unwrap_or_default());
        }
        [b".cfa", at, b"+"] if offset(at).is_some() => {
            instruction(out, CFA_VAL_OFFSET, own);
            leb::signed(out, offset(at).unwrap_or_default());
        }
        // The pc as its own caller says that there is none.
        [b"$rip" | b"$eip" | b"pc" | b"$pc"] => instruction(out, CFA_UNDEFINED, own),
        [name] if registers.number(name) == Some(own) => instruction(out, CFA_SAME_VALUE, own),
        [name] if registers.number(name).is_some() => {
            instruction(out, CFA_REGISTER, own);
            leb::unsigned(out, registers.number(name).unwrap_or_default());
        }
        _ => match expression(words, registers, true, out) {
            Some(expression) => {
                instruction(out, CFA_VAL_EXPRESSION, own);
                block(out, &expression);
            }
            None => instruction(out, CFA_UNDEFINED, own),
        },
    }
}

fn instruction(out: &mut TargetBytes, code: u8, register: u64) {
    out.raw(&[code]);
    leb::unsigned(out, register);
}

fn block(out: &mut TargetBytes, expression: &[u8]) {
    leb::unsigned(out, expression.len() as u64);
    out.raw(expression);
}

fn number(word: &[u8]) -> Option<i64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// An expression of DWARF. In the rule of a register the CFA lies at the bottom of the stack already, below what the expression
/// adds.
fn expression(
    words: &[&[u8]],
    registers: &Registers,
    has_cfa: bool,
    like: &TargetBytes,
) -> Option<Vec<u8>> {
    let mut out = like.empty();
    let mut depth = 0_u8;
    for word in words {
        let taken = operands(word);
        match *word {
            CFA if has_cfa => _ = out.raw(&[OP_PICK, depth]),
            b"^" => _ = out.raw(&[OP_DEREF]),
            // A value, and the power of two that its result is a multiple of: negated, it is a mask.
            b"@" => _ = out.raw(&[0x1f, 0x1a]),
            word if taken == 2 => _ = out.raw(&[binary(word)?]),
            word => operand(word, registers, &mut out)?,
        }
        depth = depth.checked_sub(taken)?.checked_add(1).filter(|depth| *depth <= MAX_DEPTH)?;
    }
    (depth == 1).then(|| out.finish())
}

const fn operands(word: &[u8]) -> u8 {
    match word {
        b"+" | b"-" | b"*" | b"/" | b"%" | b"@" => 2,
        b"^" => 1,
        _ => 0,
    }
}

const fn binary(word: &[u8]) -> Option<u8> {
    Some(match word {
        b"+" => 0x22,
        b"-" => 0x1c,
        b"*" => 0x1e,
        b"/" => 0x1b,
        b"%" => 0x1d,
        _ => return None,
    })
}

/// A number, or the value of a register.
fn operand(word: &[u8], registers: &Registers, out: &mut TargetBytes) -> Option<()> {
    if let Some(number) = number(word) {
        out.raw(&[OP_CONSTS]);
        leb::signed(out, number);
        return Some(());
    }
    let register = registers.number(word)?;
    out.raw(&[OP_BREGX]);
    leb::unsigned(out, register);
    leb::signed(out, 0);
    Some(())
}

#[cfg(test)]
mod tests {
    use kcore_mem::{Arch, Target};

    use super::*;

    fn translated(rules: &str) -> Option<Vec<u8>> {
        let mut out = TargetBytes::new(Target::X86_64);
        let registers = Registers::of(Arch::X86_64).unwrap();
        translate(rules.as_bytes(), &registers, &mut out)?;
        Some(out.finish())
    }

    #[test]
    fn the_usual_rules_have_instructions_of_their_own() {
        let rules = translated(".cfa: $rsp 16 + .ra: .cfa -8 + ^ $rbp: $rbp $rbx: $rax");
        let expected = [0x12, 7, 16, 0x11, 16, 0x78, 0x08, 6, 0x09, 3, 0];
        assert_eq!(rules.unwrap(), expected);
        assert_eq!(translated(".ra: $rip").unwrap(), [0x07, 16]);
        assert_eq!(translated("$rsp: .cfa 8 +").unwrap(), [0x15, 7, 8]);
    }

    #[test]
    fn other_rules_are_expressions() {
        // The CFA lies where rbp - 8 points to.
        let rules = translated(".cfa: $rbp -8 + ^").unwrap();
        assert_eq!(rules, [0x0f, 7, 0x92, 6, 0, 0x11, 0x78, 0x22, 0x06]);
        let rules = translated("$rbx: $rax .cfa 16 @ +").unwrap();
        assert_eq!(rules, [0x16, 3, 10, 0x92, 0, 0, 0x15, 1, 0x11, 16, 0x1f, 0x1a, 0x22]);
    }

    #[test]
    fn what_is_not_known_is_lost() {
        assert_eq!(translated("$rbx: 1 2").unwrap(), [0x07, 3]);
        assert_eq!(translated("$rbx: +").unwrap(), [0x07, 3]);
        assert_eq!(translated("$xmm0: .cfa -8 + ^").unwrap(), []);
        assert_eq!(translated(".cfa: $nothing 8 +"), None);
        assert_eq!(translated("without a target"), None);
    }
}
