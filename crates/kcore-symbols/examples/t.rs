//! t
use kcore_elf::*;
use kcore_mem::Svma;
use kcore_symbols::*;
use std::sync::Arc;
use std::time::Instant;
fn main() {
    for p in std::env::args().skip(1) {
        let img = Arc::new(Image::parse(FileBytes::map(&std::fs::File::open(&p).unwrap()).unwrap()).unwrap());
        for _ in 0..6 {
            let t = Instant::now();
            let tab = SymbolTable::from_images(Some(&img), None);
            let a = t.elapsed();
            let t = Instant::now();
            tab.find(Svma::new(0x1000));
            let b = t.elapsed();
            let t = Instant::now();
            let n = img.symbols(SymbolTableKind::Full).chain(img.symbols(SymbolTableKind::Dynamic)).count();
            let c = t.elapsed();
            let t = Instant::now();
            tab.lookup("nonexistent");
            println!("collect {a:?} sort {b:?} iter {n} {c:?} index {:?}", t.elapsed());
        }
    }
}
