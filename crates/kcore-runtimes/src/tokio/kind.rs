//! What all tasks with one table of functions have in common.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use kcore_mem::{Addr, CodeAddr};
use kcore_symbols::{DebugInfo, DieId, Type};
use rustc_hash::FxHashMap;

use super::{
    future::{FutureReader, Value},
    shape::{Parts, Shape, Shapes},
    vtable::TaskVtable,
};
use crate::Host;

/// The function that runs a task, and the structure that is one, before their arguments: both have the same.
const POLL: &str = "tokio::runtime::task::raw::poll";
const CELL: &str = "Cell";
const SCOPE: [&str; 4] = ["tokio", "runtime", "task", "core"];
/// The way from a task to its future.
const WAY: [&str; 3] = ["core", "stage", "stage"];
/// The variant of `Stage` that has the future. Structures with one member lie between.
const RUNNING: &str = "Running";
const MAX_WRAPPERS: usize = 8;

/// What all tasks with one table have in common.
pub struct TaskKind {
    /// The type of their future.
    pub name: Option<Arc<str>>,
    /// What runs them.
    pub scheduler: Option<&'static str>,
    /// Why the future cannot be read, if so.
    pub why: Option<Arc<str>>,
    cell: Option<Type>,
}

/// The structures of tasks that units describe, by their names; each unit is read once. To find them by an index of
/// names would not do: futures have the same name in many functions, and tasks with them often the same size.
#[derive(Default)]
pub struct CellTypes {
    known: Mutex<FxHashMap<DieId, FxHashMap<Arc<str>, DieId>>>,
    /// The units that have any.
    units: OnceLock<Vec<DieId>>,
}

impl CellTypes {
    /// The structure of the tasks that a function with these arguments runs. The unit that has the function need not
    /// be the one that describes the structure.
    fn find(&self, info: &Arc<DebugInfo>, function: DieId, arguments: &str) -> Option<Type> {
        let name = format!("{CELL}<{arguments}>");
        let own = info.unit_of(function).and_then(|unit| self.in_unit(info, unit, &name));
        let id = own.or_else(|| {
            let others = self.units.get_or_init(|| units_with_cells(info));
            others.iter().find_map(|unit| self.in_unit(info, *unit, &name))
        });
        info.type_at(id?).ok()
    }

    fn in_unit(&self, info: &DebugInfo, unit: DieId, name: &str) -> Option<DieId> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let of_unit = known.entry(unit).or_insert_with(|| {
            let cells = info.structures_of(unit, &SCOPE).unwrap_or_default();
            cells.into_iter().collect()
        });
        of_unit.get(name).copied()
    }
}

/// The units that describe structures of tasks.
fn units_with_cells(info: &Arc<DebugInfo>) -> Vec<DieId> {
    let cells = info.find_types(&format!("{}::{CELL}", SCOPE.join("::")));
    let mut units: Vec<DieId> = cells.iter().filter_map(|ty| info.unit_of(ty.id()?)).collect();
    units.sort_unstable();
    units.dedup();
    units
}

impl TaskKind {
    /// That of a table.
    pub fn load(host: &dyn Host, vtable: TaskVtable, shapes: &Shapes, cells: &CellTypes) -> Self {
        let module = host.module_at(vtable.poll);
        let svma = module.and_then(|module| module.svma(vtable.poll));
        let function = module.zip(svma);
        let function = function.and_then(|(module, at)| module.symbols().described_function(at));
        let symbol = || host.function_at(CodeAddr::Pc(vtable.poll)).map(|name| name.to_string());
        let name = function.as_ref().map(|(.., name)| name.clone()).or_else(symbol);
        let arguments = name.and_then(|name| arguments(&name));
        let cell = function.as_ref().zip(arguments.as_ref());
        let cell = cell.and_then(|((info, id, _), arguments)| cells.find(info, *id, arguments));
        let cell = cell.filter(|ty| shapes.of(ty).is_some_and(|shape| has_size(&shape, vtable)));
        let (future, scheduler) = match arguments.as_deref().and_then(split) {
            Some((future, scheduler)) => (Some(future.into()), scheduler_of(scheduler)),
            None => (None, None),
        };
        let why = match (&cell, function) {
            (Some(_), _) => None,
            (None, Some(_)) => Some("debug information does not describe the type of its future"),
            (None, None) => Some("without debug information its future cannot be read"),
        };
        Self { name: future, scheduler, why: why.map(Arc::from), cell }
    }

