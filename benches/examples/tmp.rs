use std::time::Instant;
fn main() {
    let exe = std::env::args().nth(1).map(Into::into);
    let core = kcore::Core::open(&kcore::OpenOptions { exe, ..Default::default() }).unwrap();
    for p in ["main", "main", "main", "_ZN9generated4step42", "zzz", "generated::", "std::", "core::fmt::", ""] {
        let t = Instant::now();
        let n = core.complete_symbol(None, p, 500, &|| true).unwrap();
        println!("{p:?} {} {:?}", n.len(), t.elapsed());
    }
}
