//! Not for the tree.
use kcore::*;
fn number(bits: u128, size: u64) -> String {
    let bits = if size < 16 { bits & ((1 << (8 * size)) - 1) } else { bits };
    format!("i:{bits:x}")
}
fn text(core: &Core, v: &FrameVariable) -> String {
    let limits = Limits { depth: Some(1), elements: Some(4), ..Limits::default() };
    match &v.object {
        Err(a) => format!("<{a}>"),
        Ok(object) => {
            let value = object.value(core, &limits);
            let size = object.ty.size().unwrap_or(0);
            match &value.content {
                Content::Integer(n) | Content::Bool(n) => number(n.bits, size),
                Content::Character(c) => number(u128::from(*c), size),
                Content::Enum(e) => number(e.number.bits, size),
                Content::Pointer(p) => p.to.map_or("other".into(), |p| format!("p:{:x}", p.get())),
                Content::Float(f) => format!("f:{:?}", f.value),
                Content::Absent(a) => format!("<{a}>"),
                _ => "other".into(),
            }
        }
    }
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let options = OpenOptions { core: Some(args[1].clone().into()), ..OpenOptions::default() };
    let core = Core::open(&options).unwrap();
    let tid = core.tids()[0];
    let stack = core.stack(tid, 200);
    let t = std::time::Instant::now();
    let known = core.known_frames(&stack, 200);
    for frame in core.named_frames(&stack.frames) {
        let Some(vars) = known.variables(&frame) else { continue };
        for v in vars {
            println!(
                "{}\t{}\t{}\t{}",
                frame.index,
                frame.location.function.as_deref().unwrap_or("?"),
                v.name.as_deref().unwrap_or("?"),
                text(&core, &v)
            );
        }
    }
    eprintln!("took {:?}", t.elapsed());
}
