//! Pointers to members, as the C++ ABI of Itanium lays them out (2.3 there).

use kcore_mem::{Addr, Arch};
use kcore_symbols::{MemberPlace, MemberPointerType, Type, TypeKind};

use super::Evaluator;
use crate::{Content, Number, Object, ObjectError, object::complete};

impl Evaluator<'_> {
    /// A pointer to a member; `ty` is its type behind aliases.
    pub(super) fn member_pointer(
        &self,
        object: &Object,
        ty: &Type,
        pointer: &MemberPointerType,
    ) -> Result<Content, ObjectError> {
        let member = complete(&ty.follow(&pointer.to)?, self.process)?;
        let class = complete(&ty.follow(&pointer.class)?, self.process)?;
        match member.kind() {
            TypeKind::Function(_) => self.pointer_to_function(object),
            _ => self.pointer_to_data(object, &class),
        }
    }

    /// Bytes from the beginning of the object; -1 for none.
    fn pointer_to_data(&self, object: &Object, class: &Type) -> Result<Content, ObjectError> {
        let number = self.word_at(object, 0)?;
        let Some(offset) = number.value().and_then(|offset| u64::try_from(offset).ok()) else {
            return Ok(Content::Other("nullptr".to_owned()));
        };
        let member = class.composite().and_then(|composite| {
            composite.members.iter().find(|member| member.place == MemberPlace::Offset(offset))
        });
        let name = member.and_then(|member| member.name.as_deref());
        let class = class.qualified_name().unwrap_or_default();
        Ok(Content::Other(match name {
            Some(name) => format!("&{class}::{name}"),
            None => format!("{class} + {offset:#x}"),
        }))
    }

    /// An address, or one more than the offset of a virtual function in its table, which the second
    /// word tells apart on ARM; then what is added to `this`.
    fn pointer_to_function(&self, object: &Object) -> Result<Content, ObjectError> {
        let target = self.process.space().target();
        let first = self.word_at(object, 0)?.unsigned().unwrap_or(0);
        let second = self.word_at(object, u64::from(target.word))?.value().unwrap_or(0);
        let (is_virtual, offset) = match target.arch {
            Arch::Aarch64 => (second & 1 == 1, first),
            _ => (first & 1 == 1, first & !1),
        };
        if is_virtual {
            let index = offset.checked_div(u64::from(target.word)).unwrap_or(0);
            return Ok(Content::Other(format!("virtual function {index}")));
        }
        match first {
            0 => Ok(Content::Other("nullptr".to_owned())),
            at => Ok(Content::Function(self.symbol(Some(Addr::new(at))))),
        }
    }

    fn word_at(&self, object: &Object, offset: u64) -> Result<Number, ObjectError> {
        let target = self.process.space().target();
        let bytes = object.place.part(offset).read(self.process, u64::from(target.word))?;
        let number = Number::of_bytes(&bytes, target.endian, true);
        number.ok_or_else(|| ObjectError::NotANumber(object.ty.spelled()))
    }
}
