//! The variables of a frame.

use std::sync::Arc;

use kcore_mem::{Addr, CodeAddr};
use kcore_symbols::{DebugInfo, FunctionScope, Language, Type, Variable, VariableKind};
use kcore_values::{Absent, Object, ObjectPlace, location};

use super::{
    array_bounds::{self, Teller},
    context::FrameView,
    go,
    known_frames::KnownFrames,
};
use crate::NamedFrame;

/// A variable of a frame.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FrameVariable {
    /// Its name; `None` of an argument that has none.
    pub name: Option<Arc<str>>,
    /// Whether it is an argument.
    pub kind: VariableKind,
    /// Whether the compiler made it: `this`.
    pub is_artificial: bool,
    /// The line of its declaration.
    pub line: Option<u32>,
    /// Its type; `None` if that cannot be read.
    pub ty: Option<Type>,
    /// What it is and where it lies, or why it is nowhere.
    pub object: Result<Object, Absent>,
}

impl KnownFrames<'_> {
    /// The variables of a frame, arguments first, then locals, those of inner blocks before those of
    /// outer ones. `None` where no debug information tells of them, or the frame lies beyond those whose
    /// registers are known.
    pub fn variables(&self, frame: &NamedFrame) -> Option<Vec<FrameVariable>> {
        self.variables_that(frame, |_, _| true)
    }

    /// The arguments alone, in order.
    pub fn arguments(&self, frame: &NamedFrame) -> Option<Vec<FrameVariable>> {
        self.variables_that(frame, |variable, _| variable.kind == VariableKind::Argument)
    }

    /// The variable that a name means in a frame: a local of the innermost block that has one, else an
    /// argument, else a variable of the function around that of the frame. `None` as of [`KnownFrames::variables`],
    /// and where there is no such variable.
    pub fn variable(&self, frame: &NamedFrame, name: &str) -> Option<FrameVariable> {
        let found = self.variables_that(frame, |variable, language| {
            is_same_name(go::source_name(variable), name, language)
        })?;
        meant(found).or_else(|| self.variable_of_host(frame, name))
    }

    /// A variable of the functions that the function of a frame stands in, the nearest one first.
    fn variable_of_host(&self, frame: &NamedFrame, name: &str) -> Option<FrameVariable> {
        // What is inlined has no link of its own.
        let is_whole = frame.location.depth() == 0;
        let inner = is_whole.then(|| FrameView::new(self, frame))?;
        let mut hosts = std::iter::successors(inner.host(), FrameView::host).take(MAX_HOSTS);
        hosts.find_map(|host| {
            let function = host.scopes()?.functions.last()?;
            let info = host.module()?.symbols().debug_info()?;
            let language = info.language_of(function.id);
            let is_meant =
                |variable: &&Variable| is_same_name(variable.name.as_deref(), name, language);
            let found = function.variables.iter().filter(is_meant);
            meant(found.map(|variable| of_variable(info, variable, &host).1).collect())
        })
    }

    fn variables_that(
        &self,
        frame: &NamedFrame,
        wanted: impl Fn(&Variable, Option<Language>) -> bool,
    ) -> Option<Vec<FrameVariable>> {
        let view = FrameView::new(self, frame);
        let function = function(&view, frame)?;
        let info = view.module()?.symbols().debug_info()?;
        let language = info.language_of(function.id);
        let variables = function.variables.iter().filter(|variable| wanted(variable, language));
        // What has no name is nothing that a user could ask for.
        let named = variables.filter(|it| it.name.is_some() || it.kind == VariableKind::Argument);
        let found = named.map(|variable| of_variable(info, variable, &view));
        Some(match language == Some(Language::Go) {
            true => go::as_in_source(self.core, lines(&view, frame), found),
            false => found.map(|(_, variable)| variable).collect(),
        })
    }
}

/// Functions within one another whose variables are seen from the innermost, at most.
const MAX_HOSTS: usize = 16;

/// Of variables of one name the first local, else the argument.
fn meant(found: Vec<FrameVariable>) -> Option<FrameVariable> {
    let is_local = |found: &FrameVariable| found.kind == VariableKind::Local;
    let local = found.iter().position(is_local).unwrap_or(0);
    found.into_iter().nth(local)
}

/// Whether a variable has a name: in Fortran capital letters are the same as small ones.
fn is_same_name(own: Option<&str>, name: &str, language: Option<Language>) -> bool {
    match own {
        Some(own) if language == Some(Language::Fortran) => own.eq_ignore_ascii_case(name),
        own => own == Some(name),
    }
}

/// The place of a variable, unless it is an optional argument of Fortran that the caller left out.
fn present(
    info: &Arc<DebugInfo>,
    variable: &Variable,
    place: ObjectPlace,
) -> Result<ObjectPlace, Absent> {
    let is_nowhere = variable.kind == VariableKind::Argument
        && place.address() == Some(Addr::new(0))
        && info.language_of(variable.id) == Some(Language::Fortran);
    if is_nowhere { Err(Absent::NotPresent) } else { Ok(place) }
}

/// The function of a named frame, by how many others hold it.
fn function<'s>(view: &FrameView<'s>, frame: &NamedFrame) -> Option<&'s FunctionScope> {
    if !frame.location.kind.is_machine_code() {
        return None;
    }
    let functions = &view.scopes()?.functions;
    let from_outermost = frame.location.depth().checked_add(1)?;
    functions.get(functions.len().checked_sub(from_outermost)?)
}

/// The lines of the function of a named frame. Where one begins that is inlined is not known.
fn lines<'s>(
    view: &FrameView<'s>,
    frame: &NamedFrame,
) -> go::FunctionLines<impl Fn() -> Option<u32> + use<'s>> {
    let (view, is_outermost) = (*view, frame.location.depth() == 0);
    let first = move || {
        let entry = view.scopes()?.entry.filter(|_| is_outermost)?;
        let at = CodeAddr::Pc(view.module()?.addr(entry)?);
        view.frames.core.symbols().locations(at).last()?.line
    };
    go::FunctionLines { current: frame.location.line, first }
}

fn of_variable<'v>(
    info: &Arc<DebugInfo>,
    variable: &'v Variable,
    view: &FrameView<'_>,
) -> (&'v Variable, FrameVariable) {
    let teller = Teller { core: view.frames.core, info, context: view };
    let ty = info.type_of(variable).map(|ty| array_bounds::known(teller, &ty));
    let ty = ty.map_err(|error| Absent::Unreadable(error.to_string()));
    let object = match &ty {
        Ok(ty) => location::place_of(&variable.location, ty, view)
            .and_then(|place| present(info, variable, place))
            .map(|place| Object { ty: ty.clone(), place }),
        Err(why) => Err(why.clone()),
    };
    let found = FrameVariable {
        name: variable.name.clone(),
        kind: variable.kind,
        is_artificial: variable.is_artificial,
        line: variable.line,
        ty: ty.ok(),
        object,
    };
    (variable, found)
}
