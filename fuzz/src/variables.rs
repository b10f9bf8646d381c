//! Variables of functions by debug information that may say anything: scopes, location lists, calls, and
//! what the expressions give in a frame.

use std::sync::Arc;

use kcore_mem::Budget;
use kcore_mem::Svma;
use kcore_symbols::{ModuleSymbols, Scopes, Variable};
use kcore_values::{DeclaredPrinters, Object, location::place_of};

use crate::{frame::Frame, input::Input, memory::Memory, module, process::Made};

/// Addresses that are asked about.
const PLACES: u64 = 24;
/// Variables of one function whose objects are looked at.
const OBJECTS: usize = 8;

/// A module, memory, the first address that is asked about with the bytes between two of them, then
/// registers.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let symbols = module::symbols(&mut input);
    let memory = Memory::read(&mut input);
    let (first, step) = (input.word(), u64::from(input.byte()));
    let mut frame = Frame::read(&mut input, &memory);
    let mut found = Vec::new();
    for place in 0..PLACES {
        frame.pc = Svma::new(first.wrapping_add(place * step));
        frame.site = symbols.call_returning_to(frame.pc, &Budget::default()).ok().flatten();
        look_at_tail_calls(&symbols, frame.pc);
        let Ok(Some(scopes)) = symbols.scopes_at(frame.pc, &Budget::default()) else { continue };
        found.extend(objects(&symbols, &scopes, &mut frame));
    }
    drop(frame);
    let info = symbols.debug_info().map(Arc::clone);
    let process = Made {
        memory,
        info,
        types: Vec::new(),
        printers: DeclaredPrinters::default(),
        budget: Budget::default(),
    };
    found.iter().for_each(|object| process.look_at(object));
}

/// The calls by which the function at an address may end.
fn look_at_tail_calls(symbols: &ModuleSymbols, at: Svma) {
    let _ = symbols.entry_at(at);
    let (Some(info), Ok(Some(found))) =
        (symbols.debug_info(), symbols.tail_calls_at(at, &Budget::default()))
    else {
        return;
    };
    for call in found.calls {
        let _ = info.call_site(call.id, &Budget::default());
    }
}

/// The variables of the functions that hold an address, as far as they lie anywhere.
fn objects(symbols: &ModuleSymbols, scopes: &Scopes, frame: &mut Frame<'_>) -> Vec<Object> {
    frame.frame_base = scopes.frame_base.clone();
    let Some(info) = symbols.debug_info() else { return Vec::new() };
    if let Some(function) = scopes.function() {
        let _ = info.code_of(function);
    }
    let object = |variable: &Variable| {
        let ty = info.type_of(variable).ok()?;
        let place = place_of(&variable.location, &ty, frame).ok()?;
        Some(Object { ty, place })
    };
    let variables = scopes.functions.iter().flat_map(|function| &function.variables);
    variables.filter_map(object).take(OBJECTS).collect()
}
