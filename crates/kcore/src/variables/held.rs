//! Which variables of a frame a register or a place in memory is.

use std::sync::Arc;

use kcore_mem::{Addr, AddressSpace, Svma};
use kcore_symbols::{DieId, Scopes, Type, Variable, VariableLocation};
use kcore_unwind::RegisterId;
use kcore_values::{
    Absent, Object, ObjectPlace, PieceSource,
    location::{self, Call, FrameContext},
};

use super::{context::FrameView, known_frames::KnownFrames};

/// What the one register holds that is asked about: no constant of a program looks like it.
const MARK: [u8; 8] = [0xa7, 0x1d, 0xc3, 0x5b, 0x0f, 0xe9, 0x72, 0x96];

/// A variable by its name.
#[derive(Clone, Debug)]
pub struct HeldVariable {
    /// Its name.
    pub name: Arc<str>,
    /// Its type.
    pub ty: Type,
    /// Where it begins; `None` of one in a register.
    pub at: Option<Addr>,
    /// What it has as a pointer where the frame stopped; `None` where that is not known any more.
    pub value: Option<Addr>,
    /// Of how many functions, from the one that the machine called, its own is inlined into the others: 0 for that one.
    pub depth: usize,
}

impl KnownFrames<'_> {
    /// What a register held in a physical frame; `None` if no callee saved it, and beyond the frames that are known.
    pub(crate) fn register(&self, frame: usize, register: RegisterId) -> Option<u64> {
        self.frames.get(frame)?.regs.get(register)
    }

    /// The variables that are in a register as a whole whenever the code of a frame is about to run an address, those of
    /// inlined functions first.
    pub(crate) fn variables_in_register(
        &self,
        frame: usize,
        code: Addr,
        register: RegisterId,
    ) -> Vec<HeldVariable> {
        let view = self.view(frame);
        let pc = view.module().and_then(|module| module.svma(code));
        let (Some(scopes), Some(pc)) = (self.core.scopes_at(code), pc) else { return Vec::new() };
        let marked = MarkedRegister { view, register, pc };
        let stopped = FrameView { asks_caller: true, ..view };
        let held = variables(&scopes).filter_map(|(depth, variable)| {
            let (name, ty) = (variable.name.clone()?, self.type_of(view, variable)?);
            let place = location::place_of(&variable.location, &ty, &marked).ok()?;
            is_mark(&place).then_some(())?;
            let value = self.pointer_in(stopped, variable.id, &ty);
            Some(HeldVariable { name, ty, at: None, value, depth })
        });
        held.collect()
    }

    /// What a variable has as a pointer where its frame stopped.
    fn pointer_in(&self, stopped: FrameView<'_>, id: DieId, ty: &Type) -> Option<Addr> {
        let (_, variable) = variables(stopped.scopes()?).find(|(_, it)| it.id == id)?;
        let place = location::place_of(&variable.location, ty, &stopped).ok()?;
        Object { ty: ty.clone(), place }.pointer(self.core).ok()
    }

    /// The variable of a frame whose memory contains an address. Its place is that at which the frame stopped.
    pub(crate) fn variable_round(&self, frame: usize, at: Addr) -> Option<HeldVariable> {
        let view = self.view(frame);
        let mut held = variables(view.scopes()?).filter_map(|(depth, variable)| {
            let (name, ty) = (variable.name.clone()?, self.type_of(view, variable)?);
            let place = location::place_of(&variable.location, &ty, &view).ok()?;
            let ObjectPlace::Memory(start) = place else { return None };
            let within = at.offset_from(start)?;
            let held = HeldVariable { name, at: Some(start), value: None, depth, ty };
            (within < held.ty.size()?).then_some(held)
        });
        held.next()
    }

    /// The first address of a frame's function, if it is certain that the call of the next frame led there, and that no
    /// other function was between.
    pub(crate) fn called_at(&self, frame: usize) -> Option<Addr> {
        let view = FrameView { asks_caller: true, ..self.view(frame) };
        let entry = view.module()?.addr(view.scopes()?.entry?)?;
        (view.calling().is_some() && view.tails().is_empty()).then_some(entry)
    }

    const fn view(&self, frame: usize) -> FrameView<'_> {
        FrameView { frames: self, index: frame, tail: None, asks_caller: false }
    }

    fn type_of(&self, view: FrameView<'_>, variable: &Variable) -> Option<Type> {
        view.module()?.symbols().debug_info()?.type_of(variable).ok()
    }
}

/// The variables of all functions, each with how deep its function is inlined.
fn variables(scopes: &Scopes) -> impl Iterator<Item = (usize, &Variable)> {
    let count = scopes.functions.len();
    scopes.functions.iter().enumerate().flat_map(move |(index, function)| {
        let depth = count.saturating_sub(index).saturating_sub(1);
        function.variables.iter().map(move |variable| (depth, variable))
    })
}

fn is_mark(place: &ObjectPlace) -> bool {
    let ObjectPlace::Pieces { pieces, .. } = place else { return false };
    let [piece] = &**pieces else { return false };
    matches!(&piece.source, PieceSource::Bytes(bytes) if **bytes == MARK)
}

/// A frame at some address of its code, of which one register is known and nothing else.
struct MarkedRegister<'s> {
    view: FrameView<'s>,
    register: RegisterId,
    pc: Svma,
}

impl FrameContext for MarkedRegister<'_> {
    fn space(&self) -> &dyn AddressSpace {
        self.view.space()
    }

    fn register(&self, number: u16) -> Option<Arc<[u8]>> {
        (number == self.register.0).then(|| MARK.into())
    }

    fn cfa(&self) -> Option<Addr> {
        None
    }

    fn frame_base(&self) -> Option<&VariableLocation> {
        None
    }

    fn pc(&self) -> Option<Svma> {
        Some(self.pc)
    }

    fn relocated(&self, at: Svma) -> Option<Addr> {
        self.view.relocated(at)
    }

    fn thread_local(&self, _: u64) -> Result<Addr, Absent> {
        Err(Absent::Unreadable("a register is asked about".to_owned()))
    }

    fn call(&self) -> Option<Call<'_>> {
        None
    }
}
