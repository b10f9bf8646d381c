//! rust-null: reads through a bad raw pointer three calls deep, behind a slice of records.

#[path = "../../include/truth.rs"]
mod truth;
use std::hint::black_box;
use truth::{call, die};

struct Record {
    field: *const u64,
}

#[inline(never)]
fn read_field(record: &Record) -> u64 {
    die!("read_field", unsafe { *record.field })
}

#[inline(never)]
fn sum(records: &[Record]) -> u64 {
    let mut sum = 0;
    for record in records {
        sum += call!("sum", read_field(record));
    }
    sum
}

#[inline(never)]
fn load(count: usize) -> u64 {
    let records: Vec<Record> = (0..count).map(|_| Record { field: black_box(32 as *const u64) }).collect();
    call!("load", sum(&records))
}

fn main() {
    black_box(call!("main", load(3)));
}
