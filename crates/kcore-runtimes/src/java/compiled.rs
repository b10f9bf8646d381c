//! Compiled methods: which methods run at a place of their code (`src/hotspot/share/code/{nmethod,compiledMethod,pcDesc,
//! scopeDesc,debugInfoRec}`, JDK 11 to 25).
//!
//! A compiler describes the places where a thread may be stopped or looked at: the end of each call, and instructions that
//! may fault. Each description leads to a chain of scopes, innermost first: a method and where it is in its bytecodes.

use kcore_mem::{Addr, CodeAddr};

use super::{
    blobs::Blob,
    memory::Memory,
    scope_values::{ReplacedObject, ScopeValue, ValueCoding, ValueReader},
    stream::{Coding, Stream},
    vm_structs::VmStructs,
};

/// Scopes inside of each other, at most: compilers stop sooner.
const MAX_SCOPES: usize = 256;
/// Described places of one method, at most.
const MAX_DESCRIPTIONS: u64 = 1 << 20;
/// Bytes of what describes one method, at most.
const MAX_DATA: u64 = 64 << 20;
/// What is no index of bytecodes is written as zero, and an index as one more.
const NO_INDEX: u32 = 1;
/// The first version whose compilers keep the fields of objects apart that may be one of several.
const MERGES: u8 = 22;
/// Versions between these were not seen to number fields by either order.
const BY_PLACE_TO: u8 = 21;
const DECLARED_SINCE: u8 = 25;
/// `Location::narrowoop` since JDK 16.
const NARROW_REFERENCE: u64 = 9;

/// Where the parts of compiled methods lie.
#[derive(Clone, Debug)]
pub struct CompiledLayout {
    method: u64,
    level: u64,
    original_pc: u64,
    handlers: Vec<Handler>,
    parts: Parts,
    description: Description,
    constants: Option<Constants>,
    coding: Coding,
    values: ValueCoding,
    /// In which order compilers number the fields of objects.
    pub field_order: FieldOrder,
}

/// Where the objects lie that compiled code names: so far behind the beginning of the piece, by a field.
#[derive(Clone, Copy, Debug)]
struct Constants(u64);

/// Where a frame goes on whose method is no longer valid.
#[derive(Clone, Copy, Debug)]
enum Handler {
    /// At an address.
    Address(u64),
    /// So far behind the beginning of the piece, by a field.
    Offset(u64),
}

/// Where descriptions, scopes and methods lie.
#[derive(Clone, Copy, Debug)]
enum Parts {
    /// In the piece itself, to JDK 22.
    Inside { descriptions: u64, end: u64, scopes: u64, methods: u64 },
    /// In data of its own since JDK 23.
    Apart { data: u64, descriptions: u64, scopes: u64, methods: Methods },
}

/// Where the methods of scopes lie since JDK 23.
#[derive(Clone, Copy, Debug)]
enum Methods {
    /// In the piece, to JDK 24: behind its data by a field of 16 bits.
    Inside { data: u64, offset: u64 },
    /// In data of its own, behind what is relocated.
    Apart { data: u64, relocated: u64 },
}

/// The order in which compilers number the fields of objects (`ciInstanceKlass::compute_nonstatic_fields` of
/// `src/hotspot/share/ci/ciInstanceKlass.cpp`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldOrder {
    /// As they lie in an object: JDK 11 to 21.
    ByPlace,
    /// As class files declare them, those of the class that is extended first: JDK 25.
    Declared,
    /// One of these.
    Either,
}

impl FieldOrder {
    const fn of(major: u8) -> Self {
        match major {
            0..=BY_PLACE_TO => Self::ByPlace,
            DECLARED_SINCE.. => Self::Declared,
            _ => Self::Either,
        }
    }
}

/// Where the fields of a `PcDesc` lie.
#[derive(Clone, Copy, Debug)]
struct Description {
    pc: u64,
    scope: u64,
    objects: Option<u64>,
    size: u64,
}