    /// The future of a task.
    pub fn future(&self, host: &dyn Host, shapes: &Shapes, at: Addr) -> Option<Value> {
        let reader = FutureReader::new(host, shapes);
        let mut value = reader.value(at, self.cell.as_ref()?)?;
        for name in WAY {
            value = member(&reader, &value, name)?;
        }
        for _ in 0..MAX_WRAPPERS {
            let shape = value.shape.clone();
            if let Parts::Fields(_, Some(variants)) = &shape.parts {
                let fields = reader.fields(&value, &shape);
                let running = variants.all.iter().find(|variant| &*variant.name == RUNNING)?;
                let field = running.fields.first()?;
                let is_it = fields.iter().any(|it| it.offset == field.offset && it.ty == field.ty);
                return is_it.then(|| reader.field(&value, field))?;
            }
            let Parts::Fields(fields, None) = &shape.parts else { return None };
            value = reader.field(&value, fields.first()?)?;
        }
        None
    }
}

/// Whether a structure may be a task with this table: its last part lies within it.
fn has_size(shape: &Shape, vtable: TaskVtable) -> bool {
    shape.size > vtable.trailer && shape.size.saturating_sub(vtable.trailer) <= 512
}

fn member(reader: &FutureReader<'_>, value: &Value, name: &str) -> Option<Value> {
    let shape = value.shape.clone();
    let fields = reader.fields(value, &shape);
    let field = fields.into_iter().find(|field| &*field.name == name)?;
    reader.field(value, field)
}

/// The arguments of the function that runs a task.
fn arguments(name: &str) -> Option<String> {
    let rest = name.strip_prefix(POLL)?;
    let rest = rest.strip_prefix("::").unwrap_or(rest);
    Some(rest.strip_prefix('<')?.strip_suffix('>')?.to_owned())
}

/// The future and the scheduler, which a comma parts that lies in no brackets.
fn split(arguments: &str) -> Option<(&str, &str)> {
    let mut depth = 0_u32;
    let mut found = None;
    let mut last = ' ';
    for (at, c) in arguments.char_indices() {
        match c {
            '<' | '(' | '[' | '{' => depth = depth.checked_add(1)?,
            '>' if last == '-' => {}
            '>' | ')' | ']' | '}' => depth = depth.checked_sub(1)?,
            ',' if depth == 0 => found = Some(at),
            _ => {}
        }
        last = c;
    }
    let (future, scheduler) = arguments.split_at_checked(found?)?;
    Some((future, scheduler.trim_start_matches([',', ' '])))
}

fn scheduler_of(name: &str) -> Option<&'static str> {
    const KNOWN: [(&str, &str); 3] = [
        ("scheduler::multi_thread", "multi_thread"),
        ("scheduler::current_thread", "current_thread"),
        ("task::local::", "local"),
    ];
    KNOWN.iter().find(|(part, _)| name.contains(part)).map(|(_, word)| *word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_names_future_and_scheduler() {
        let name = "tokio::runtime::task::raw::poll<app::f::{async_fn_env#0}<(u8, fn(u8) -> u8)>, alloc::sync::Arc<tokio::runtime::scheduler::current_thread::Handle, alloc::alloc::Global>>";
        let arguments = arguments(name).expect("arguments");
        let (future, scheduler) = split(&arguments).expect("two");
        assert_eq!(future, "app::f::{async_fn_env#0}<(u8, fn(u8) -> u8)>");
        assert_eq!(scheduler_of(scheduler), Some("current_thread"));
    }

    #[test]
    fn other_names_name_nothing() {
        assert_eq!(arguments("tokio::runtime::task::raw::poll"), None);
        assert_eq!(arguments("app::poll<A, B>"), None);
        assert_eq!(split("A"), None);
        assert_eq!(split("A>, B"), None);
    }
}
