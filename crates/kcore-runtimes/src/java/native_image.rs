//! Programs that GraalVM compiled ahead of time, which have no virtual machine: they are named, and not decoded
//! (`substratevm/src/com.oracle.svm.core/src/com/oracle/svm/core/VM.java`, GraalVM 22 to 25).

use std::sync::Arc;

use crate::HostModule;

/// The section with the objects that were made ahead of time.
const HEAP: &str = ".svm_heap";
/// Sections in which the program says by what it was compiled, behind these words.
const TEXTS: [&str; 2] = [".rodata", ".data"];
const VERSION: &[u8] = b"com.oracle.svm.core.VM=";
/// Bytes of a section that are searched, and of a version, at most.
const MAX_SEARCHED: usize = 64 << 20;
const MAX_VERSION: usize = 128;

/// Whether the file of a module is a native image.
pub fn is_one(module: &dyn HostModule) -> bool {
    module.image().is_some_and(|image| image.section(HEAP).is_some())
}

/// By what a module was compiled that is such a program: `GraalVM CE 25.0.2+10.1`.
pub fn version(module: &dyn HostModule) -> Option<Arc<str>> {
    let image = module.image()?;
    TEXTS.iter().find_map(|name| {
        let section = image.section_data(name)?;
        let bytes: &[u8] = section.as_ref();
        version_in(bytes.get(..bytes.len().min(MAX_SEARCHED))?)
    })
}

fn version_in(bytes: &[u8]) -> Option<Arc<str>> {
    let at = memchr::memmem::find(bytes, VERSION)?.checked_add(VERSION.len())?;
    let text = bytes.get(at..)?;
    let text = text.get(..text.len().min(MAX_VERSION))?.split(|byte| *byte == 0).next()?;
    let is_plain = text.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ');
    let text = std::str::from_utf8(text).ok().filter(|text| is_plain && !text.is_empty())?;
    Some(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_stands_behind_its_name() {
        let text = version_in(b"\0com.oracle.svm.core.VM=GraalVM CE 25.0.2+10.1\0x");
        assert_eq!(text.as_deref(), Some("GraalVM CE 25.0.2+10.1"));
        assert_eq!(version_in(b"com.oracle.svm.core.VM=\0"), None);
        assert_eq!(version_in(b"com.oracle.svm.core.VM=\x1b[2J\0"), None);
        assert_eq!(version_in(b"com.oracle"), None);
    }
}
