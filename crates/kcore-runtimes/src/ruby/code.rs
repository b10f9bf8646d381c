//! Code of Ruby, and what it is called: `iseq.h`, `vm_core.h`, `vm_backtrace.c`.

use std::sync::Arc;

use kcore_mem::Addr;

use super::{
    heap::{ARRAY, Heap, IMEMO, Object, STRING, USER},
    version::Version,
};

/// `imemo_ment`, `imemo_iseq`, `imemo_svar`: `internal/imemo.h`.
pub const METHOD_ENTRY: u64 = 6;
const CODE: u64 = 7;
const SPECIAL: u64 = 2;
/// Of an imemo, the bits of its kind.
const KIND_MASK: u64 = 15;
/// `body` of `rb_iseq_t`.
const BODY: u64 = 16;
/// `iseq_size` and `iseq_encoded` of it, `location` with `pathobj`, `base_label` and `label`.
const SIZE: u64 = 4;
const ENCODED: u64 = 8;
const PATH: u64 = 64;
const BASE_LABEL: u64 = 72;
const LABEL: u64 = 80;
/// No function has more instructions.
const MAX_SIZE: u64 = 1 << 28;
/// Code inside of code, at most.
const MAX_PARENTS: usize = 1 << 12;

/// The kinds of code that matter: `enum rb_iseq_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeKind {
    /// Of a method.
    Method,
    /// Of a handler of exceptions, which has the exception as its first variable.
    Rescue,
    /// Of what runs at the end of a part, with or without an exception.
    Ensure,
    /// Of a block.
    Block,
    /// Of what `eval` was given.
    Evaluated,
    /// Any other.
    Other,
}

/// The code of a method, a block, a class or a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// `rb_iseq_t`.
    pub at: Addr,
    /// `struct rb_iseq_constant_body`.
    pub body: Addr,
    /// What kind it is.
    pub kind: CodeKind,
    /// Its name: `block in run`.
    pub label: Arc<str>,
    /// The name of the method without `block in`.
    pub base_label: Arc<str>,
    /// Whether it is of a method, or inside of one.
    pub is_of_method: bool,
    /// Its file.
    pub file: Arc<str>,
    /// The line where it begins.
    pub first_line: Option<u32>,
}

impl Code {
    /// Its name with the class of the method: `block in Account#run`.
    pub fn qualified(&self, heap: &Heap<'_>, owner: Option<Addr>) -> Arc<str> {
        let Some(owner) = owner.filter(|_| self.is_of_method) else { return self.label.clone() };
        match self.label.strip_suffix(&*self.base_label) {
            Some(before) => format!("{before}{}", heap.method_name(owner, &self.base_label)).into(),
            None => self.label.clone(),
        }
    }
}

