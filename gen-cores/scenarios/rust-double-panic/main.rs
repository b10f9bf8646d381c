//! rust-double-panic: the destructor of a guard panics while the stack is unwound.

#[path = "../../include/truth.rs"]
mod truth;
use std::hint::black_box;
use truth::call;

struct Guard {
    level: u32,
}

impl Drop for Guard {
    #[inline(never)]
    fn drop(&mut self) {
        if self.level > 0 {
            truth::push("transaction", file!(), 0, None);
            truth::gap("std");
            // Newer compilers unwind up to `transaction` and abort there, older ones abort here.
            truth::push("::drop", file!(), 0, None);
            truth::optional();
            truth::gap("std");
            truth::write();
            panic!("rollback of level {} failed", self.level);
        }
    }
}

#[inline(never)]
fn transaction(level: u32) -> u32 {
    let guard = Guard { level };
    if black_box(level) > 0 {
        panic!("transaction failed");
    }
    guard.level
}

#[inline(never)]
fn run(level: u32) -> u32 {
    call!("run", transaction(level)) + 1
}

fn main() {
    black_box(call!("main", run(black_box(2))));
}
