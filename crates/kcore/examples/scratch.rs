use kcore::*;
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let core = Core::open(&OpenOptions { core: Some(a[1].clone().into()), ..Default::default() }).unwrap();
    for t in core.tids() {
        if a.len() > 2 && a[2] != t.to_string() { continue; }
        let s = core.stack(t, 50);
        println!("{t} {:?} {}", core.waits_in(t), s.end);
        for f in core.named_frames(&s.frames) {
            let m = core.modules().at(f.frame.pc.lookup());
            println!("  {:x} sp {:x?} cfa {:x?} {:?} {:?} {:?} {:?}:{:?} svma {:x?}", f.frame.pc.addr(), f.frame.sp, f.frame.cfa, f.frame.trust, f.location.function, f.location.offset, f.location.file, f.location.line, m.and_then(|m| m.svma(f.frame.pc.addr())));
        }
    }
    println!("{:#?}", core.status());
}
