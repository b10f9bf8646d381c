//! Types of standard libraries, shown as what they mean.
//!
//! A printer knows a family of types by its qualified name, and follows its members by their names, with
//! as many levels between them as a release may have. What makes no sense it does not show: then the
//! structure is shown as it is. What users declare in files comes before these (`declared`).

mod container;
mod cpp;
mod d;
pub(crate) mod declared;
mod family;
mod find;
mod go;
mod made;
mod owner;
mod qt;
mod rust;
mod sequence;
mod transparent;

pub(crate) use container::{Keeping, keeping};

use std::sync::OnceLock;

use kcore_symbols::Type;
use rustc_hash::FxHashMap;

use crate::{Content, Object, eval::Evaluator};

/// What shows the types of some families.
pub(crate) trait Printer: Sync {
    /// The families: qualified names without arguments, inline namespaces and what else changes with
    /// releases (see [`family`]).
    fn families(&self) -> &'static [&'static str];

    /// What an object means; `None` when it makes no sense as an object of this family.
    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content>;
}

/// All printers.
const PRINTERS: &[&dyn Printer] = &[
    &cpp::array::Array,
    &cpp::any::Any,
    &cpp::atomic_shared::Atomic,
    &cpp::bit_reference::BitReference,
    &cpp::bitset::Bitset,
    &cpp::calendar::Calendar,
    &cpp::chrono::Duration,
    &cpp::chrono::TimePoint,
    &cpp::complex::Complex,
    &cpp::deque::Deque,
    &cpp::error_code::ErrorCode,
    &cpp::exception_ptr::ExceptionPtr,
    &cpp::expected::Expected,
    &cpp::forward_list::ForwardList,
    &cpp::function::Function,
    &cpp::future::Future,
    &cpp::iterator::ElementIterator,
    &cpp::list::List,
    &cpp::map::Map,
    &cpp::mutex::Mutex,
    &cpp::optional::Optional,
    &cpp::ordering::Ordering,
    &cpp::reference::ReferenceWrapper,
    &cpp::shared_ptr::SharedPtr,
    &cpp::small::CoroutineHandle,
    &cpp::small::SourceLocation,
    &cpp::small::Thread,
    &cpp::small::TypeIndex,
    &cpp::span::Span,
    &cpp::string::BasicString,
    &cpp::string_view::StringView,
    &cpp::tuple::Tuple,
    &cpp::unique_ptr::UniquePtr,
    &cpp::unordered::Unordered,
    &cpp::variant::Variant,
    &cpp::vector::Vector,
    &cpp::view::View,
    &d::Slice,
    &go::chan::Chan,
    &go::interface::Interface,
    &go::map::Map,
    &go::slice::Slice,
    &go::string::GoString,
    &go::swiss_map::SwissMap,
    &qt::date::Moment,
    &qt::hash::Hash,
    &qt::uuid::Uuid,
    &transparent::ADAPTOR,
    &transparent::PATH,
    &transparent::RUST_NEWTYPE,
    &transparent::RUST_WRAPPER,
    &rust::atomic_bool::AtomicBool,
    &rust::btree::BTree,
    &rust::chrono::Chrono,
    &rust::dashmap::DashMap,
    &rust::hash::Hash,
    &rust::lazy_cell::LazyCell,
    &rust::linked_list::LinkedList,
    &rust::lock::Lock,
    &rust::net::InternetAddress,
    &rust::once::Once,
    &rust::rc::Rc,
    &rust::ref_cell::RefCell,
    &rust::slice::Slice,
    &rust::string::RustString,
    &rust::time::Time,
    &rust::trait_object::TraitObject,
    &rust::uuid::Uuid,
    &rust::vec::Vector,
    &rust::vec_deque::VecDeque,
];

/// What an object means, if a printer knows its type; `ty` is its type behind aliases.
pub(crate) fn show(evaluator: &mut Evaluator<'_>, object: &Object, ty: &Type) -> Option<Content> {
    let declared = evaluator.process().declared_printers();
    if let Some(content) = declared.and_then(|declared| declared.show(evaluator, object)) {
        return Some(content);
    }
    let family = family::of(ty, &|last| by_last_name().contains_key(last))?;
    let last = last_name(&family);
    let found = by_last_name().get(last)?.iter().find(|(name, _)| *name == family)?;
    found.1.show(evaluator, &object.cast(ty.clone()))
}

/// What a name ends with.
fn last_name(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

/// Families with their printers.
type PrinterList = Vec<(&'static str, &'static dyn Printer)>;

/// Families by the last parts of their names: only for these the scopes of a type are read.
fn by_last_name() -> &'static FxHashMap<&'static str, PrinterList> {
    static KNOWN: OnceLock<FxHashMap<&'static str, PrinterList>> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let mut known: FxHashMap<&'static str, PrinterList> = FxHashMap::default();
        for printer in PRINTERS {
            for family in printer.families() {
                known.entry(last_name(family)).or_default().push((family, *printer));
            }
        }
        known
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_family_has_two_printers() {
        for families in by_last_name().values() {
            let mut names: Vec<_> = families.iter().map(|(name, _)| name).collect();
            names.sort_unstable();
            let count = names.len();
            names.dedup();
            assert_eq!(names.len(), count, "{names:?}");
        }
    }
}
