//! What JITs wrote of their code for `perf`, in files that anyone may have written.

use kcore_mem::Svma;
use kcore_runtimes::registered::code_map::{functions, named_code};

/// Pieces of code whose first byte is looked for.
const LOOKED_FOR: usize = 64;

/// All of `data` is such a file. Each piece that it names has bytes and a name, and what is said last of a place counts.
pub fn run(data: &[u8]) {
    let all = named_code(data);
    for code in &all {
        assert!(code.len > 0 && !code.name.is_empty(), "{code:x?}");
        assert!(code.start.checked_add(code.len).is_some(), "{code:x?}");
    }
    let symbols = functions(data);
    assert_eq!(symbols.is_some(), !all.is_empty());
    let Some(symbols) = symbols else { return };
    for code in all.iter().take(LOOKED_FOR) {
        let _ = symbols.function_at(Svma::new(code.start));
    }
    if let Some(last) = all.last() {
        assert!(symbols.function_at(Svma::new(last.start)).is_some(), "{last:x?}");
    }
}
