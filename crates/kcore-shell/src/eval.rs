//! The value of an expression.
//!
//! All arithmetic is modulo 2^64; only division and rounding take their operands as signed.

use kcore::{Addr, Fault, LookupError};
use kcore_dcmd::{DcmdError, Result};

use crate::expr::{Binary, Expr, Space, Unary};
use crate::literal;
use crate::scope::scoped;

/// What an expression can refer to.
pub(crate) trait Scope {
    /// Dot.
    fn dot(&self) -> u64;

    /// What the last command that moved over memory left behind.
    fn increment(&self) -> u64;

    /// Dot as the last dcmd had it.
    fn last_dot(&self) -> u64;

    /// The radix of bare numbers.
    fn radix(&self) -> u32;

    /// The address of a symbol, searched in `object` alone if there is one.
    fn symbol(&self, object: Option<&str>, name: &str) -> Result<u64, LookupError>;

    /// The value of a variable or register.
    fn variable(&self, name: &str) -> Result<u64>;

    /// The value of an expression of C or C++.
    fn typed(&self, text: &str) -> Result<u64>;

    /// An integer of `size` bytes, or of a pointer.
    fn read(&self, space: Space, at: Addr, size: Option<u8>) -> Result<u64, Fault>;
}

/// Evaluates `expr`.
///
/// # Errors
/// An unknown symbol or variable, memory that cannot be read, a division that has no value.
pub(crate) fn evaluate(expr: &Expr, scope: &dyn Scope) -> Result<u64> {
    match expr {
        Expr::Number(value) => Ok(*value),
        Expr::Name(name) => named(name, scope),
        Expr::Symbol(name) => symbol(name, scope),
        Expr::Dot => Ok(scope.dot()),
        Expr::Next => next(scope),
        Expr::Previous => previous(scope),
        Expr::Last => Ok(scope.last_dot()),
        Expr::Variable(name) => scope.variable(name),
        Expr::Typed(text) => scope.typed(text),
        Expr::Unary(operator, operand) => {
            evaluate(operand, scope).map(|value| unary(*operator, value))
        }
        Expr::Read(space, size, at) => read(*space, *size, evaluate(at, scope)?, scope),
        Expr::Binary(operator, left, right) => {
            binary(*operator, evaluate(left, scope)?, evaluate(right, scope)?)
        }
    }
}

fn next(scope: &dyn Scope) -> Result<u64> {
    let next = scope.dot().checked_add(scope.increment());
    next.ok_or_else(|| DcmdError::failed("'+' would cause '.' to overflow"))
}

fn previous(scope: &dyn Scope) -> Result<u64> {
    let previous = scope.dot().checked_sub(scope.increment());
    previous.ok_or_else(|| DcmdError::failed("'^' would cause '.' to underflow"))
}

/// A symbol first; then, if it can be one, a number that begins with a letter.
fn named(name: &str, scope: &dyn Scope) -> Result<u64> {
    symbol(name, scope).or_else(|error| {
        let number = name.chars().all(|c| c.is_ascii_hexdigit());
        if !number {
            return Err(error);
        }
        literal::integer(name, scope.radix()).map_err(|error| DcmdError::failed(error.to_string()))
    })
}

/// The text before the last backquote is the scope.
fn symbol(text: &str, scope: &dyn Scope) -> Result<u64> {
    let (object, name) = scoped(text);
    scope.symbol(object, name).map_err(|error| {
        DcmdError::failed(format!("failed to dereference symbol '{text}': {error}"))
    })
}

fn read(space: Space, size: Option<u8>, at: u64, scope: &dyn Scope) -> Result<u64> {
    let at = Addr::new(at);
    scope.read(space, at, size).map_err(|fault| {
        let from = match space {
            Space::Process => "from",
            Space::Object => "from object file at",
        };
        // Of a word that ends where nothing is mapped, the address that was asked for is named.
        DcmdError::at(at, format!("failed to read {from} address {at:x}: {}", fault.reason()))
    })
}

fn unary(operator: Unary, value: u64) -> u64 {
    match operator {
        Unary::Negate => value.wrapping_neg(),
        Unary::Complement => !value,
        Unary::Not => u64::from(value == 0),
    }
}

fn binary(operator: Binary, left: u64, right: u64) -> Result<u64> {
    Ok(match operator {
        Binary::Or => left | right,
        Binary::Xor => left ^ right,
        Binary::And => left & right,
        Binary::Equal => u64::from(left == right),
        Binary::NotEqual => u64::from(left != right),
        Binary::ShiftLeft => shift(right, |bits| left.checked_shl(bits)),
        Binary::ShiftRight => shift(right, |bits| left.checked_shr(bits)),
        Binary::Subtract => left.wrapping_sub(right),
        Binary::Add => left.wrapping_add(right),
        Binary::Multiply => left.wrapping_mul(right),
        Binary::Divide => divide(left, right)?,
        Binary::RoundUp => {
            divide(left.wrapping_add(right).wrapping_sub(1), right)?.wrapping_mul(right)
        }
        Binary::Modulus => left.checked_rem(right).ok_or_else(divided_by_zero)?,
    })
}

/// Bits shifted out are gone, however many they are.
fn shift(bits: u64, by: impl FnOnce(u32) -> Option<u64>) -> u64 {
    u32::try_from(bits).ok().and_then(by).unwrap_or(0)
}

fn divide(left: u64, right: u64) -> Result<u64> {
    if right == 0 {
        return Err(divided_by_zero());
    }
    (left as i64)
        .checked_div(right as i64)
        .map(|quotient| quotient as u64)
        .ok_or_else(|| DcmdError::failed("divide overflow"))
}

