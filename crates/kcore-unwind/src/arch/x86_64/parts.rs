//! Parts of registers, by the names of the Intel SDM (volume 1, 3.4.1).

use crate::RegisterPart;

/// Which part of which register a name means.
pub fn part_of(name: &str) -> Option<RegisterPart> {
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
    let part = |whole, shift, bits| Some(RegisterPart { whole, shift, bits });
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
