//! why-rust-allocation: asks for more memory than any machine has.

#[path = "../../include/truth.rs"]
mod truth;
use std::alloc::{Layout, alloc, handle_alloc_error};
use std::hint::black_box;
use truth::{call, die};

#[inline(never)]
fn give_up(layout: Layout) -> usize {
    die!("give_up", "std", handle_alloc_error(layout))
}

#[inline(never)]
fn table(rows: usize) -> usize {
    let layout = Layout::array::<u64>(rows << 43).unwrap();
    // SAFETY: it has bytes.
    let table = unsafe { alloc(layout) };
    if table.is_null() {
        return call!("table", give_up(layout));
    }
    black_box(table).addr()
}

fn main() {
    black_box(call!("main", table(black_box(2))));
}