impl Heap<'_> {
    /// Of an object that the VM made for itself, its kind.
    pub fn imemo_kind(&self, object: Object) -> Option<u64> {
        (object.kind() == IMEMO).then_some(object.flags >> USER & KIND_MASK)
    }

    /// The code at an address, if it is code.
    pub fn code(&self, at: Addr) -> Option<Code> {
        let body = self.body(at)?;
        let kind = self.code_kind(body)?;
        let method = self.outermost(body).and_then(|body| self.code_kind(body));
        let (label, base_label) = match self.layout.version >= Version::new(3, 4) {
            true => self.computed_label(body)?,
            false => {
                (self.text(self.word(body, LABEL)?)?, self.text(self.word(body, BASE_LABEL)?)?)
            }
        };
        Some(Code {
            at,
            body,
            kind,
            label: label.into(),
            base_label: base_label.into(),
            is_of_method: method == Some(CodeKind::Method),
            file: self.path(self.word(body, PATH)?)?.into(),
            first_line: self.first_line(body),
        })
    }

    /// The body of the code at an address, if it is code.
    pub fn body(&self, at: Addr) -> Option<Addr> {
        let object = self.object(at.get())?;
        (self.imemo_kind(object)? == CODE).then_some(())?;
        let body = self.pointer(at, BODY)?;
        let size = self.uint(body, SIZE, 4)?;
        (self.pointer(body, ENCODED).is_some() && size <= MAX_SIZE).then_some(body)
    }

    /// The body of the code around a body, in which its variables are seen.
    pub fn parent(&self, body: Addr) -> Option<Addr> {
        self.body(self.pointer(body, self.layout.body.parent)?)
    }

    /// The body of the method, class or file that code is in: `local_iseq`.
    fn outermost(&self, body: Addr) -> Option<Addr> {
        self.body(self.pointer(body, self.layout.body.parent.checked_add(8)?)?)
    }

    /// The name of code and that of its method, as `calculate_iseq_label` of 3.4 has them: what handles exceptions, and
    /// what `eval` was given, is called like the code around it.
    fn computed_label(&self, body: Addr) -> Option<(String, String)> {
        let (mut body, mut before) = (body, String::new());
        for _ in 0..MAX_PARENTS {
            match self.code_kind(body)? {
                CodeKind::Rescue | CodeKind::Ensure | CodeKind::Evaluated => {
                    body = self.parent(body)?;
                }
                CodeKind::Block => {
                    let outermost = self.outermost(body)?;
                    let levels = self.levels(body, outermost)?;
                    before.push_str(&match levels {
                        0 | 1 => "block in ".to_owned(),
                        levels => format!("block ({levels} levels) in "),
                    });
                    body = outermost;
                }
                CodeKind::Method | CodeKind::Other => {
                    let own = self.text(self.word(body, LABEL)?)?;
                    return Some((before + &own, own));
                }
            }
        }
        None
    }

    /// How many blocks lie between code and the outermost code around it.
    fn levels(&self, body: Addr, outermost: Addr) -> Option<usize> {
        let all = std::iter::successors(Some(body), |body| self.parent(*body));
        let inside = all.take(MAX_PARENTS).take_while(|body| *body != outermost);
        Some(inside.filter(|body| self.code_kind(*body) == Some(CodeKind::Block)).count())
    }

    fn code_kind(&self, body: Addr) -> Option<CodeKind> {
        match self.uint(body, 0, 4)? {
            1 => Some(CodeKind::Method),
            2 => Some(CodeKind::Block),
            6 => Some(CodeKind::Evaluated),
            4 => Some(CodeKind::Rescue),
            5 => Some(CodeKind::Ensure),
            0..=8 => Some(CodeKind::Other),
            _ => None,
        }
    }

    /// A path, or the first of a pair of paths.
    fn path(&self, value: u64) -> Option<String> {
        let object = self.object(value)?;
        match object.kind() {
            STRING => self.text(value),
            ARRAY => self.text(self.word(self.elements(object)?.0, 0)?),
            _ => None,
        }
    }

    /// The method entry of an environment: of itself, or of one around it.
    pub fn method_entry(&self, environment: Addr) -> Option<Addr> {
        /// `VM_ENV_FLAG_LOCAL`.
        const LOCAL: u64 = 2;
        let mut at = environment;
        for _ in 0..MAX_PARENTS {
            let is_outermost = self.word(at, 0)? & LOCAL != 0;
            let own = self.word(Addr::new(at.get().wrapping_sub(16)), 0)?;
            if let Some(entry) = self.entry_of(own, is_outermost) {
                return Some(entry);
            }
            (!is_outermost).then_some(())?;
            at = self.outer(at)?;
        }
        None
    }

    /// The environment around one.
    pub fn outer(&self, environment: Addr) -> Option<Addr> {
        let word = self.word(Addr::new(environment.get().wrapping_sub(8)), 0)?;
        super::heap::pointer(word & !3)
    }

    fn entry_of(&self, value: u64, may_be_special: bool) -> Option<Addr> {
        let object = self.object(value)?;
        match self.imemo_kind(object)? {
            METHOD_ENTRY => Some(object.at),
            SPECIAL if may_be_special => self.entry_of(self.word(object.at, 8)?, false),
            _ => None,
        }
    }

    /// The class that owns the method of an entry.
    pub fn owner(&self, entry: Addr) -> Option<Addr> {
        self.pointer(entry, 32)
    }

    /// The name under which the method of an entry was defined.
    pub fn method(&self, entry: Addr) -> Option<String> {
        let definition = self.pointer(entry, 16)?;
        self.identifier(self.word(definition, 32)?)
    }
}
