//! Types of futures as debug information has them, each read once.
//!
//! `rustc` makes a structure `{async_fn_env#0}` of an `async` function, whose variant part has one variant for each
//! place in which it may be suspended (`rustc_codegen_llvm/src/debuginfo/metadata/enums/native.rs` of 1.95).

use std::sync::{Arc, PoisonError, RwLock};

use kcore_symbols::{
    Composite, DeclaredAt, Member, MemberPlace, Type, TypeIdentity, TypeKind, VariantPart,
};
use rustc_hash::FxHashMap;

/// What the structures begin with that stand for the code of `async`, and how the rest of the name goes on.
const COROUTINES: [&str; 3] = ["{async_fn_env#", "{async_block_env#", "{async_closure_env#"];
/// The future that a suspended one waits for.
pub const AWAITEE: &str = "__awaitee";
/// Types that are remembered; beyond it all are forgotten.
const MAX_SHAPES: usize = 1 << 16;

/// What is needed of a type to find the futures in a value of it.
#[derive(Debug)]
pub struct Shape {
    /// Its name with scopes.
    pub name: Arc<str>,
    /// Its bytes.
    pub size: u64,
    /// What it is made of.
    pub parts: Parts,
}

/// What a type is made of.
#[derive(Debug)]
pub enum Parts {
    /// The code of an `async` function or block.
    Coroutine(Coroutine),
    /// Members that every value has, and those that depend on a discriminant.
    Fields(Vec<Field>, Option<Variants>),
    /// A pointer to a value of this type.
    Pointer(Type),
    /// A pointer to a trait object, and to the functions of its type: where the two lie.
    Dyn(u64, u64),
    /// Nothing of interest.
    Scalar,
}

/// The code of an `async` function or block.
#[derive(Debug)]
pub struct Coroutine {
    /// The function, with its scopes.
    pub function: Arc<str>,
    /// Where it may be.
    pub states: Variants,
}

/// A member.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: Arc<str>,
    /// Bytes from the beginning of the value.
    pub offset: u64,
    /// Its type.
    pub ty: Type,
}

/// Members that depend on a discriminant.
#[derive(Debug)]
pub struct Variants {
    /// Where the discriminant lies, and its bytes; `None` where there is one variant.
    pub discriminant: Option<(u64, u64)>,
    /// The variants.
    pub all: Vec<VariantShape>,
}

/// One variant.
#[derive(Debug)]
pub struct VariantShape {
    values: Vec<(u128, u128)>,
    /// The name of its type: `Suspend0`.
    pub name: Arc<str>,
    /// The line in which it waits.
    pub at: Option<DeclaredAt>,
    /// Its members.
    pub fields: Vec<Field>,
}

impl VariantShape {
    /// The future that it waits for.
    pub fn awaitee(&self) -> Option<&Field> {
        self.fields.iter().find(|field| &*field.name == AWAITEE)
    }
}

impl Variants {
    /// The variant that a discriminant chooses.
    pub fn chosen(&self, value: u64) -> Option<&VariantShape> {
        let value = u128::from(value);
        let has = |variant: &&VariantShape| {
            variant.values.iter().any(|(first, last)| (*first..=*last).contains(&value))
        };
        let chosen = self.all.iter().find(has);
        chosen.or_else(|| self.all.iter().find(|variant| variant.values.is_empty()))
    }
}

/// The types that were read.
#[derive(Default)]
pub struct Shapes(RwLock<FxHashMap<TypeIdentity, Arc<Shape>>>);

impl Shapes {
    /// That of a type.
    pub fn of(&self, ty: &Type) -> Option<Arc<Shape>> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(&ty.identity()) {
            return Some(known.clone());
        }
        drop(known);
        let shape = Arc::new(read(ty)?);
        // The identity of a type that nobody keeps may be another's later.
        if ty.id().is_some() {
            let mut shapes = self.0.write().unwrap_or_else(PoisonError::into_inner);
            if shapes.len() >= MAX_SHAPES {
                shapes.clear();
            }
            shapes.insert(ty.identity(), shape.clone());
        }
        Some(shape)
    }
}

