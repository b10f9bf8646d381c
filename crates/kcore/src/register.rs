//! Registers by name: of the thread as it was saved, and of its outer frames as recovered.

use crate::{Core, Tid};

/// Why there is no register of a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// The architecture has none of that name.
    #[error("invalid register name")]
    UnknownName,
    /// The process has no such thread.
    #[error("invalid thread identifier")]
    UnknownThread,
    /// The thread has no such frame.
    #[error("thread {0} has no frame {1}")]
    UnknownFrame(Tid, usize),
}

/// A view of a part of a register, such as `eax` of `rax`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Part {
    whole: &'static str,
    shift: u32,
    bits: u32,
}

impl Core {
    /// The value of a register (`rax`, `eax`, `al`, `rip`, `fsbase`) in physical frame `frame` of a
    /// thread; `None` when that frame did not save it.
    ///
    /// # Errors
    /// When there is no such register, thread or frame.
    pub fn register(
        &self,
        tid: Tid,
        frame: usize,
        name: &str,
    ) -> Result<Option<u64>, RegisterError> {
        if self.thread(tid).is_none() {
            return Err(RegisterError::UnknownThread);
        }
        if let Some(value) = self.whole_register(tid, frame, name)? {
            return Ok(value);
        }
        let part = part_of(name).ok_or(RegisterError::UnknownName)?;
        let whole =
            self.whole_register(tid, frame, part.whole)?.ok_or(RegisterError::UnknownName)?;
        let mask = u64::MAX.checked_shr(64_u32.saturating_sub(part.bits)).unwrap_or(u64::MAX);
        Ok(whole.map(|value| (value >> part.shift) & mask))
    }

    /// A register under its full name: `None` when there is none of that name, `Some(None)` when it
    /// is not known in that frame.
    fn whole_register(
        &self,
        tid: Tid,
        frame: usize,
        name: &str,
    ) -> Result<Option<Option<u64>>, RegisterError> {
        let saved = self.user_registers(tid);
        let saved = saved.iter().find(|register| register.name == name);
        if frame == 0 {
            return Ok(saved.map(|register| Some(register.value)));
        }
        let Some(machine) = self.machine() else { return Ok(None) };
        let (_, regs) =
            self.frame_registers(tid, frame).ok_or(RegisterError::UnknownFrame(tid, frame))?;
        if name == machine.pc_name() {
            return Ok(Some(Some(regs.pc().get())));
        }
        let general = machine.register_names().iter().find(|(known, _)| *known == name);
        Ok(match (general, saved) {
            (Some((_, register)), _) => Some(regs.get(*register)),
            // Segment bases belong to the thread and not to a frame.
            (None, Some(register)) if name.ends_with("base") => Some(Some(register.value)),
            (None, Some(_)) => Some(None),
            (None, None) => None,
        })
    }
}

/// Which part of which register a name of x86-64 means.
fn part_of(name: &str) -> Option<Part> {
    const LEGACY: [(&str, &str); 8] = [
        ("rax", "ax"),
        ("rbx", "bx"),
        ("rcx", "cx"),
        ("rdx", "dx"),
        ("rsi", "si"),
        ("rdi", "di"),
        ("rbp", "bp"),
        ("rsp", "sp"),
    ];
    const NUMBERED: [&str; 8] = ["r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"];
    let part = |whole, shift, bits| Some(Part { whole, shift, bits });
    if name == "eflags" {
        return part("rflags", 0, 32);
    }
    if name == "eip" {
        return part("rip", 0, 32);
    }
    for (whole, word) in LEGACY {
        let letter = word.strip_suffix('x');
        if name.strip_prefix('e') == Some(word) {
            return part(whole, 0, 32);
        } else if name == word {
            return part(whole, 0, 16);
        } else if name.strip_suffix('l').is_some_and(|rest| Some(rest) == letter || rest == word) {
            return part(whole, 0, 8);
        } else if letter.is_some() && name.strip_suffix('h') == letter {
            return part(whole, 8, 8);
        }
    }
    NUMBERED.into_iter().find_map(|whole| match name.strip_prefix(whole)? {
        "d" => part(whole, 0, 32),
        "w" => part(whole, 0, 16),
        "l" | "b" => part(whole, 0, 8),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_registers_have_the_names_of_the_manual() {
        let of = |name| part_of(name).map(|part| (part.whole, part.shift, part.bits));
        assert_eq!(of("eax"), Some(("rax", 0, 32)));
        assert_eq!(of("ax"), Some(("rax", 0, 16)));
        assert_eq!(of("al"), Some(("rax", 0, 8)));
        assert_eq!(of("ah"), Some(("rax", 8, 8)));
        assert_eq!(of("sil"), Some(("rsi", 0, 8)));
        assert_eq!(of("r10d"), Some(("r10", 0, 32)));
        assert_eq!(of("r8l"), Some(("r8", 0, 8)));
        assert_eq!(of("eflags"), Some(("rflags", 0, 32)));
        for unknown in ["", "zz", "r16", "sih", "e"] {
            assert_eq!(of(unknown), None, "{unknown}");
        }
    }
}