/// A method that runs at a place of compiled code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Its `Method`.
    pub method: Addr,
    /// Where it is in its bytecodes, if it is in any.
    pub index: Option<u32>,
    /// Which of the numbers of what describes the piece tells its locals; 0 of none.
    locals: u32,
}

/// The methods that run at a place, innermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scopes {
    /// They.
    pub chain: Vec<Scope>,
    /// Whether the place itself is described, and not another one nearby.
    pub exact: bool,
}

/// What describes the locals of a method that runs at a place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScopeLocals {
    /// Where each local is, by its slot.
    pub values: Vec<ScopeValue>,
    /// The objects that are nowhere as a whole.
    pub objects: Vec<ReplacedObject>,
}

/// The addresses of the parts of one method.
struct DebugData {
    descriptions: Addr,
    count: u64,
    scopes: Addr,
    methods: Addr,
}

impl CompiledLayout {
    /// The layout that the tables of a virtual machine describe.
    ///
    /// # Errors
    /// In words, where they lack something.
    pub fn of(tables: &VmStructs, coding: Coding, major: u8) -> Result<Self, String> {
        let address =
            ["CompiledMethod._deopt_handler_begin", "CompiledMethod._deopt_mh_handler_begin"];
        let address = address.into_iter().filter_map(|field| tables.offset(field));
        let offset = ["nmethod._deopt_handler_offset", "nmethod._deopt_mh_handler_offset"];
        let offset = offset.into_iter().filter_map(|field| tables.offset(field));
        let narrow_reference = tables.constant("Location::narrowoop").unwrap_or(NARROW_REFERENCE);
        Ok(Self {
            method: tables.need_one(&["nmethod._method", "CompiledMethod._method"])?,
            level: tables.need("nmethod._comp_level")?,
            original_pc: tables.need("nmethod._orig_pc_offset")?,
            handlers: address.map(Handler::Address).chain(offset.map(Handler::Offset)).collect(),
            parts: Parts::of(tables)?,
            description: Description {
                pc: tables.need("PcDesc._pc_offset")?,
                scope: tables.need("PcDesc._scope_decode_offset")?,
                objects: tables.offset("PcDesc._obj_decode_offset"),
                size: tables.need_size("PcDesc")?,
            },
            constants: Constants::of(tables),
            field_order: FieldOrder::of(major),
            coding,
            values: ValueCoding {
                has_merges: major >= MERGES,
                narrow_reference: u32::try_from(narrow_reference).unwrap_or_default(),
            },
        })
    }

    /// The method that a piece was compiled from.
    pub fn method(&self, memory: Memory<'_>, blob: &Blob) -> Option<Addr> {
        memory.pointer(blob.span.start, self.method)
    }

