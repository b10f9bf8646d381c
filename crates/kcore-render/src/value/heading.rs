//! What stands before a value on its line: address, type, name.

use kcore_dcmd::TypeNames;
use kcore_symbols::Type;
use kcore_values::Value;

use super::Writer;
use crate::sanitize;

/// What stands for a name where there is none.
pub(super) const NAMELESS: &str = "(anon)";

/// The name of a value, with the path that leads to it.
#[derive(Clone, Copy)]
pub(super) struct Heading<'n> {
    /// The path of what it is a member of, where that is shown.
    pub(super) prefix: &'n str,
    /// What stands between the path and the name.
    pub(super) joint: &'n str,
    /// Its own name.
    pub(super) name: &'n str,
    /// Whether it is the value that was asked for, and no part of one.
    pub(super) is_alone: bool,
}

impl Heading<'_> {
    /// An element of an array, which has no name.
    pub(super) const ELEMENT: Self = Self { prefix: "", joint: "", name: "", is_alone: false };

    pub(super) const fn is_named(&self) -> bool {
        !self.name.is_empty()
    }
}

impl Writer<'_, '_> {
    /// Writes it; answers whether there was anything to write. No blank follows.
    pub(super) fn heading(&mut self, value: &Value, heading: Heading<'_>) -> bool {
        let start = self.out.len();
        if self.style.addresses {
            self.address(value);
        }
        if self.style.types != TypeNames::Hidden && !is_own_name(value, heading.name) {
            self.push(if self.out.len() > start { " " } else { "" });
            self.types(value, heading.name);
        }
        if heading.is_named() {
            // The asterisk of a pointer stands at the name.
            let touches =
                self.out.len() == start || self.out.ends_with("*") || self.out.ends_with("&");
            self.push(if touches { "" } else { " " });
            for part in [heading.prefix, heading.joint, heading.name] {
                self.push(&sanitize::line(part));
            }
        }
        if self.style.types != TypeNames::Hidden
            && let Some(bits) = bits(value)
        {
            self.push(&format!(" :{bits}"));
        }
        self.out.len() > start
    }

    /// In hexadecimal without prefix; `addr.bit` for a bit-field that begins within a byte.
    fn address(&mut self, value: &Value) {
        let Some(at) = value.at else { return self.push("?") };
        let bits = value.bits.map_or(0, |bits| bits.offset);
        let at = at.get().wrapping_add(bits / 8);
        self.push(&match bits % 8 {
            0 => format!("{at:x}"),
            bit => format!("{at:x}.{bit:x}"),
        });
    }

    fn types(&mut self, value: &Value, name: &str) {
        let spelled = value.ty.spelled();
        // What has neither a name nor one for its type says so once.
        let own = spelled.strip_suffix(NAMELESS).filter(|_| name == NAMELESS);
        self.push(&sanitize::line(own.map_or(&spelled, str::trim_end)));
        let base = (self.style.types == TypeNames::WithBase).then(|| base(&value.ty)).flatten();
        if let Some(base) = base.filter(|base| *base != spelled) {
            self.push(&format!(" <<{}>>", sanitize::line(&base)));
        }
    }
}

/// Whether a name is the type's, as a base class has it: `<demo::Base>`.
fn is_own_name(value: &Value, name: &str) -> bool {
    let inner = name.strip_prefix('<').and_then(|name| name.strip_suffix('>'));
    inner.is_some_and(|inner| inner == value.ty.spelled())
}

/// The type behind typedefs and qualifiers, if it has a name.
fn base(ty: &Type) -> Option<String> {
    let base = ty.stripped().ok()?;
    let is_named = base.name().is_some() || base.composite().is_none();
    is_named.then(|| base.spelled())
}

/// How many bits a bit-field has, if it is not as wide as its type.
fn bits(value: &Value) -> Option<u64> {
    let bits = value.bits?;
    let whole = value.ty.size().and_then(|size| size.checked_mul(8));
    (bits.offset % 8 != 0 || Some(bits.size) != whole).then_some(bits.size)
}
