//! Counts the objects of JavaScript by their constructors: `cargo run -p kcore --example objects -- CORE [EXE]`.

use std::{collections::BTreeMap, env, error::Error, ops::ControlFlow};

use kcore::{Core, OpenOptions, v8::V8};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args_os().skip(1);
    let path = args.next().ok_or("usage: objects CORE [EXE]")?;
    let options = OpenOptions { exe: args.next().map(Into::into), ..OpenOptions::of_core(path) };
    let core = Core::open(&options)?;
    let v8 = core.runtimes().of::<V8>().next().ok_or("there is no V8 in it")?;
    for (constructor, (count, bytes)) in counts(&core, v8)? {
        println!("{count:8} {bytes:10} {}", constructor.escape_debug());
    }
    Ok(())
}

/// How many objects each constructor made, and their size. Who waits may stop it: here nobody does.
fn counts(core: &Core, v8: &V8) -> Result<BTreeMap<String, (u64, u64)>, Box<dyn Error>> {
    let mut go_on = |_done, _of| ControlFlow::Continue(());
    let census = v8.census(core, &mut go_on)?.ok_or("the layouts of this version are not known")?;
    let mut counts = BTreeMap::<String, (u64, u64)>::new();
    for group in v8.groups(core, &census, &mut go_on)?.iter() {
        let (count, bytes) = counts.entry(group.constructor.to_string()).or_default();
        *count += group.count;
        *bytes += group.bytes;
    }
    Ok(counts)
}
