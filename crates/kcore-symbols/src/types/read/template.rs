//! Names that a compiler left without their template arguments (`clang -gsimple-template-names`): it
//! says them in entries below alone, of which the name is made anew. The form is that of
//! `DWARFTypePrinter` of LLVM 14, which does the same.

use std::{cell::Cell, sync::Arc};

use gimli::constants;

use super::{entry::DieEntry, scope};
use crate::{DebugInfo, DieId, dwarf::Result};

/// Types that one name may be made of.
const MAX_TYPES: usize = 1 << 10;
/// Types within types.
const MAX_DEPTH: usize = 24;
/// A name longer than this is left as it is.
const MAX_LEN: usize = 1 << 14;

/// Makes one name. What it has cost is counted: damaged debug information has types that are made of
/// themselves.
pub struct Namer<'a> {
    /// Where the entries are.
    pub info: &'a DebugInfo,
    left: Cell<usize>,
    depth: Cell<usize>,
}

impl<'a> Namer<'a> {
    /// Of these entries.
    pub const fn new(info: &'a DebugInfo) -> Self {
        Self { info, left: Cell::new(MAX_TYPES), depth: Cell::new(0) }
    }

    /// The name of an entry with the arguments that it lacks; the same name if it lacks none, or it
    /// is too much to be told.
    pub fn complete(&self, entry: &DieEntry<'_>, name: Arc<str>) -> Arc<str> {
        if !may_lack_arguments(entry) || name.contains('<') {
            return name;
        }
        self.deeper(|| self.arguments(entry).ok().flatten())
            .map(|arguments| bracketed(&name, &arguments))
            .filter(|made| made.len() <= MAX_LEN)
            .map_or(name, Arc::from)
    }

    /// Goes on with a type within the one at hand, if that is not too much.
    fn deeper<T>(&self, go: impl FnOnce() -> Option<T>) -> Option<T> {
        let depth = self.depth.get();
        self.left.set(self.left.get().checked_sub(1)?);
        self.depth.set(depth.checked_add(1).filter(|depth| *depth < MAX_DEPTH)?);
        let found = go();
        self.depth.set(depth);
        found
    }

