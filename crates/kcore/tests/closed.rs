//! A core that nobody needs any more leaves nothing behind. It is a program of its own: what is mapped is
//! asked of the whole process.

use std::{fs, path::Path};

use kcore::{Core, MAX_FRAMES, OpenOptions};

#[test]
fn a_core_that_is_closed_leaves_no_file_mapped() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/nodes/x86_64");
    let exe = fs::canonicalize(folder.join("nodes")).unwrap();
    let is_mapped =
        || fs::read_to_string("/proc/self/maps").unwrap().contains(exe.to_str().unwrap());
    let options = OpenOptions {
        core: Some(folder.join("core.zst")),
        exe: Some(exe.clone()),
        ..Default::default()
    };
    let core = Core::open(&options).unwrap();
    let head = core.variables().find(None, None, "head").unwrap();
    assert_eq!(head.ty.unwrap().spelled(), "struct node *");
    let stack = core.stacks().of_thread(core.threads()[0].tid, MAX_FRAMES);
    assert!(core.stacks().named_frames(&stack).any(|frame| frame.location.file.is_some()));
    assert!(!core.stacks().known_frames(&stack, 1).is_empty() && is_mapped());
    drop(core);
    assert!(!is_mapped());
}
