//! Prints each stack once, and the threads that have it: `cargo run -p kcore --example stacks -- CORE`.

use std::{env, error::Error};

use kcore::{Core, MAX_FRAMES, OpenOptions, StackGroup};

fn main() -> Result<(), Box<dyn Error>> {
    let path = env::args_os().nth(1).ok_or("usage: stacks CORE")?;
    let core = Core::open(&OpenOptions::of_core(path))?;
    let mut groups = core.stacks().groups(&core.tids(), &[], MAX_FRAMES);
    groups.sort_by_key(|group| std::cmp::Reverse(group.count()));
    groups.iter().for_each(|group| show(&core, group));
    Ok(())
}

/// A stack has an end and never an error: its good half is worth printing.
fn show(core: &Core, group: &StackGroup) {
    let tids: Vec<String> = group.tids.iter().map(ToString::to_string).collect();
    println!("{} in {}", tids.join(" "), group.waits_in.as_deref().unwrap_or("no system call"));
    for frame in core.stacks().named_frames(&group.stack) {
        println!("  {frame} (by {})", frame.trust().as_str());
    }
    println!("  -- {}", group.stack.end);
}
