//! Words for the bits of control and status registers.

/// A bit and its word.
pub type Flag = (u32, &'static str);

/// Exceptions in the order of the x87 status word and of the SSE one (Intel SDM volume 1, 8.1.3
/// and 10.2.3), then what only the x87 has.
pub const X87_STATUS: &[Flag] = &[
    (0, "IE"),
    (1, "DE"),
    (2, "ZE"),
    (3, "OE"),
    (4, "UE"),
    (5, "PE"),
    (6, "SF"),
    (7, "ES"),
    (8, "C0"),
    (9, "C1"),
    (10, "C2"),
    (14, "C3"),
    (15, "B"),
];

/// Exceptions that the x87 control word masks.
pub const X87_MASKS: &[Flag] = &[(0, "IM"), (1, "DM"), (2, "ZM"), (3, "OM"), (4, "UM"), (5, "PM")];

/// The control and status register of SSE.
pub const MXCSR: &[Flag] = &[
    (0, "IE"),
    (1, "DE"),
    (2, "ZE"),
    (3, "OE"),
    (4, "UE"),
    (5, "PE"),
    (6, "DAZ"),
    (7, "IM"),
    (8, "DM"),
    (9, "ZM"),
    (10, "OM"),
    (11, "UM"),
    (12, "PM"),
    (15, "FTZ"),
];

/// The status register of aarch64 (Arm ARM, C5.2.10, FPSR).
pub const FPSR: &[Flag] =
    &[(0, "IOC"), (1, "DZC"), (2, "OFC"), (3, "UFC"), (4, "IXC"), (7, "IDC"), (27, "QC")];

/// The control register of aarch64 (Arm ARM, C5.2.9, FPCR).
pub const FPCR: &[Flag] = &[
    (8, "IOE"),
    (9, "DZE"),
    (10, "OFE"),
    (11, "UFE"),
    (12, "IXE"),
    (15, "IDE"),
    (19, "FZ16"),
    (24, "FZ"),
    (25, "DN"),
    (26, "AHP"),
];

/// The words of the bits that are set, and then `others`, joined by bars.
pub fn words(value: u32, flags: &[Flag], others: &[&str]) -> String {
    let set = flags.iter().filter(|(bit, _)| value.checked_shr(*bit).unwrap_or(0) & 1 != 0);
    let words: Vec<&str> = set.map(|(_, word)| *word).chain(others.iter().copied()).collect();
    words.join("|")
}

/// Which of four words two bits choose.
pub fn choice(value: u32, bit: u32, words: [&'static str; 4]) -> &'static str {
    let index = value.checked_shr(bit).unwrap_or(0) & 3;
    words.get(index as usize).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_bits_have_their_words() {
        assert_eq!(words(0x1f80, MXCSR, &[]), "IM|DM|ZM|OM|UM|PM");
        assert_eq!(words(0, X87_STATUS, &[]), "");
        assert_eq!(words(0x3, X87_MASKS, &["RTN"]), "IM|DM|RTN");
        assert_eq!(choice(0x0c00, 10, ["RTN", "RD", "RU", "RTZ"]), "RTZ");
    }
}
