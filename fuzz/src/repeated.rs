//! Debug information of which a part stands in its section again and again: units, functions and names
//! that share a table, a list or a string, which must cost no more than in proportion to their bytes.

use std::{ops::ControlFlow, sync::Arc};

use kcore_elf::Image;
use kcore_mem::Svma;
use kcore_symbols::ModuleSymbols;

use crate::{
    counting::measure,
    input::{Input, Output},
    sections::{MAIN, elf},
};

/// Bytes of one section, at most.
const MOST: usize = 1 << 18;
/// Addresses that are asked about.
const ASKED: u64 = 8;
/// Bytes that may be allocated for each byte of the file, at one time and in all; and beside it. The
/// costliest are units of some ten bytes, each of which is opened a few times.
const PEAK: usize = 1 << 10;
const TOTAL: usize = 1 << 13;
const FIXED: usize = 64 << 20;

/// How often parts are repeated, divided by 16; then of each section its beginning, what is repeated, and
/// its end; then an address.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let times = (usize::from(input.byte()) + 1) * 16;
    let sections: Vec<_> = MAIN.iter().map(|name| (*name, repeated(&mut input, times))).collect();
    let first = input.word();
    let kept = sections.iter().filter(|(_, bytes)| !bytes.is_empty());
    let file = elf(&kept.map(|(name, bytes)| (*name, bytes.as_slice())).collect::<Vec<_>>());
    let len = file.len();
    let allocated = measure(|| ask(file, first));
    assert!(allocated.peak <= FIXED + PEAK * len, "{allocated:?} for {len} bytes");
    assert!(allocated.total <= FIXED + TOTAL * len, "{allocated:?} for {len} bytes");
}

fn repeated(input: &mut Input<'_>, times: usize) -> Vec<u8> {
    let (begin, middle, end) = (input.part(), input.part(), input.part());
    let times = times.min(MOST / middle.len().max(1));
    [begin, &middle.repeat(times), end].concat()
}

/// The other way round.
pub fn write(times: u8, parts: impl Fn(&str) -> [Vec<u8>; 3], first: u64) -> Vec<u8> {
    let output = MAIN.iter().fold(Output::default().byte(times), |output, name| {
        parts(name).iter().fold(output, |output, part| output.part(part))
    });
    output.word(first).0
}

fn ask(file: Vec<u8>, first: u64) {
    let Ok(image) = Image::parse(file.into()) else { return };
    let symbols = ModuleSymbols::new(Some(Arc::new(image)), None);
    for at in 0..ASKED {
        let _ = symbols.lines().find(Svma::new(first.wrapping_add(at)));
    }
    let Some(info) = symbols.debug_info() else { return };
    let _ = (info.find_types("nosuch"), info.find_variables("nosuch"));
    info.each_type(|_, _| ControlFlow::Break(()));
}
