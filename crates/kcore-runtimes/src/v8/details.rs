//! What a frame of JavaScript was called with.

use kcore_mem::Addr;
use kcore_unwind::Frame;

use super::{
    Function, Heap, Location, Tagged, Tier, V8,
    frame::{FrameSlots, Shape},
    heap::Object,
    string::StringPart,
    value::{ElementContent, HeldElements, Limits, Reader, Slot, Step, Value},
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
        let call = FrameCall::of(&heap, slots)?;
        let function = call.function;
        self.owns_object(host, function.object.at).then_some(())?;
        let sizes = || self.bytecode_sizes(host);
        let location = Location::find(&heap, host, frame.pc, slots, function, &sizes);
        let told = |value| Reader::new(heap, limits).value(value, limits.depth);
        Some(FrameDetails {
            tier: location.tier,
            function: function.object.at,
            context: slots.context(&heap).or_else(|| function.context(&heap)).map(at),
            receiver: call.receiver.map(told),
            arguments: call.arguments.into_iter().map(told).collect(),
            parameters: function.shared.parameter_count(&heap),
        })
    }

    /// What kind of frame V8 made for itself, in its own words: `EntryFrame`.
    pub fn frame_kind(&self, host: &dyn Host, frame: &Frame) -> Option<String> {
        let heap = self.decodable(host)?;
        match FrameSlots(frame.frame_pointer?).shape(&heap) {
            Shape::Typed(kind) => self.metadata(host).frame_name(kind).map(str::to_owned),
            _ => None,
        }
    }

    /// The value that a tagged word is: a Smi, the address of an object with its tag, or without.
    /// `None` where the layouts of its version are not known.
    pub fn value(&self, host: &dyn Host, word: u64, limits: Limits) -> Option<Value> {
        let heap = self.decodable(host)?;
        let value = heap.object_or_tagged(Addr::new(word));
        Some(Reader::new(heap, limits).value(value, limits.depth))
    }

    /// What a step of a path leads to from a value.
    pub fn member(&self, host: &dyn Host, word: u64, step: &Step, limits: Limits) -> Option<Slot> {
        let heap = self.decodable(host)?;
        let value = heap.object_or_tagged(Addr::new(word));
        Reader::new(heap, limits).step_to(value, step, limits.depth)
    }

    /// What made an object: its constructor by name, and the function, without tag, if it is one.
    pub fn constructor(&self, host: &dyn Host, word: u64) -> Option<(String, Option<Addr>)> {
        let heap = self.decodable(host)?;
        let object = heap.object(heap.object_or_tagged(Addr::new(word)))?;
        heap.is_receiver(object).then_some(())?;
        let maker = heap.constructor(object).filter(|maker| heap.is_function(*maker));
        Some((heap.constructor_name(object), maker.map(at)))
    }

    /// The bytes of an `ArrayBuffer`, typed array, `Buffer` or `DataView`: where they lie, and how many.
    pub fn bytes(&self, host: &dyn Host, word: u64) -> Option<(Addr, u64)> {
        let heap = self.decodable(host)?;
        let object = heap.object(heap.object_or_tagged(Addr::new(word)))?;
        let (types, offsets) = (&heap.layout.types, &heap.layout.offsets);
        match object.kind {
            kind if [types.typed_array, types.data_view].contains(&kind) => heap.view_bytes(object),
            kind if kind == types.array_buffer => Some((
                Addr::new(heap.word(object.at, offsets.buffer_store)?),
                heap.word(object.at, offsets.buffer_length)?,
            )),
            _ => None,
        }
    }

    /// How a string is held: it, and the strings that it consists of, at most `most`.
    pub fn string_parts(&self, host: &dyn Host, word: u64, most: usize) -> Option<Vec<StringPart>> {
        let heap = self.decodable(host)?;
        let object = heap.object(heap.object_or_tagged(Addr::new(word)))?;
        heap.is_string(object).then(|| heap.string_parts(object, most))
    }

    /// How many slots of an object [`Self::element`] can be asked for; `None` where only
    /// [`Self::elements`] tells them.
    pub fn element_slots(&self, host: &dyn Host, word: u64) -> Option<u64> {
        let heap = self.decodable(host)?;
        heap.element_slots(heap.object(heap.object_or_tagged(Addr::new(word)))?)
    }

    /// The element at an index, if there is one.
    pub fn element(&self, host: &dyn Host, word: u64, index: u64) -> Option<ElementContent> {
        let heap = self.decodable(host)?;
        heap.element_at(heap.object(heap.object_or_tagged(Addr::new(word)))?, index)
    }

    /// The elements of an object by index, at most `most` slots of them, and whether there are more.
    pub fn elements(&self, host: &dyn Host, word: u64, most: u64) -> Option<HeldElements> {
        let heap = self.decodable(host)?;
        let object = heap.object(heap.object_or_tagged(Addr::new(word)))?;
        Some(heap.elements(object, most))
    }
}

fn at(object: Object) -> Addr {
    object.at
}

/// What a frame was called on and with.
struct FrameCall {
    function: Function,
    receiver: Option<Tagged>,
    arguments: Vec<Tagged>,
}

impl FrameCall {
    fn of(heap: &Heap<'_>, slots: FrameSlots) -> Option<Self> {
        match slots.shape(heap) {
            Shape::Function(function) => Some(Self {
                function,
                receiver: slots.receiver(heap),
                arguments: slots.arguments(heap),
            }),
            Shape::Typed(kind) => {
                let call = slots.exit_call(heap, kind)?;
                Some(Self {
                    function: call.function?,
                    receiver: call.receiver,
                    arguments: slots.exit_arguments(heap, kind),
                })
            }
            Shape::Unreadable | Shape::Unknown => None,
        }
    }
}
