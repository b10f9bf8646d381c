//! Prints a global variable by its type, and where it lies: `cargo run -p kcore --example variable -- CORE NAME`.

use std::{env, error::Error};

use kcore::{Core, Limits, OpenOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args().skip(1);
    let (core, name) = args.next().zip(args.next()).ok_or("usage: variable CORE NAME")?;
    let core = Core::open(&OpenOptions::of_core(core))?;
    // A thread-local variable is that of the thread which crashed.
    let tid = core.crashed_thread().map(|thread| thread.tid);
    let object = core.variables().find(tid, None, &name)?.object()?;
    println!("{} = {}", object.ty.declared(&name), object.value(&core, &Limits::default()));
    match object.address() {
        Some(at) => println!("at {:#x}, from {}", at.get(), core.space().origin(at)?.as_str()),
        None => println!("in no memory"),
    }
    Ok(())
}
