//! What a frame of JavaScript was called with.

use kcore_mem::Addr;
use kcore_unwind::Frame;

use super::{
    Function, Heap, Location, Tier, V8,
    frame::{FrameSlots, Shape},
    heap::Object,
    value::{Limits, Reader, Value},
};
use crate::Host;

/// A frame of a JavaScript function, beyond its name and line. Of functions that are inlined into it
/// nothing of this is known: their values are where an optimizing compiler put them.
#[derive(Clone, Debug, PartialEq)]
pub struct FrameDetails {
    /// What made its code.
    pub tier: Tier,
    /// Its function, without tag.
    pub function: Addr,
    /// Its context, without tag: what holds the variables that inner functions use.
    pub context: Option<Addr>,
    /// `this`.
    pub receiver: Option<Value>,
    /// All that it was called with.
    pub arguments: Vec<Value>,
    /// How many parameters it declares.
    pub parameters: Option<u64>,
}

impl V8 {
    /// What a frame was called with; `None` where it is not JavaScript's.
    pub fn frame_details(
        &self,
        host: &dyn Host,
        frame: &Frame,
        limits: Limits,
    ) -> Option<FrameDetails> {
        let heap = self.decodable(host)?;
        let slots = FrameSlots(frame.frame_pointer?);
        let function = frame_function(&heap, slots)?;
        let sizes = || self.bytecode_sizes(host);
        let location = Location::find(&heap, host, frame.pc, slots, function, &sizes);
        let told = |value| Reader::new(heap, limits).value(value, limits.depth);
        Some(FrameDetails {
            tier: location.tier,
            function: function.object.at,
            context: slots.context(&heap).or_else(|| function.context(&heap)).map(at),
            receiver: slots.receiver(&heap).map(told),
            arguments: slots.arguments(&heap).into_iter().map(told).collect(),
            parameters: function.shared.parameter_count(&heap),
        })
    }

    /// The value that lies at an address, or that a tagged word is: the address of an object, with
    /// its tag or without, or a Smi.
    pub fn value(&self, host: &dyn Host, word: Addr, limits: Limits) -> Option<Value> {
        let heap = self.decodable(host)?;
        let value = heap.object_or_tagged(word);
        Some(Reader::new(heap, limits).value(value, limits.depth))
    }
}

fn at(object: Object) -> Addr {
    object.at
}

fn frame_function(heap: &Heap<'_>, slots: FrameSlots) -> Option<Function> {
    match slots.shape(heap) {
        Shape::Function(function) => Some(function),
        Shape::Typed(kind) => slots.exit_call(heap, kind)?.function,
        Shape::Unreadable | Shape::Unknown => None,
    }
}
