//! The structures around the value that is being read.

use kcore_mem::Addr;
use kcore_symbols::{Type, TypeIdentity};

use crate::Object;

/// The structures around an object, the innermost one last.
///
/// No structure contains itself, but damaged or crafted debug information can claim so. Following it would
/// produce values without end.
#[derive(Default)]
pub struct Enclosing(Vec<Around>);

struct Around {
    ty: TypeIdentity,
    /// Keeps the type alive, so that no other type gets its identity.
    _type: Type,
    at: Option<Addr>,
    size: u64,
}

impl Enclosing {
    /// Enters a structure. Returns false if it lies within another structure of the same type. An object
    /// elsewhere in memory, reached through a pointer, may have the type of one around it.
    pub fn enter(&mut self, object: &Object, ty: &Type) -> bool {
        let (id, at) = (ty.identity(), object.address());
        let is_inside = self.0.iter().any(|around| around.ty == id && around.holds(at));
        if !is_inside {
            let size = ty.size().unwrap_or(0);
            self.0.push(Around { ty: id, _type: ty.clone(), at, size });
        }
        !is_inside
    }

    /// Leaves the structure that was entered last.
    pub fn leave(&mut self) {
        self.0.pop();
    }
}

impl Around {
    fn holds(&self, at: Option<Addr>) -> bool {
        match (self.at, at) {
            (Some(own), Some(at)) => {
                at == own || at.offset_from(own).is_some_and(|offset| offset < self.size)
            }
            (None, None) => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use kcore_mem::{Allowance, Budget};
    use kcore_symbols::{
        BaseClass, Keyword, MemberPlace, OpenType, TypeKind, TypeLink, TypeNode, Variant,
        VariantPart,
    };

    use super::*;
    use crate::made_process::{MadeProcess, composite, int, member, named, structure};
    use crate::{Content, Limits, Value};

    const AT: u64 = 0x1000;

    /// A structure of 32 bytes that is made by `make` of itself.
    fn of_itself(make: impl FnOnce(TypeLink) -> kcore_symbols::Composite) -> Type {
        let open = OpenType::default();
        let made = make(TypeLink::Open(open.clone()));
        let node = TypeNode {
            id: None,
            name: Some("S".into()),
            size: Some(32),
            is_declaration: false,
            kind: TypeKind::Composite(Box::new(made)),
        };
        Type::made_open(node, &open)
    }

    fn member_of(name: Option<&str>, ty: TypeLink, offset: u64) -> kcore_symbols::Member {
        let place = MemberPlace::Offset(offset);
        kcore_symbols::Member { name: name.map(Into::into), ty, place, is_artificial: false }
    }

    fn twice(link: TypeLink) -> kcore_symbols::Composite {
        composite(vec![
            member_of(Some("a"), link.clone(), 0),
            member_of(Some("b"), link, 0),
            member("n", &int(), MemberPlace::Offset(4)),
        ])
    }

    fn process() -> MadeProcess {
        MadeProcess::new(&[(AT, &[1; 64])])
    }

    fn count(value: &Value) -> usize {
        let of_fields =
            |fields: &[crate::Field]| fields.iter().map(|field| count(&field.value)).sum::<usize>();
        1 + match &value.content {
            Content::Fields(fields) => of_fields(fields),
            Content::Variant(variant) => of_fields(&variant.fields),
            Content::Elements(elements) => elements.values.iter().map(count).sum(),
            _ => 0,
        }
    }

    fn assert_short(ty: &Type) -> Value {
        let limits = Limits { elements: None, raw: true, ..Limits::default() };
        let value = process().value(ty, AT, &limits);
        assert!(count(&value) < 20, "{} values", count(&value));
        let layout = Object::at(ty.clone(), Addr::new(AT)).layout(&process(), &limits);
        assert!(count(&layout) < 20, "{} members", count(&layout));
        value
    }

    #[test]
    fn a_structure_that_is_a_part_of_itself_is_told_once() {
        let value = assert_short(&of_itself(twice));
        let Content::Fields(fields) = &value.content else { panic!("{value:?}") };
        let Content::Absent(why) = &fields[0].value.content else { panic!("{fields:?}") };
        assert_eq!(
            why.to_string(),
            "unreadable: the debug information is damaged: it says that struct S has itself as a member"
        );
        assert!(matches!(fields[2].value.content, Content::Integer(_)));
    }

    #[test]
    fn so_is_a_union_an_array_of_itself_and_a_class_that_is_its_own_base() {
        assert_short(&of_itself(|link| kcore_symbols::Composite {
            keyword: Keyword::Union,
            ..twice(link)
        }));
        assert_short(&of_itself(|link| {
            let base =
                |link| BaseClass { ty: link, place: MemberPlace::Offset(0), is_virtual: false };
            kcore_symbols::Composite {
                bases: vec![base(link.clone()), base(link.clone())],
                ..twice(link)
            }
        }));
        let inner = of_itself(twice);
        let array = inner.array(Some(3));
        let ty = structure("outer", 96, vec![member("all", &array, MemberPlace::Offset(0))]);
        let value = process().value(&ty, AT, &Limits::default());
        assert!(count(&value) < 20, "{}", count(&value));
    }

    #[test]
    fn so_is_a_variant_that_holds_itself() {
        let ty = of_itself(|link| {
            let variant = Variant {
                values: Vec::new(),
                members: vec![member_of(Some("A"), link.clone(), 0)],
            };
            let variants = Some(VariantPart { discriminant: None, variants: vec![variant] });
            kcore_symbols::Composite { variants, ..composite(vec![member_of(Some("a"), link, 0)]) }
        });
        assert_short(&ty);
    }

    #[test]
    fn objects_of_one_type_beside_each_other_are_told() {
        let point = structure("point", 8, vec![member("x", &int(), MemberPlace::Offset(0))]);
        let parts = vec![
            member("a", &point, MemberPlace::Offset(0)),
            member("b", &point, MemberPlace::Offset(8)),
            member("c", &point.array(Some(2)), MemberPlace::Offset(16)),
        ];
        let value = process().value(&structure("all", 32, parts), AT, &Limits::default());
        assert_eq!(count(&value), 1 + 2 * 2 + 1 + 2 * 2);
    }

    #[test]
    fn a_name_is_looked_for_once_in_each_type() {
        let ty =
            of_itself(|link| composite((0..8).map(|_| member_of(None, link.clone(), 0)).collect()));
        let missing = Object::at(ty, Addr::new(AT)).member(&process(), "nosuch").unwrap_err();
        assert_eq!(missing.to_string(), "failed to find member nosuch of struct S");
    }

    #[test]
    fn the_budget_ends_what_types_double() {
        let mut ty = int();
        for level in 0..40 {
            let members = ["a", "b"]
                .map(|name| member(name, &ty, MemberPlace::Offset(0)))
                .into_iter()
                .collect();
            ty = named(&format!("S{level}"), 4, TypeKind::Composite(Box::new(composite(members))));
        }
        let mut process = process();
        process.budget =
            Budget::new(Allowance { values_at_once: 1000, ..Allowance::of_memory(64 << 20) });
        let value = process.value(&ty, AT, &Limits::default());
        assert!(count(&value) < 1100, "{}", count(&value));
        let cuts = process.budget.take_cuts();
        assert_eq!(cuts.len(), 1, "{cuts:?}");
        assert!(cuts[0].to_string().contains("more than 1000 values"), "{}", cuts[0]);
    }
}