    /// Which compiler made a piece, by its level; `None` where none did: it is how Java calls a native method.
    pub fn compiler(&self, memory: Memory<'_>, blob: &Blob) -> Option<&'static str> {
        // One byte since JDK 21, and the lowest of four before.
        match memory.uint(blob.span.start, self.level, 1)? {
            1..=3 => Some("C1"),
            4 => Some("C2"),
            _ => None,
        }
    }

    /// Where a frame really is whose method is no longer valid: it was made to return elsewhere.
    pub fn original_pc(&self, memory: Memory<'_>, blob: &Blob, pc: Addr, sp: Addr) -> Option<Addr> {
        let piece = blob.span.start;
        let is_it = |handler: &Handler| match *handler {
            Handler::Address(field) => memory.pointer(piece, field) == Some(pc),
            Handler::Offset(field) => {
                let by = memory.int(piece, field).and_then(|by| u64::try_from(by).ok());
                by.and_then(|by| piece.checked_add(by)) == Some(pc)
            }
        };
        self.handlers.iter().any(is_it).then_some(())?;
        let saved = memory.uint(piece, self.original_pc, 4)?;
        memory.pointer(sp, saved).filter(|pc| blob.span.contains(*pc))
    }

    /// What runs at a place of a piece of code.
    pub fn scopes_at(&self, memory: Memory<'_>, blob: &Blob, pc: CodeAddr) -> Scopes {
        let described = || {
            let data = self.parts.of_blob(memory, blob, self.description.size)?;
            let (description, exact) = self.description_at(memory, &data, blob, pc)?;
            let scope = self.decode_offset(memory, description, self.description.scope)?;
            Some(Scopes { chain: self.chain(memory, blob, &data, scope), exact })
        };
        described().unwrap_or_default()
    }

    /// Where the locals of a scope are at a place that is described itself.
    pub fn locals_at(
        &self,
        memory: Memory<'_>,
        blob: &Blob,
        pc: CodeAddr,
        scope: &Scope,
    ) -> Option<ScopeLocals> {
        let data = self.parts.of_blob(memory, blob, self.description.size)?;
        let (description, _) =
            self.description_at(memory, &data, blob, pc).filter(|(_, exact)| *exact)?;
        let stream = |offset: u32| {
            let at = data.scopes.checked_add(offset.into())?;
            Some(Stream::new(memory.0, at, self.coding))
        };
        let mut reader = ValueReader::new(self.values);
        let objects = self.description.objects;
        let objects = objects.and_then(|field| self.decode_offset(memory, description, field));
        if let Some(offset) = objects {
            reader.read_objects(&mut stream(offset)?)?;
        }
        if scope.locals == 0 {
            return Some(ScopeLocals::default());
        }
        let values = reader.values(&mut stream(scope.locals)?)?;
        Some(ScopeLocals { values, objects: reader.objects })
    }

    /// Where the object lies that compiled code names by a number; `None` of null.
    pub fn constant(&self, memory: Memory<'_>, blob: &Blob, number: u32) -> Option<Addr> {
        let Constants(field) = self.constants?;
        let by = memory.uint(blob.span.start, field, 4).filter(|by| *by <= MAX_DATA)?;
        let first = blob.span.start.checked_add(by)?;
        first.checked_add(u64::from(number.checked_sub(1)?).checked_mul(8)?)
    }

    /// What a description says of a place in what describes the piece, if it does.
    fn decode_offset(&self, memory: Memory<'_>, description: Addr, field: u64) -> Option<u32> {
        let offset = memory.int(description, field)?;
        u32::try_from(offset).ok().filter(|offset| *offset > 0)
    }

    /// The description of a place, and whether it is of the very place.
    fn description_at(
        &self,
        memory: Memory<'_>,
        data: &DebugData,
        blob: &Blob,
        pc: CodeAddr,
    ) -> Option<(Addr, bool)> {
        let wanted = i64::try_from(pc.addr().offset_from(blob.code)?).ok()?;
        let description =
            |index: u64| data.descriptions.checked_add(index.checked_mul(self.description.size)?);
        let pc_of = |index: u64| memory.int(description(index)?, self.description.pc);
        // The first that is not before the place: as the virtual machine itself looks for it.
        let (mut low, mut high) = (0, data.count);
        while low < high {
            let middle = low.midpoint(high);
            match i64::from(pc_of(middle)?) < wanted {
                true => low = middle.checked_add(1)?,
                false => high = middle,
            }
        }
        (low < data.count).then_some(())?;
        let exact = i64::from(pc_of(low)?) == wanted;
        (exact || !pc.is_return()).then_some(())?;
        Some((description(low)?, exact))
    }

    /// The scopes from one outwards. A scope names one that was written before it, or none.
    fn chain(&self, memory: Memory<'_>, blob: &Blob, data: &DebugData, first: u32) -> Vec<Scope> {
        let mut chain = Vec::new();
        let mut next = first;
        while next > 0 && chain.len() < MAX_SCOPES {
            let Some((scope, sender)) = self.scope(memory, blob, data, next) else { break };
            chain.push(scope);
            if sender >= next {
                break;
            }
            next = sender;
        }
        chain
    }

    /// The scope of a number, and the number of the one that called it.
    fn scope(
        &self,
        memory: Memory<'_>,
        blob: &Blob,
        data: &DebugData,
        at: u32,
    ) -> Option<(Scope, u32)> {
        let at = data.scopes.checked_add(at.into())?;
        let mut stream = Stream::new(memory.0, at, self.coding);
        let (sender, method, index) = (stream.unsigned()?, stream.unsigned()?, stream.unsigned()?);
        let locals = stream.unsigned()?;
        let method = match method.checked_sub(1) {
            None => self.method(memory, blob)?,
            Some(number) => memory.pointer(data.methods, u64::from(number).checked_mul(8)?)?,
        };
        Some((Scope { method, index: index.checked_sub(NO_INDEX), locals }, sender))
    }
}

impl Constants {
    /// To JDK 22 a field of its own; since then they begin the data of a piece.
    fn of(tables: &VmStructs) -> Option<Self> {
        let fields = ["nmethod._oops_offset", "CodeBlob._data_offset"];
        fields.into_iter().find_map(|field| tables.offset(field)).map(Self)
    }
}

impl Parts {
    fn of(tables: &VmStructs) -> Result<Self, String> {
        let descriptions = tables.need("nmethod._scopes_pcs_offset")?;
        if let Some(data) = tables.offset("nmethod._immutable_data") {
            let scopes = tables.need("nmethod._scopes_data_offset")?;
            return Ok(Self::Apart { data, descriptions, scopes, methods: Methods::of(tables)? });
        }
        Ok(Self::Inside {
            descriptions,
            end: tables.need("nmethod._dependencies_offset")?,
            scopes: tables
                .need_one(&["CompiledMethod._scopes_data_begin", "nmethod._scopes_data_begin"])?,
            methods: tables.need("nmethod._metadata_offset")?,
        })
    }

