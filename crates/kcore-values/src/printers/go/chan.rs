//! Channels: a ring of elements that wait to be received.

use kcore_mem::Addr;
use kcore_symbols::Type;

use crate::{Content, Object, Pointer, eval::Evaluator, printers::Printer};

/// A channel.
pub struct Chan;

impl Printer for Chan {
    fn families(&self) -> &'static [&'static str] {
        &["go::hchan"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let channel = object.target(evaluator.process()).ok()?;
        if channel.address()?.get() == 0 {
            return Some(Content::Pointer(Pointer::to(channel.address())));
        }
        let element = element_type(evaluator, &channel)?;
        let number = |name: &str| evaluator.number_in(&channel, &[name]);
        let (count, capacity) = (number("qcount")?, number("dataqsiz")?);
        let (first, size) = (number("recvx")?, number("elemsize")?);
        let buffer = Addr::new(number("buf")?);
        if count > capacity || (count > 0 && (first >= capacity || !evaluator.is_mapped(buffer))) {
            return None;
        }
        evaluator.sequence(count, |_, index| {
            let position = first.checked_add(index)?.checked_rem(capacity)?;
            let at = buffer.checked_add(position.checked_mul(size)?)?;
            Some(Object::at(element.clone(), at))
        })
    }
}

/// What those who wait for a channel have pointers to (`sudog<T>`).
fn element_type(evaluator: &Evaluator<'_>, channel: &Object) -> Option<Type> {
    let waiting = evaluator.dig(channel, &["first"])?;
    let waiting = evaluator.complete(&waiting.ty)?.target().ok()??;
    let waiting = evaluator.complete(&waiting)?;
    let mut members = waiting.composite()?.members.iter();
    let element = members.find(|member| member.name.as_deref() == Some("elem"))?;
    evaluator.complete(&waiting.follow(&element.ty).ok()?)?.target().ok()?
}
