//! What kind of object of V8's a value is, in V8's own names.

use kcore_mem::Addr;

use super::{Heap, Tagged, V8, heap::Object};
use crate::Host;

/// Details are read to this many units.
const MAX_NAME: u64 = 256;

/// A kind of value in V8's names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeOf {
    /// Its class: `JSObject`, `ConsOneByteString`, `SMI`.
    pub name: String,
    /// Its instance type; `None` of a Smi.
    pub number: Option<u64>,
    /// What tells it apart from others of its class: the name of its constructor, of a function, of an
    /// oddball; the value of a Smi.
    pub detail: Option<String>,
    /// Where it lies, without tag; `None` of a Smi.
    pub at: Option<Addr>,
    /// Its map, without tag.
    pub map: Option<Addr>,
}

impl V8 {
    /// The kind of a value; why it is none where it is none.
    ///
    /// # Errors
    /// The reason.
    pub fn type_of(&self, host: &dyn Host, word: u64) -> Result<TypeOf, &'static str> {
        let heap = self.decodable(host).ok_or("the layouts of its version are not known")?;
        let at = match heap.object_or_tagged(Addr::new(word)) {
            Tagged::Smi(value) => return Ok(smi(value)),
            Tagged::Raw(_) => return Err("it is no tagged value"),
            Tagged::Cleared => return Err("its object is gone"),
            Tagged::Strong(at) | Tagged::Weak(at) => at,
        };
        let object = heap.object_at(at).ok_or_else(|| heap.why_not(at))?;
        Ok(TypeOf {
            name: self.class_of(host, &heap, object),
            number: Some(object.kind),
            detail: detail(&heap, object),
            at: Some(object.at),
            map: Some(object.map),
        })
    }

    /// The class of an object, in V8's names.
    pub(super) fn class_of(&self, host: &dyn Host, heap: &Heap<'_>, object: Object) -> String {
        let types = &heap.layout.types;
        let known = match object.kind {
            _ if heap.is_function(object) => Some("JSFunction"),
            kind if kind == types.bigint() => Some("BigInt"),
            kind if kind == types.generator() => Some("JSGeneratorObject"),
            _ => None,
        };
        if let Some(name) = known.or_else(|| self.metadata(host).type_name(object.kind)) {
            return name.to_owned();
        }
        match object.kind {
            _ if heap.is_context(object) => "Context".to_owned(),
            _ if heap.is_receiver(object) => "JSObject".to_owned(),
            _ if heap.is_string(object) => "String".to_owned(),
            kind => format!("type {kind}"),
        }
    }
}

fn smi(value: i32) -> TypeOf {
    TypeOf {
        name: "SMI".to_owned(),
        number: None,
        detail: Some(format!("value = {value}")),
        at: None,
        map: None,
    }
}

fn detail(heap: &Heap<'_>, object: Object) -> Option<String> {
    if let Some(name) = heap.oddball(object) {
        return Some(format!("\"{name}\""));
    }
    if heap.is_function(object) {
        return super::Function::load(heap, Tagged::Strong(object.at))?.name(heap);
    }
    let types = &heap.layout.types;
    if heap.is_receiver(object) && object.kind != types.array {
        return Some(heap.constructor_name(object));
    }
    let text = (object.kind == types.symbol).then(|| heap.field(object.at, 16))??;
    heap.text(text, MAX_NAME).map(|name| format!("\"{name}\""))
}