fn read(ty: &Type) -> Option<Shape> {
    let ty = ty.stripped().ok()?;
    let size = ty.size()?;
    let name: Arc<str> = ty.qualified_name().unwrap_or_default().into();
    let parts = match ty.kind() {
        TypeKind::Pointer(pointer) => Parts::Pointer(ty.follow(&pointer.to).ok()?),
        TypeKind::Composite(composite) => of_composite(&ty, composite)?,
        _ => Parts::Scalar,
    };
    Some(Shape { name, size, parts })
}

fn of_composite(ty: &Type, composite: &Composite) -> Option<Parts> {
    let fields = fields(ty, &composite.members);
    let variants = composite.variants.as_ref().and_then(|part| variants(ty, part));
    let own = ty.name().unwrap_or_default();
    if let Some(rest) = COROUTINES.iter().find_map(|start| own.strip_prefix(start)) {
        let function = function_name(&ty.scope(), own, rest);
        return Some(Parts::Coroutine(Coroutine { function, states: variants? }));
    }
    Some(dyn_parts(&fields).unwrap_or(Parts::Fields(fields, variants)))
}

/// The two words of a pointer to a trait object: `pointer` and `vtable`, `data_ptr` in slices.
fn dyn_parts(fields: &[Field]) -> Option<Parts> {
    let [one, other] = fields else { return None };
    match (&*one.name, &*other.name) {
        ("pointer" | "data_ptr", "vtable") => Some(Parts::Dyn(one.offset, other.offset)),
        ("vtable", "pointer" | "data_ptr") => Some(Parts::Dyn(other.offset, one.offset)),
        _ => None,
    }
}

/// The name of the function whose code it is: its scopes, for blocks and closures with their number.
fn function_name(scope: &[Arc<str>], own: &str, rest: &str) -> Arc<str> {
    let scope = scope.join("::");
    let (number, arguments) = rest.split_once('}').unwrap_or((rest, ""));
    match own.strip_prefix('{').and_then(|own| own.split_once("_env#")) {
        Some((word, _)) if word != "async_fn" => {
            format!("{scope}::{{{word}#{number}}}{arguments}").into()
        }
        _ => format!("{scope}{arguments}").into(),
    }
}

fn fields(ty: &Type, members: &[Member]) -> Vec<Field> {
    let field = |member: &Member| match member.place {
        MemberPlace::Offset(offset) => {
            Some(Field { name: member.name.clone()?, offset, ty: ty.follow(&member.ty).ok()? })
        }
        _ => None,
    };
    members.iter().filter_map(field).collect()
}

fn variants(ty: &Type, part: &VariantPart) -> Option<Variants> {
    let lines = ty.id().zip(ty.debug_info());
    let lines = lines.and_then(|(id, info)| info.variant_lines(id).ok()).unwrap_or_default();
    let discriminant = match &part.discriminant {
        Some(member) => {
            let MemberPlace::Offset(offset) = member.place else { return None };
            Some((offset, ty.follow(&member.ty).ok()?.size()?))
        }
        None => None,
    };
    let variant = |(index, variant): (usize, &kcore_symbols::Variant)| {
        let member = variant.members.first()?;
        let MemberPlace::Offset(offset) = member.place else { return None };
        let of = ty.follow(&member.ty).ok()?;
        let mut fields = fields(&of, &of.composite()?.members);
        for field in &mut fields {
            field.offset = field.offset.checked_add(offset)?;
        }
        Some(VariantShape {
            values: variant.values.clone(),
            name: of.name()?.into(),
            at: lines.get(index).cloned().flatten(),
            fields,
        })
    };
    let all = part.variants.iter().enumerate().filter_map(variant).collect();
    Some(Variants { discriminant, all })
}
