//! Types, variables and functions of debug information that may say anything, and objects of them.

use std::{collections::HashSet, ops::ControlFlow, sync::Arc};

use kcore_mem::Budget;
use kcore_mem::Svma;
use kcore_symbols::{Composite, DebugInfo, DieId, Type, TypeKind, TypeLink};
use kcore_values::{DeclaredPrinters, EnumNames, Object};

use crate::{input::Input, memory::Memory, module, process::Made};

/// Names that are looked up, of each kind.
const NAMES: usize = 32;
/// Types that are looked at.
const TYPES: usize = 256;
/// Of these, those whose objects are looked at.
const OBJECTS: usize = 24;

/// A module, then memory.
pub fn run(data: &[u8]) {
    let mut input = Input::new(data);
    let symbols = module::symbols(&mut input);
    let memory = Memory::read(&mut input);
    let Some(info) = symbols.debug_info() else { return };
    let named = named_types(info);
    look_up(info);
    let types = reached(named.iter().filter_map(|id| info.type_at(*id).ok()).collect());
    types.iter().for_each(ask);
    let process = Made {
        memory,
        info: Some(Arc::clone(info)),
        types,
        printers: DeclaredPrinters::default(),
        budget: Budget::default(),
    };
    for ty in process.types.iter().take(OBJECTS) {
        process.look_at(&Object::at(ty.clone(), process.start()));
    }
    let _ = info.missing_files();
}

/// The types that have names; each must be found by its own.
fn named_types(info: &Arc<DebugInfo>) -> Vec<DieId> {
    let (mut ids, mut names) = (Vec::new(), Vec::new());
    info.each_type(|id, name| {
        ids.push(id);
        names.push(name.to_owned());
        if ids.len() < NAMES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    for name in names {
        let _ = info.find_types(&name);
        let _ = info.find_types(name.rsplit("::").next().unwrap_or_default());
    }
    ids
}

/// Variables and functions.
fn look_up(info: &Arc<DebugInfo>) {
    let mut variables = Vec::new();
    info.each_variable(|id, name| {
        variables.push((id, name.to_owned()));
        if variables.len() < NAMES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    for (id, name) in variables {
        let _ = (info.find_variables(&name), info.find_functions(&name), info.scope_of(id));
        let variable = info.variable_at(id, None);
        let _ = variable.and_then(|variable| info.type_of(&variable));
    }
    for function in info.find_functions("main") {
        let _ = info.code_of(function);
    }
    for table in info.vtable_types().keys().take(NAMES) {
        let _ = info.type_of_vtable(*table);
    }
    let _ = (info.type_of_vtable(Svma::new(0)), info.type_of_descriptor(8));
}

/// The types that others are made of, these first.
fn reached(mut types: Vec<Type>) -> Vec<Type> {
    let mut known: HashSet<_> = types.iter().filter_map(Type::id).collect();
    let mut next = 0;
    while let Some(ty) = types.get(next).cloned() {
        let found = links(ty.kind()).into_iter().filter_map(|link| ty.follow(link).ok());
        let new: Vec<_> = found.filter(|ty| ty.id().is_some_and(|id| known.insert(id))).collect();
        types.extend(new);
        types.truncate(TYPES);
        next += 1;
    }
    types
}

fn links(kind: &TypeKind) -> Vec<&TypeLink> {
    match kind {
        TypeKind::Pointer(pointer) => vec![&pointer.to],
        TypeKind::Alias(alias) => vec![&alias.to],
        TypeKind::Array(array) => vec![&array.element],
        TypeKind::MemberPointer(pointer) => vec![&pointer.to, &pointer.class],
        TypeKind::Enumeration(enumeration) => enumeration.underlying.iter().collect(),
        TypeKind::Function(function) => {
            function.parameters.iter().chain([&function.returns]).collect()
        }
        TypeKind::Composite(composite) => parts(composite),
        TypeKind::Void | TypeKind::Base(_) | TypeKind::Unknown(_) => Vec::new(),
    }
}

fn parts(composite: &Composite) -> Vec<&TypeLink> {
    let variants = composite.variants.iter().flat_map(|part| &part.variants);
    let members = composite.members.iter().chain(variants.flat_map(|variant| &variant.members));
    let members = members.map(|member| &member.ty);
    let bases = composite.bases.iter().map(|base| &base.ty);
    let statics = composite.statics.iter().map(|variable| &variable.ty);
    let arguments = composite.arguments.iter().map(|argument| &argument.ty);
    members.chain(bases).chain(statics).chain(arguments).collect()
}

/// What a type says of itself.
fn ask(ty: &Type) {
    let _ = (ty.language(), ty.scope(), ty.qualified_name(), ty.declared("x"));
    let _ = (ty.size(), ty.target(), ty.stripped(), ty.unqualified());
    if let Some(names) = EnumNames::of(ty) {
        let _ = (names.name_of(1), names.decoded(7, true), names.decoded(-1, false));
    }
}
