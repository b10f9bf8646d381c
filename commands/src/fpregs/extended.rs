//! The value of an 80-bit number in decimal, exact to its last digit.

use kcore::X87Register;
use kcore_dcmd::binary_exponential;

/// Digits behind the first, as `%.16Le` prints them.
const DIGITS: usize = 16;
/// Bias of the exponent, and the bits of the significand behind the point.
const BIAS: i32 = 16383 + 63;

/// `+3.1415926535897932e+00`; `+inf`, `-nan`.
pub fn text(register: X87Register) -> String {
    let X87Register { exponent, significand } = register;
    let sign = if exponent & 0x8000 == 0 { '+' } else { '-' };
    let body = match (exponent & 0x7fff, significand) {
        (0x7fff, significand) if significand << 1 == 0 => "inf".to_owned(),
        (0x7fff, _) => "nan".to_owned(),
        // Numbers below all others have the exponent of the smallest.
        (exponent, significand) => {
            let power = i32::from(exponent.max(1)).saturating_sub(BIAS);
            binary_exponential(significand.into(), power, DIGITS)
        }
    };
    format!("{sign}{body}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(exponent: u16, significand: u64) -> String {
        text(X87Register { exponent, significand })
    }

    /// What `printf("%+.16Le")` of the C library prints of the same bits.
    #[test]
    fn numbers_are_exact_to_the_last_digit() {
        assert_eq!(shown(0x3fff, 1 << 63), "+1.0000000000000000e+00");
        assert_eq!(shown(0xc000, 0xa000_0000_0000_0000), "-2.5000000000000000e+00");
        assert_eq!(shown(0x4000, 0xc90f_daa2_2168_c235), "+3.1415926535897932e+00");
        assert_eq!(shown(0x7ffe, u64::MAX), "+1.1897314953572318e+4932");
        assert_eq!(shown(0x0001, 1 << 63), "+3.3621031431120935e-4932");
        assert_eq!(shown(0x0000, 1), "+3.6451995318824746e-4951");
        assert_eq!(shown(0x3ffb, 0xcccc_cccc_cccc_cccd), "+1.0000000000000000e-01");
        assert_eq!(shown(0x4034, 0x9fff_ffff_ffff_ffff), "+1.1258999068426240e+16");
    }

    #[test]
    fn what_is_no_number_has_a_word() {
        assert_eq!(shown(0, 0), "+0.0000000000000000e+00");
        assert_eq!(shown(0x8000, 0), "-0.0000000000000000e+00");
        assert_eq!(shown(0x7fff, 1 << 63), "+inf");
        assert_eq!(shown(0xffff, 3 << 62), "-nan");
    }
}