    /// The parts of a piece, whose descriptions have so many bytes each.
    fn of_blob(self, memory: Memory<'_>, blob: &Blob, size: u64) -> Option<DebugData> {
        let piece = blob.span.start;
        let offset = |field| memory.uint(piece, field, 4).filter(|offset| *offset <= MAX_DATA);
        let (base, first, end, scopes, methods) = match self {
            Self::Inside { descriptions, end, scopes, methods } => (
                piece,
                offset(descriptions)?,
                offset(end)?,
                memory.pointer(piece, scopes)?,
                piece.checked_add(offset(methods)?)?,
            ),
            Self::Apart { data, descriptions, scopes, methods } => {
                let data = memory.pointer(piece, data)?;
                let end = offset(scopes)?;
                let methods = methods.of_piece(memory, piece)?;
                (data, offset(descriptions)?, end, data.checked_add(end)?, methods)
            }
        };
        let count = end.checked_sub(first)?.checked_div(size)?.min(MAX_DESCRIPTIONS);
        Some(DebugData { descriptions: base.checked_add(first)?, count, scopes, methods })
    }
}

impl Methods {
    fn of(tables: &VmStructs) -> Result<Self, String> {
        if let Some(data) = tables.offset("CodeBlob._mutable_data") {
            return Ok(Self::Apart { data, relocated: tables.need("CodeBlob._relocation_size")? });
        }
        let offset = tables.need("nmethod._metadata_offset")?;
        Ok(Self::Inside { data: tables.need("CodeBlob._data_offset")?, offset })
    }

    fn of_piece(self, memory: Memory<'_>, piece: Addr) -> Option<Addr> {
        match self {
            Self::Inside { data, offset } => {
                let data = piece.checked_add(memory.uint(piece, data, 4)?)?;
                data.checked_add(memory.uint(piece, offset, 2)?)
            }
            Self::Apart { data, relocated } => {
                let relocated =
                    memory.uint(piece, relocated, 4).filter(|size| *size <= MAX_DATA)?;
                memory.pointer(piece, data)?.checked_add(relocated)
            }
        }
    }
}
