//! By what a minidump tells the build of a module.

use kcore_elf::BuildId;
use kcore_mem::Target;
use minidump::{CodeView, MinidumpModule, format::GUID};

use crate::target_bytes::TargetBytes;

/// The build-id of a module. Breakpad once wrote the first 16 bytes of it alone, as if they were a GUID
/// (`src/client/linux/minidump_writer/minidump_writer.cc`, records of PDB 7.0); `None` where it had none.
pub fn build_id(module: &MinidumpModule, target: Target) -> Option<BuildId> {
    let bytes = match module.codeview_info.as_ref()? {
        CodeView::Elf(raw) => raw.build_id.clone(),
        CodeView::Pdb70(raw) => guid_bytes(&raw.signature, target),
        _ => return None,
    };
    let is_told = bytes.iter().any(|byte| *byte != 0);
    BuildId::new(&bytes).filter(|_| is_told)
}

/// The bytes of a GUID as they stand in the dump: those of a build-id, whatever fields they were read as.
fn guid_bytes(guid: &GUID, target: Target) -> Vec<u8> {
    let mut bytes = TargetBytes::new(target);
    bytes.u32(guid.data1).u16(guid.data2).u16(guid.data3).raw(&guid.data4);
    bytes.finish()
}