fn divided_by_zero() -> DcmdError {
    DcmdError::failed("attempted to divide by zero")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr;
    use crate::lexer::Scanner;
    use crate::testing;

    struct Fake;

    impl Scope for Fake {
        fn dot(&self) -> u64 {
            0x100
        }

        fn increment(&self) -> u64 {
            8
        }

        fn last_dot(&self) -> u64 {
            0x50
        }

        fn radix(&self) -> u32 {
            16
        }

        fn symbol(&self, object: Option<&str>, name: &str) -> Result<u64, LookupError> {
            match (object, name) {
                (None, "main") => Ok(0x401000),
                (None, "add") => Ok(7),
                (Some("libc.so.6" | "libstdc++.so.6"), "stdout" | "ns::f(int)") => Ok(0x7f00),
                (None, "ns::f(int)") => Ok(0x402000),
                (Some("nolib"), _) => Err(LookupError::UnknownModule),
                _ => Err(LookupError::UnknownSymbol),
            }
        }

        fn variable(&self, name: &str) -> Result<u64> {
            if name == "rip" {
                return Ok(0x401010);
            }
            Err(DcmdError::failed(format!("variable '{name}' is not defined")))
        }

        fn typed(&self, text: &str) -> Result<u64> {
            text.parse().map_err(|_| DcmdError::failed(format!("{text}: no number")))
        }

        fn read(&self, space: Space, at: Addr, size: Option<u8>) -> Result<u64, Fault> {
            match at.get() {
                0x200 if space == Space::Object => Ok(5),
                0x100 => Ok(0x1122_3344_5566_7788_u64 & (u64::MAX >> (64 - 8 * size.unwrap_or(8)))),
                _ => Err(Fault::Unmapped(at)),
            }
        }
    }

    fn value(text: &str) -> Result<u64, String> {
        let mut scanner = Scanner::new(text);
        let expr = expr::parse(&mut scanner, testing::PLAIN).map_err(|error| error.to_string())?;
        assert_eq!(scanner.rest(), "", "{text}");
        evaluate(&expr, &Fake).map_err(|error| error.to_string())
    }

    #[test]
    fn precedence_is_that_of_the_reference() {
        for (text, expected) in [
            ("2+3*4", 14),
            ("2*3+4", 10),
            ("1|2^3&6", 1),
            ("6&5==5", 0),
            ("1<<2+1", 8),
            ("10-4-2", 10),
            ("0t100%7%2", 7),
            ("0t10*0t10%%3", 10),
            ("(2+3)*4", 20),
            ("-1", u64::MAX),
            ("~0-1", u64::MAX - 1),
            ("--5", 5),
            ("#0+#7", 1),
            ("2==2!=0", 1),
            ("1==2|1", 1),
            ("5#4", 8),
            ("8#4", 8),
            ("'ab'", 0x6162),
            ("100>>4", 0x10),
        ] {
            assert_eq!(value(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn division_is_signed_and_modulus_is_not() {
        assert_eq!(value("-8%2"), Ok(-4_i64 as u64));
        assert_eq!(value("-1%%0t10"), Ok(u64::MAX % 10));
        assert_eq!(value("5%0"), Err("attempted to divide by zero".into()));
        assert_eq!(value("5%%0"), Err("attempted to divide by zero".into()));
        assert_eq!(value("5#0"), Err("attempted to divide by zero".into()));
        assert_eq!(value("8000000000000000%-1"), Err("divide overflow".into()));
    }

    #[test]
    fn shifts_never_panic() {
        assert_eq!(value("1<<0t64"), Ok(0));
        assert_eq!(value("1>>-1"), Ok(0));
    }

    #[test]
    fn dot_and_its_neighbours() {
        assert_eq!(value("."), Ok(0x100));
        assert_eq!(value(".+8"), Ok(0x108));
        assert_eq!(value("+"), Ok(0x108));
        assert_eq!(value("^"), Ok(0xf8));
        assert_eq!(value("&"), Ok(0x50));
    }

    #[test]
    fn memory_is_read_by_size() {
        assert_eq!(value("*."), Ok(0x1122_3344_5566_7788));
        assert_eq!(value("*/c/.+1"), Ok(0x89));
        assert_eq!(value("*/s/100"), Ok(0x7788));
        assert_eq!(
            value("*601040"),
            Err("failed to read from address 601040: no mapping for address".into())
        );
        assert_eq!(value("%200"), Ok(5));
        assert_eq!(
            value("%10"),
            Err("failed to read from object file at address 10: no mapping for address".into())
        );
    }

    #[test]
    fn a_symbol_comes_before_a_number() {
        assert_eq!(value("add"), Ok(7));
        assert_eq!(value("dead"), Ok(0xdead));
        assert_eq!(value("0add"), Ok(0xadd));
        assert_eq!(value("main+1"), Ok(0x401001));
        assert_eq!(value("libc.so.6`stdout"), Ok(0x7f00));
    }

    #[test]
    fn quoted_symbols_may_hold_anything() {
        assert_eq!(value("\"ns::f(int)\"+1"), Ok(0x402001));
        assert_eq!(value("\"libstdc++.so.6`ns::f(int)\""), Ok(0x7f00));
        assert!(value("\"dead\"").is_err());
    }

    #[test]
    fn what_is_unknown_is_named() {
        assert_eq!(
            value("nosuch"),
            Err("failed to dereference symbol 'nosuch': unknown symbol name".into())
        );
        assert_eq!(
            value("nolib`x"),
            Err("failed to dereference symbol 'nolib`x': unknown object file name".into())
        );
        assert_eq!(value("<zz"), Err("variable 'zz' is not defined".into()));
        assert_eq!(value("<rip"), Ok(0x401010));
    }
}
