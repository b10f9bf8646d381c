//! Numbers, truth values and characters, alone and in boxes.

use kcore_mem::Addr;

use crate::java::{classes::Objects, element::ElementType, memory::Memory, walk::JavaObject};
use crate::{ScriptNode, ScriptScalar, TextRest};

/// Classes of boxes.
const BOXES: [(&str, ElementType); 8] = [
    ("java.lang.Boolean", ElementType::Boolean),
    ("java.lang.Character", ElementType::Char),
    ("java.lang.Float", ElementType::Float),
    ("java.lang.Double", ElementType::Double),
    ("java.lang.Byte", ElementType::Byte),
    ("java.lang.Short", ElementType::Short),
    ("java.lang.Integer", ElementType::Int),
    ("java.lang.Long", ElementType::Long),
];

/// What is in a box; `None` of what is none.
pub(super) fn of_box(objects: &Objects<'_>, found: &JavaObject) -> Option<ScriptNode> {
    let (_, element) = BOXES.iter().find(|(name, _)| *name == &*found.class.name)?;
    let field = objects.field(found.class.at, "value")?;
    let node = at(objects.memory, found.at, field.offset, *element)?;
    Some(ScriptNode { kind: "boxed", ..node })
}

/// What of a primitive type lies so far into an object.
pub(super) fn at(
    memory: Memory<'_>,
    object: Addr,
    offset: u64,
    element: ElementType,
) -> Option<ScriptNode> {
    let raw = memory.uint(object, offset, usize::try_from(element.size(8)).ok()?)?;
    of_raw(raw, element)
}

/// A number that no memory holds as such.
pub(super) fn int(value: u64) -> ScriptNode {
    ScriptNode::scalar("int", ScriptScalar::Integer(value.to_string().into()))
}

/// What bits mean in a type; `None` of a reference.
pub(in crate::java) fn of_raw(raw: u64, element: ElementType) -> Option<ScriptNode> {
    let integer = |kind, value: i64| {
        ScriptNode::scalar(kind, ScriptScalar::Integer(value.to_string().into()))
    };
    Some(match element {
        ElementType::Boolean => boolean(raw),
        ElementType::Char => character(u32::try_from(raw & 0xffff).unwrap_or_default()),
        ElementType::Float => {
            let value = f32::from_bits((raw & 0xffff_ffff) as u32);
            // The digits that tell it from all others of 32 bits.
            let value = value.to_string().parse().unwrap_or(f64::from(value));
            ScriptNode::scalar("float", ScriptScalar::Number(value))
        }
        ElementType::Double => {
            ScriptNode::scalar("double", ScriptScalar::Number(f64::from_bits(raw)))
        }
        ElementType::Byte => integer("byte", element.integer(raw)?),
        ElementType::Short => integer("short", element.integer(raw)?),
        ElementType::Int => integer("int", element.integer(raw)?),
        ElementType::Long => integer("long", element.integer(raw)?),
        ElementType::Reference => return None,
    })
}

fn boolean(raw: u64) -> ScriptNode {
    let word = if raw & 0xff == 0 { "false" } else { "true" };
    ScriptNode::scalar("boolean", ScriptScalar::Word(word))
}

/// A character of 16 bits, which may be half of one.
fn character(unit: u32) -> ScriptNode {
    let rest = TextRest::None;
    let scalar = match char::from_u32(unit) {
        Some(character) => ScriptScalar::Text { text: character.to_string().into(), rest },
        None => ScriptScalar::Points { points: [unit].into(), rest },
    };
    ScriptNode::scalar("char", scalar)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar(raw: u64, element: ElementType) -> Option<ScriptScalar> {
        of_raw(raw, element)?.scalar
    }

    #[test]
    fn numbers_have_their_signs_and_digits() {
        let integer = |text: &str| Some(ScriptScalar::Integer(text.into()));
        assert_eq!(scalar(0xff, ElementType::Byte), integer("-1"));
        assert_eq!(scalar(0x8000, ElementType::Short), integer("-32768"));
        assert_eq!(scalar(0xffff_fffe, ElementType::Int), integer("-2"));
        assert_eq!(scalar(1 << 63, ElementType::Long), integer("-9223372036854775808"));
        let float = u64::from(0.1_f32.to_bits());
        assert_eq!(scalar(float, ElementType::Float), Some(ScriptScalar::Number(0.1)));
        assert_eq!(scalar(1, ElementType::Boolean), Some(ScriptScalar::Word("true")));
        assert_eq!(scalar(1, ElementType::Reference), None);
    }

    #[test]
    fn half_of_a_character_is_a_point() {
        let points = ScriptScalar::Points { points: [0xd83d].into(), rest: TextRest::None };
        assert_eq!(scalar(0xd83d, ElementType::Char), Some(points));
    }
}
