//! Any expression, printed and parsed again, has the same value.

use kcore::{Addr, Fault, LookupError};
use kcore_dcmd::{DcmdError, Result};

use crate::eval::{Scope, evaluate};
use crate::expr::{self, Binary, Expr, Space, Unary};
use crate::lexer::Scanner;
use crate::testing;

/// Trees that are made.
const TREES: usize = 20_000;
const DEPTH: u32 = 7;

/// Memory that has a value everywhere but in its last page, and a few names.
struct Everything;

impl Scope for Everything {
    fn dot(&self) -> u64 {
        0x7fff_1234_5678
    }

    fn increment(&self) -> u64 {
        0x10
    }

    fn last_dot(&self) -> u64 {
        0xdead
    }

    fn radix(&self) -> u32 {
        16
    }

    fn symbol(&self, object: Option<&str>, name: &str) -> Result<u64, LookupError> {
        match (object, name) {
            (None, "main") => Ok(0x40_1000),
            (None, "add") => Ok(7),
            (None, "ns::f(int)") => Ok(0x40_2000),
            (Some("libstdc++.so.6" | "libc"), "stdout") => Ok(0x7f00),
            _ => Err(LookupError::UnknownSymbol),
        }
    }

    fn variable(&self, name: &str) -> Result<u64> {
        match name {
            "rip" => Ok(0x40_1010),
            "9" => Ok(3),
            _ => Err(DcmdError::failed("not defined")),
        }
    }

    fn typed(&self, text: &str) -> Result<u64> {
        Ok(text.len() as u64)
    }

    fn read(&self, space: Space, at: Addr, size: Option<u8>) -> Result<u64, Fault> {
        let value =
            at.get().wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(space == Space::Object);
        match at.get() >> 12 {
            0xf_ffff_ffff_ffff => Err(Fault::Unmapped(at)),
            _ => Ok(value >> (64 - 8 * u32::from(size.unwrap_or(8)))),
        }
    }
}

/// The same numbers on every machine: Marsaglia's xorshift.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[usize::try_from(self.next() % among.len() as u64).unwrap()]
    }
}

const BINARY: [(Binary, &str); 13] = [
    (Binary::Or, "|"),
    (Binary::Xor, "^"),
    (Binary::And, "&"),
    (Binary::Equal, "=="),
    (Binary::NotEqual, "!="),
    (Binary::ShiftLeft, "<<"),
    (Binary::ShiftRight, ">>"),
    (Binary::Subtract, "-"),
    (Binary::Add, "+"),
    (Binary::Multiply, "*"),
    (Binary::Divide, "%"),
    (Binary::RoundUp, "#"),
    (Binary::Modulus, "%%"),
];

fn tree(random: &mut Random, depth: u32) -> Expr {
    let inner = |random: &mut Random| Box::new(tree(random, depth - 1));
    match random.next() % if depth == 0 { 6 } else { 12 } {
        0 | 1 => {
            let bits = random.pick(&[1, 8, 16, 63, 64]);
            Expr::Number(random.next() >> (64 - bits))
        }
        2 => Expr::Name(random.pick(&["main", "add", "dead", "libstdc++.so.6`stdout"]).to_owned()),
        3 => Expr::Symbol(random.pick(&["ns::f(int)", "main"]).to_owned()),
        4 if random.pick(&[true, false]) => Expr::Typed("a[1] == \"}\"".to_owned()),
        4 => Expr::Variable(random.pick(&["rip", "9", "nosuch"]).to_owned()),
        5 => match random.next() % 4 {
            0 => Expr::Dot,
            1 => Expr::Next,
            2 => Expr::Previous,
            _ => Expr::Last,
        },
        6 => {
            let operator = random.pick(&[Unary::Negate, Unary::Complement, Unary::Not]);
            Expr::Unary(operator, inner(random))
        }
        7 => {
            let space = random.pick(&[Space::Process, Space::Object]);
            let size = random.pick(&[None, Some(1), Some(2), Some(4), Some(8)]);
            Expr::Read(space, size, inner(random))
        }
        _ => {
            let (operator, _) = random.pick(&BINARY);
            Expr::Binary(operator, inner(random), inner(random))
        }
    }
}

/// The level of an operator in the reference, a higher one binding tighter; of an operand the highest.
fn level(expr: &Expr) -> u8 {
    match expr {
        Expr::Binary(operator, ..) => match operator {
            Binary::Or => 1,
            Binary::Xor => 2,
            Binary::And => 3,
            Binary::Equal | Binary::NotEqual => 4,
            Binary::ShiftLeft | Binary::ShiftRight => 5,
            Binary::Subtract | Binary::Add => 6,
            Binary::Multiply | Binary::Divide | Binary::RoundUp => 7,
            Binary::Modulus => 8,
        },
        Expr::Unary(..) | Expr::Read(..) => 9,
        _ => 10,
    }
}

/// The expression with no more parentheses than it needs, or with as many as `random` likes.
fn print(expr: &Expr, random: &mut Random) -> String {
    let blank = random.pick(&["", " ", "\t"]);
    match expr {
        Expr::Number(value) => match random.next() % 3 {
            0 => format!("0x{value:X}"),
            1 => format!("0t{value}"),
            _ => format!("0{value:x}"),
        },
        Expr::Name(name) => name.clone(),
        Expr::Symbol(name) => format!("\"{name}\""),
        Expr::Dot => ".".to_owned(),
        Expr::Next => "(+)".to_owned(),
        Expr::Previous => "(^)".to_owned(),
        Expr::Last => "(&)".to_owned(),
        Expr::Variable(name) => format!("<{name}"),
        Expr::Typed(text) => format!("{{{text}}}"),
        Expr::Unary(operator, operand) => {
            let sign = match operator {
                Unary::Negate => "-",
                Unary::Complement => "~",
                Unary::Not => "#",
            };
            format!("{sign}{blank}{}", grouped(operand, 9, random))
        }
        Expr::Read(space, size, at) => {
            let sign = if *space == Space::Process { "*" } else { "%" };
            let cast = size.map(|size| format!("/{size}/")).unwrap_or_default();
            format!("{sign}{cast}{}", grouped(at, 9, random))
        }
        Expr::Binary(operator, left, right) => {
            let own = level(expr);
            let (_, sign) = BINARY.iter().find(|(known, _)| known == operator).unwrap();
            let (left, right) = (grouped(left, own, random), grouped(right, own + 1, random));
            // Without the blank `%` before `%` would read as `%%`.
            format!("{left}{blank}{sign} {right}")
        }
    }
}

fn grouped(expr: &Expr, least: u8, random: &mut Random) -> String {
    let text = print(expr, random);
    let needed = level(expr) < least;
    if needed || random.next().is_multiple_of(8) { format!("({text})") } else { text }
}

#[test]
fn printed_and_parsed_again_an_expression_has_the_same_value() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let mut values = 0;
    for _ in 0..TREES {
        let expr = tree(&mut random, DEPTH);
        let text = print(&expr, &mut random);
        let mut scanner = Scanner::new(&text);
        let again = expr::parse(&mut scanner, testing::PLAIN)
            .unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(scanner.rest(), "", "{text}");
        assert_eq!(again, expr, "{text}");
        let value = evaluate(&expr, &Everything);
        assert_eq!(evaluate(&again, &Everything), value, "{text}");
        values += usize::from(value.is_ok());
    }
    assert!(values > TREES / 3, "only {values} of {TREES} trees have a value");
}
