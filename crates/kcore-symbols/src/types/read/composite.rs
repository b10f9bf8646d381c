//! Structures, classes and unions (DWARF 5, 5.7).

use gimli::constants;

use super::{
    super::model::{
        BaseClass, Composite, Keyword, MemberPlace, StaticMember, TypeArgument, TypeKind,
    },
    entry::DieEntry,
    members, variants,
};
use crate::dwarf::Result;

/// Reads a composite type.
pub fn read(entry: &DieEntry<'_>, keyword: Keyword) -> Result<TypeKind> {
    let mut composite = Composite {
        keyword,
        bases: Vec::new(),
        members: Vec::new(),
        statics: Vec::new(),
        variants: None,
        arguments: Vec::new(),
        is_dynamic: entry.value(constants::DW_AT_containing_type).is_some(),
    };
    entry.children(|child| take(&mut composite, &child))?;
    Ok(TypeKind::Composite(Box::new(composite)))
}

fn take(composite: &mut Composite, child: &DieEntry<'_>) -> Result<()> {
    match child.tag() {
        constants::DW_TAG_member if members::is_static(child) => {
            composite.statics.push(static_member(child));
        }
        constants::DW_TAG_variable => composite.statics.push(static_member(child)),
        constants::DW_TAG_member => composite.members.push(members::read(child)),
        constants::DW_TAG_inheritance => composite.bases.push(base(child)),
        constants::DW_TAG_variant_part => composite.variants = Some(variants::read(child)?),
        constants::DW_TAG_template_type_parameter
        | constants::DW_TAG_template_value_parameter
        | constants::DW_TAG_GNU_template_template_param => {
            composite.arguments.push(argument(child));
        }
        constants::DW_TAG_GNU_template_parameter_pack => child.children(|argument_of_pack| {
            composite.arguments.push(argument(&argument_of_pack));
            Ok(())
        })?,
        constants::DW_TAG_subprogram => {
            composite.is_dynamic |= child.number(constants::DW_AT_virtuality).unwrap_or(0) != 0;
        }
        _ => {}
    }
    Ok(())
}

fn base(entry: &DieEntry<'_>) -> BaseClass {
    BaseClass {
        ty: entry.type_link(),
        place: members::place(entry).unwrap_or(MemberPlace::Offset(0)),
        is_virtual: entry.number(constants::DW_AT_virtuality).unwrap_or(0) != 0,
    }
}

fn static_member(entry: &DieEntry<'_>) -> StaticMember {
    StaticMember {
        name: entry.name(),
        ty: entry.type_link(),
        linkage_name: entry.text(constants::DW_AT_linkage_name),
        constant: entry.constant(constants::DW_AT_const_value),
    }
}

fn argument(entry: &DieEntry<'_>) -> TypeArgument {
    TypeArgument {
        name: entry.name(),
        ty: entry.type_link(),
        value: entry.constant(constants::DW_AT_const_value),
    }
}