    /// What the arguments are; `None` of what is no template.
    fn arguments(&self, entry: &DieEntry<'a>) -> Result<Option<Vec<String>>> {
        let mut all: Option<Vec<String>> = None;
        let mut is_whole = true;
        let mut add = |all: &mut Option<Vec<String>>, child: &DieEntry<'a>| {
            let argument = self.argument(child);
            is_whole &= argument.is_some();
            all.get_or_insert_default().extend(argument);
        };
        entry.children(|child| {
            match child.tag() {
                constants::DW_TAG_template_type_parameter
                | constants::DW_TAG_template_value_parameter
                | constants::DW_TAG_GNU_template_template_param => add(&mut all, &child),
                constants::DW_TAG_GNU_template_parameter_pack => {
                    all.get_or_insert_default();
                    child.children(|of_pack| {
                        add(&mut all, &of_pack);
                        Ok(())
                    })?;
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(all.filter(|_| is_whole))
    }

    fn argument(&self, entry: &DieEntry<'a>) -> Option<String> {
        match entry.tag() {
            constants::DW_TAG_GNU_template_template_param => {
                Some(entry.text(constants::DW_AT_GNU_template_name)?.to_string())
            }
            constants::DW_TAG_template_value_parameter => self.value(entry),
            _ => self.spelled(entry.reference(constants::DW_AT_type), String::new()),
        }
    }

    /// A type, or the declaration of `inner`, which is what stands at the place of the variable.
    fn spelled(&self, id: Option<DieId>, inner: String) -> Option<String> {
        let Some(id) = id else { return Some(joined("void", &inner)) };
        self.deeper(|| {
            let entry = DieEntry::read(self.info, id).ok()?;
            let to = entry.reference(constants::DW_AT_type);
            match entry.tag() {
                constants::DW_TAG_pointer_type => self.spelled(to, format!("*{inner}")),
                constants::DW_TAG_reference_type => self.spelled(to, format!("&{inner}")),
                constants::DW_TAG_rvalue_reference_type => self.spelled(to, format!("&&{inner}")),
                constants::DW_TAG_const_type => self.qualified("const", to, inner),
                constants::DW_TAG_volatile_type => self.qualified("volatile", to, inner),
                constants::DW_TAG_array_type => {
                    self.spelled(to, format!("{}{}", grouped(inner), dimensions(&entry)?))
                }
                constants::DW_TAG_subroutine_type => {
                    let parameters = self.parameters(&entry)?;
                    self.spelled(to, format!("{}({parameters})", grouped(inner)))
                }
                constants::DW_TAG_ptr_to_member_type => {
                    let class = entry.reference(constants::DW_AT_containing_type);
                    let class = self.spelled(class, String::new())?;
                    self.spelled(to, format!("{class}::*{inner}"))
                }
                _ => Some(joined(&self.named(id)?, &inner)),
            }
        })
    }

    fn named(&self, id: DieId) -> Option<String> {
        scope::named_by(self, id).ok()?.map(|named| named.qualified())
    }

    /// Qualifiers stand before a type, but behind the asterisk of a pointer.
    fn qualified(&self, word: &str, to: Option<DieId>, inner: String) -> Option<String> {
        let target = to.and_then(|id| DieEntry::read(self.info, id).ok());
        let is_pointer = target.is_some_and(|to| to.tag() == constants::DW_TAG_pointer_type);
        match is_pointer {
            true => self.spelled(to, joined(word, &inner)),
            false => Some(joined(word, &self.spelled(to, inner)?)),
        }
    }

    fn parameters(&self, function: &DieEntry<'a>) -> Option<String> {
        let mut all = Some(Vec::new());
        let read = function.children(|child| {
            let parameter = match child.tag() {
                constants::DW_TAG_formal_parameter => {
                    self.spelled(child.reference(constants::DW_AT_type), String::new())
                }
                constants::DW_TAG_unspecified_parameters => Some("...".to_owned()),
                _ => return Ok(()),
            };
            all = all.take().zip(parameter).map(|(mut all, parameter)| {
                all.push(parameter);
                all
            });
            Ok(())
        });
        read.ok()?;
        all.map(|all| all.join(", "))
    }

    /// A value, with the letters that C++ has for its type.
    fn value(&self, entry: &DieEntry<'a>) -> Option<String> {
        let value = entry.constant(constants::DW_AT_const_value)?;
        let mut id = entry.reference(constants::DW_AT_type)?;
        let mut ty = DieEntry::read(self.info, id).ok()?;
        while let (constants::DW_TAG_const_type | constants::DW_TAG_typedef, Some(to)) =
            (ty.tag(), ty.reference(constants::DW_AT_type))
        {
            self.left.set(self.left.get().checked_sub(1)?);
            id = to;
            ty = DieEntry::read(self.info, id).ok()?;
        }
        match ty.tag() {
            constants::DW_TAG_enumeration_type => self.enumerator(id, &ty, value),
            constants::DW_TAG_base_type => Some(number(&ty.name()?, value)),
            _ => None,
        }
    }

    /// A value of an enumeration by its name, with the scope that one types.
    fn enumerator(&self, id: DieId, ty: &DieEntry<'a>, value: i128) -> Option<String> {
        let own = self.named(id)?;
        let mut found = None;
        let read = ty.children(|child| {
            if found.is_none() && child.constant(constants::DW_AT_const_value) == Some(value) {
                found = child.name();
            }
            Ok(())
        });
        read.ok()?;
        let Some(name) = found else { return Some(format!("({own}){value}")) };
        let scope = match ty.flag(constants::DW_AT_enum_class) {
            true => Some(own.as_str()),
            false => own.rsplit_once("::").map(|(scope, _)| scope),
        };
        Some(scope.map_or_else(|| name.to_string(), |scope| format!("{scope}::{name}")))
    }
}

fn may_lack_arguments(entry: &DieEntry<'_>) -> bool {
    let is_class = matches!(
        entry.tag(),
        constants::DW_TAG_class_type
            | constants::DW_TAG_structure_type
            | constants::DW_TAG_union_type
    );
    is_class && entry.unit().may_lack_arguments()
}

fn bracketed(name: &str, arguments: &[String]) -> String {
    let arguments = arguments.join(", ");
    let end = if arguments.ends_with('>') { " >" } else { ">" };
    format!("{name}<{arguments}{end}")
}

fn number(ty: &str, value: i128) -> String {
    let letter = || u8::try_from(value).ok().filter(|byte| byte.is_ascii_graphic());
    match ty {
        "bool" => (value != 0).to_string(),
        "int" => value.to_string(),
        "unsigned int" => format!("{value}U"),
        "long" => format!("{value}L"),
        "unsigned long" => format!("{value}UL"),
        "long long" => format!("{value}LL"),
        "unsigned long long" => format!("{value}ULL"),
        "char" => letter()
            .map_or_else(|| format!("(char){value}"), |letter| format!("'{}'", char::from(letter))),
        other => format!("({other}){value}"),
    }
}

/// What binds closer than a pointer's asterisk stands behind brackets.
fn grouped(inner: String) -> String {
    match inner.starts_with(['*', '&']) || inner.contains("::*") {
        true => format!("({inner})"),
        false => inner,
    }
}

/// `[3][4]`.
fn dimensions(array: &DieEntry<'_>) -> Option<String> {
    let mut all = String::new();
    let read = array.children(|child| {
        if child.tag() == constants::DW_TAG_subrange_type {
            let upper = child.number(constants::DW_AT_upper_bound);
            let upper = upper.and_then(|upper| upper.checked_add(1));
            let count = child.number(constants::DW_AT_count).or(upper);
            let count = count.map_or_else(String::new, |count| count.to_string());
            all.push_str(&format!("[{count}]"));
        }
        Ok(())
    });
    read.ok()?;
    Some(all)
}

/// Both with a blank between them, if there are both.
fn joined(left: &str, right: &str) -> String {
    let between = if left.is_empty() || right.is_empty() { "" } else { " " };
    format!("{left}{between}{right}")
}
