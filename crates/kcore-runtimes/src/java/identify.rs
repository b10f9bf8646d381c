//! What an address of the virtual machine is, in one line.

use kcore_mem::Addr;

use super::{Java, blobs::BlobKind, element::source_name, memory::Memory};
use crate::Host;

impl Java {
    /// Code of the cache, by its method or the name of the piece, or an object of the heap.
    pub(super) fn identified(&self, host: &dyn Host, at: Addr) -> Option<String> {
        if !self.cache.contains(at) {
            let found = self.object_at(host, at)?;
            let offset = at.offset_from(found.at)?;
            let class = source_name(&found.class.name);
            return Some(format!("{:x}+{offset:#x}, {class} in the heap of Java", found.at.get()));
        }
        let space = host.space();
        let blob = self.cache.at(at, space)?;
        let offset = at.offset_from(blob.code)?;
        let method = (blob.kind == BlobKind::Method)
            .then(|| self.layout.compiled.method(Memory(space), &blob))
            .flatten()
            .and_then(|method| self.method(space, method));
        Some(match method {
            Some(method) => {
                let compiler = self.layout.compiled.compiler(Memory(space), &blob);
                let what = compiler.map_or_else(
                    || "what calls a native method of Java".to_owned(),
                    |compiler| format!("Java compiled by {compiler}"),
                );
                format!("{}+{offset:#x}, {what}", method.function())
            }
            None => format!(
                "{}+{offset:#x}, code of the Java virtual machine",
                self.cache.name(&blob, space)?
            ),
        })
    }
}
