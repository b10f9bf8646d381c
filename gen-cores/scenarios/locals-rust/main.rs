//! locals-rust: a stack of functions that tell their arguments and locals as lines of values.jsonl, whose layout stands in
//! gen-cores/README.md. Values alone are handed over: a variable whose address is taken would be kept in memory.

#[path = "../../include/truth.rs"]
mod truth;
use std::fs::File;
use std::hint::black_box;
use std::io::Write;
use std::sync::Mutex;
use truth::{call, die};

static OUT: Mutex<Option<File>> = Mutex::new(None);

/// A line of a variable of the calling thread, whose function has `inner` frames further in.
#[inline(never)]
fn line(function: &str, inner: u32, path: &str, key: &str, value: &str) {
    let link = std::fs::read_link("/proc/thread-self").unwrap();
    let tid = link.file_name().unwrap().to_str().unwrap().to_owned();
    let mut out = OUT.lock().unwrap();
    let out = out.get_or_insert_with(|| File::create("values.jsonl").unwrap());
    writeln!(
        out,
        r#"{{"print":"{path}","frame":"locals_rust::{function}","inner":{inner},"tid":{tid},"{key}":{value}}}"#
    )
    .unwrap();
}

#[inline(never)]
fn int(function: &str, inner: u32, path: &str, value: i128) {
    line(function, inner, path, "int", &format!("\"{value}\""));
}

#[inline(never)]
fn float(function: &str, path: &str, value: f64) {
    line(function, 0, path, "float", &format!("\"{value:e}\""));
}

#[inline(never)]
fn pointer(function: &str, path: &str, value: usize) {
    line(function, 0, path, "ptr", &format!("\"{value:#x}\""));
}

#[inline(never)]
fn text(function: &str, path: &str, value: &str) {
    line(function, 0, path, "text", &format!("{value:?}"));
}

#[derive(Clone, Copy)]
struct Pair {
    low: i32,
    high: u64,
}

struct Wide {
    numbers: [i64; 4],
    ratio: f32,
}

#[inline(never)]
fn dies(field: *const i64, left: u32, ratio: f64) -> i64 {
    let sum = i64::from(left) * 3;
    pointer("dies", "field", field as usize);
    int("dies", 0, "left", left.into());
    float("dies", "ratio", ratio);
    int("dies", 0, "sum", sum.into());
    let found = black_box(die!("dies", unsafe { *field.add(3) }));
    found + sum + ratio as i64 + i64::from(left)
}

#[inline(never)]
fn count_down(left: u32, sum: u64) -> i64 {
    let next = sum + u64::from(left);
    int("count_down", left, "left", left.into());
    int("count_down", left, "sum", sum.into());
    int("count_down", left, "next", next.into());
    let result = match left {
        0 => call!("count_down", dies(black_box(std::ptr::null()), 77, -0.125)),
        _ => call!("count_down", count_down(left - 1, next)),
    };
    result + next as i64
}

#[inline(never)]
fn wide(wide: Wide, flag: bool, letter: char) -> i64 {
    let last = wide.numbers[3];
    int("wide", 0, "wide.numbers[0]", wide.numbers[0].into());
    int("wide", 0, "wide.numbers[3]", wide.numbers[3].into());
    float("wide", "wide.ratio", wide.ratio.into());
    line("wide", 0, "flag", "bool", if flag { "true" } else { "false" });
    line("wide", 0, "letter", "char", &u32::from(letter).to_string());
    int("wide", 0, "last", last.into());
    call!("wide", count_down(2, 100)) + last + i64::from(flag)
}

#[inline(never)]
fn shadowed(value: i32) -> i64 {
    let value = i64::from(value) * 2;
    let small = value as i8;
    int("shadowed", 0, "value", value.into());
    int("shadowed", 0, "small", small.into());
    let numbers = [value, 2, 3, value * 4];
    let result = call!("shadowed", wide(Wide { numbers, ratio: 0.75 }, true, 'ß'));
    result + value
}

#[inline(never)]
fn split(pair: Pair, name: &str, numbers: &[u16]) -> i64 {
    let swapped = Pair { low: pair.high as i32, high: pair.low as u64 };
    let first = numbers[0];
    let tuple = (first, pair.low);
    int("split", 0, "pair.low", pair.low.into());
    int("split", 0, "pair.high", pair.high.into());
    int("split", 0, "swapped.low", swapped.low.into());
    int("split", 0, "swapped.high", swapped.high.into());
    text("split", "name", name);
    int("split", 0, "first", first.into());
    int("split", 0, "tuple.__1", tuple.1.into());
    call!("split", shadowed(swapped.low + 1)) + swapped.high as i64 + i64::from(tuple.0)
}

#[inline(never)]
fn folded(count: usize, given: Option<u32>) -> i64 {
    let constant = 42_u8;
    let half = 0.5_f64;
    let inside = given.unwrap_or(3);
    int("folded", 0, "count", count as i128);
    int("folded", 0, "constant", constant.into());
    float("folded", "half", half);
    int("folded", 0, "inside", inside.into());
    let numbers = black_box(vec![500_u16; count]);
    call!("folded", split(Pair { low: -5, high: 9 }, "a name", &numbers)) + i64::from(inside)
}

fn main() {
    black_box(call!("main", folded(black_box(3), black_box(Some(8)))));
}
