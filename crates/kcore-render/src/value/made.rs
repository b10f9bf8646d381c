//! Values made by hand.

use kcore_mem::Addr;
use kcore_symbols::{
    AliasKind, AliasType, BaseType, BitField, Composite, Encoding, Enumeration, Enumerator,
    Keyword, Type, TypeKind, TypeNode,
};
use kcore_values::{
    Content, Elements, EnumValue, Field, FloatValue, Number, Pointer, SymbolName, Text, Value,
};

pub(crate) fn named(name: &str, size: u64, kind: TypeKind) -> Type {
    let name = Some(name).filter(|name| !name.is_empty()).map(Into::into);
    Type::made(TypeNode { id: None, name, size: Some(size), is_declaration: false, kind })
}

pub(crate) fn base(name: &str, encoding: Encoding, size: u64) -> Type {
    named(name, size, TypeKind::Base(BaseType { encoding, bits: None, swapped: false }))
}

pub(crate) fn int_type() -> Type {
    base("int", Encoding::Signed, 4)
}

pub(crate) fn char_type() -> Type {
    base("char", Encoding::SignedChar, 1)
}

pub(crate) fn alias(name: &str, to: &Type) -> Type {
    let kind = TypeKind::Alias(AliasType { kind: AliasKind::Typedef, to: to.link() });
    Type::made(TypeNode {
        id: None,
        name: Some(name.into()),
        size: None,
        is_declaration: false,
        kind,
    })
}

pub(crate) fn composite(keyword: Keyword, name: &str) -> Type {
    let composite = Composite {
        keyword,
        bases: Vec::new(),
        members: Vec::new(),
        statics: Vec::new(),
        variants: None,
        arguments: Vec::new(),
        is_dynamic: false,
    };
    named(name, 8, TypeKind::Composite(Box::new(composite)))
}

pub(crate) fn declared(name: &str) -> Type {
    let ty = composite(Keyword::Struct, name);
    Type::made(TypeNode { is_declaration: true, size: None, ..ty.node().clone() })
}

pub(crate) fn enumeration(name: &str, names: &[(&str, i128)]) -> Type {
    let enumerators =
        names.iter().map(|(name, value)| Enumerator { name: (*name).into(), value: *value });
    let kind =
        Enumeration { underlying: None, enumerators: enumerators.collect(), is_class: false };
    named(name, 4, TypeKind::Enumeration(kind))
}

pub(crate) fn value(ty: Type, at: u64, content: Content) -> Value {
    Value { ty, at: Some(Addr::new(at)), bits: None, content }
}

pub(crate) fn number(value: i128, size: u32, signed: bool) -> Number {
    let mask = if size >= 128 { u128::MAX } else { (1 << size) - 1 };
    Number { bits: value.cast_unsigned() & mask, size, signed }
}

pub(crate) fn int(at: u64, value_of: i128) -> Value {
    value(int_type(), at, Content::Integer(number(value_of, 32, true)))
}

pub(crate) fn bit_field(at: u64, offset: u64, size: u64, of: i128, signed: bool) -> Value {
    let encoding = if signed { Encoding::Signed } else { Encoding::Unsigned };
    let ty = base(if signed { "int" } else { "unsigned int" }, encoding, 4);
    let content = Content::Integer(number(of, u32::try_from(size).unwrap(), signed));
    Value { bits: Some(BitField { offset, size }), ..value(ty, at, content) }
}

pub(crate) fn float(at: u64, of: f64) -> Value {
    let ty = base("float", Encoding::Float, 4);
    value(ty, at, Content::Float(FloatValue { value: of, size: 4, wide: None }))
}

pub(crate) fn names(ty: Type, at: u64, of: i128) -> Value {
    let content = EnumValue { number: number(of, 32, false), names: ty.clone() };
    value(ty, at, Content::Enum(content))
}

pub(crate) fn pointer_to(ty: &Type, at: u64, to: u64) -> Value {
    let content = Pointer {
        to: Some(Addr::new(to)),
        symbol: None,
        text: None,
        dynamic: None,
        pointee: None,
        counts: Vec::new(),
    };
    value(ty.pointer(8), at, Content::Pointer(content))
}

pub(crate) fn with_text(value: Value, text_of: &str, is_cut: bool) -> Value {
    let Content::Pointer(pointer) = value.content else { panic!("no pointer") };
    let text = Some(Text::of(text_of, is_cut));
    Value { content: Content::Pointer(Pointer { text, ..pointer }), ..value }
}

pub(crate) fn with_symbol(value: Value, name: &str, offset: u64) -> Value {
    let Content::Pointer(pointer) = value.content else { panic!("no pointer") };
    let symbol = Some(SymbolName { name: name.into(), module: None, offset });
    Value { content: Content::Pointer(Pointer { symbol, ..pointer }), ..value }
}

pub(crate) fn characters(at: u64, size: u64, of: &str) -> Value {
    let content = Content::Text(Text::of(of, false));
    value(char_type().array(Some(size)), at, content)
}

pub(crate) fn array(element: &Type, at: u64, total: u64, values: Vec<Value>) -> Value {
    let ty = element.array(Some(total));
    value(ty, at, Content::Elements(Elements { values, total: Some(total) }))
}

pub(crate) fn structure(name: &str, at: u64, fields: Vec<(&str, Value)>) -> Value {
    let field = |(name, value): (&str, Value)| Field {
        name: Some(name).filter(|name| !name.is_empty()).map(Into::into),
        is_base: false,
        value,
    };
    let fields = Content::Fields(fields.into_iter().map(field).collect());
    value(composite(Keyword::Struct, name), at, fields)
}

/// The node that the reference prints (mdb.md 12.1).
pub(crate) fn node() -> Value {
    let node = composite(Keyword::Struct, "node");
    let kind = enumeration("kind", &[("NODE_LEAF", 1), ("NODE_DIR", 2), ("NODE_LINK", 3)]);
    let perm = enumeration("perm", &[("READ", 1), ("WRITE", 2), ("EXEC", 4)]);
    let point = |at, x, y| structure("point", at, vec![("x", int(at, x)), ("y", int(at + 4, y))]);
    let point_type = composite(Keyword::Struct, "point");
    let vals = [1, 2, 3, 0].into_iter().zip(0..).map(|(of, at)| int(0x60_2030 + at * 4, of));
    structure(
        "node",
        0x60_2010,
        vec![
            ("n_id", int(0x60_2010, 0x2a)),
            ("n_name", with_text(pointer_to(&char_type(), 0x60_2018, 0x40_08d8), "first", false)),
            ("n_next", pointer_to(&node, 0x60_2020, 0x60_2040)),
            ("n_kind", names(kind, 0x60_2028, 3)),
            ("n_mode", names(perm, 0x60_202c, 3)),
            ("n_tag", characters(0x60_2030, 8, "leaf")),
            ("n_vals", array(&int_type(), 0x60_2038, 4, vals.collect())),
            ("n_sub", sub()),
            (
                "n_pts",
                array(
                    &point_type,
                    0x60_2050,
                    2,
                    vec![point(0x60_2050, 1, 2), point(0x60_2058, 3, 4)],
                ),
            ),
        ],
    )
}

/// Its member `n_sub`.
pub(crate) fn sub() -> Value {
    let fields = vec![("s_count", int(0x60_2048, 7)), ("s_ratio", float(0x60_204c, 0.5))];
    structure("sub", 0x60_2048, fields)
}
