//! What objects are called: by their constructor, or by what V8 uses them for.

use kcore_mem::Addr;

use super::{
    super::{Function, Heap, V8, heap::Object, string::Representation},
    MapCount,
};
use crate::Host;

impl Heap<'_> {
    /// What the objects of a map are counted as: the name of their constructor, or in parentheses what V8
    /// uses them for. The prototype of a class is no object of that class.
    pub fn census_class(&self, map: &MapCount) -> String {
        self.class_of_object(map.example())
    }

    /// The same of one object.
    pub fn class_of_object(&self, example: Object) -> String {
        if !self.is_receiver(example) {
            return internal_class(self, example);
        }
        if let Some(class) = self.prototype_class(example) {
            return class;
        }
        self.constructor_name(example)
    }
}

impl Heap<'_> {
    /// What the prototype of a class is called, if an object is one.
    fn prototype_class(&self, object: Object) -> Option<String> {
        self.is_prototype(object).then_some(())?;
        let property = self.property(object, "constructor").filter(|found| !found.is_accessor)?;
        let function = Function::load(self, property.value)?;
        Some(format!("{}.prototype", function.shared.debug_name(self)?))
    }
}

impl V8 {
    /// What the object that begins at an address is counted as.
    pub fn class_at(&self, host: &dyn Host, at: Addr) -> Option<String> {
        let heap = self.decodable(host)?;
        heap.object_at(at).map(|object| heap.class_of_object(object))
    }

    /// The kind of an object of JavaScript, in V8's names: `JSArray`.
    pub fn kind_of(&self, host: &dyn Host, at: Addr) -> Option<String> {
        let heap = self.decodable(host)?;
        let object = heap.object_at(at).filter(|object| heap.is_receiver(*object))?;
        Some(self.class_of(host, &heap, object))
    }
}

/// What V8 uses an object of its own for.
fn internal_class(heap: &Heap<'_>, object: Object) -> String {
    if heap.is_string(object) {
        return string_class(object.kind).to_owned();
    }
    if heap.is_context(object) {
        return "(context)".to_owned();
    }
    match internal_word(heap, object.kind) {
        Some(word) => format!("({word})"),
        None => format!("(type {})", object.kind),
    }
}

const fn string_class(kind: u64) -> &'static str {
    match Representation::of(kind) {
        Some(Representation::Cons) => "(concatenated string)",
        Some(Representation::Sliced) => "(sliced string)",
        Some(Representation::External) => "(external string)",
        Some(Representation::Thin) => "(thin string)",
        _ => "(string)",
    }
}

fn internal_word(heap: &Heap<'_>, kind: u64) -> Option<&'static str> {
    let (types, own) = (&heap.layout.types, &heap.layout.heap);
    let words = [
        (types.map, "map"),
        (types.symbol, "symbol"),
        (types.heap_number, "number"),
        (types.bigint(), "bigint"),
        (types.oddball, "oddball"),
        (types.hole, "hole"),
        (types.byte_array, "bytes"),
        (types.trusted_byte_array, "bytes"),
        (types.fixed_double_array, "doubles"),
        (types.property_array, "properties"),
        (types.property_cell, "property cell"),
        (types.accessor_pair, "accessors"),
        (types.script, "script"),
        (types.shared, "shared function"),
        (types.scope_info, "scope"),
        (types.bytecode_array, "bytecode"),
        (types.code, "code"),
        (types.instruction_stream, "instructions"),
        (types.interpreter_data, "interpreter data"),
        (types.uncompiled, "uncompiled"),
        (types.uncompiled_preparsed, "uncompiled"),
        (types.uncompiled_job, "uncompiled"),
        (types.uncompiled_preparsed_job, "uncompiled"),
        (types.promise_reaction, "promise reaction"),
        (types.promise_capability, "promise capability"),
        (types.function_template, "function template"),
        (own.feedback_vector, "feedback"),
        (own.feedback_vector.saturating_sub(1), "feedback metadata"),
        (own.descriptor_array, "descriptors"),
        (own.strong_descriptor_array, "descriptors"),
        (own.transition_array(), "transitions"),
        (own.weak_fixed_array, "weak array"),
        (own.weak_array_list, "weak array"),
        (own.preparse_data, "preparse data"),
        (own.weak_cell, "weak cell"),
        (own.object_boilerplate, "boilerplate"),
        (own.array_list, "array"),
        (own.closure_cells, "array"),
        (own.trusted_array, "array"),
        (own.protected_array, "array"),
    ];
    let is_array = kind >= types.fixed_array && kind < types.byte_array;
    let found = words.iter().find(|(known, _)| *known == kind && kind != 0);
    found.map(|(_, word)| *word).or(is_array.then_some("array"))
}
