//! `Mutex` and `RwLock`: what they protect, and who holds them.

use crate::{
    Content, Field, Object,
    eval::Evaluator,
    printers::{
        Printer,
        made::{count, truth},
    },
};

/// Readers of a lock are counted in these bits; all of them set say that somebody writes
/// (`std::sys::sync::rwlock::futex`).
const READERS: u64 = (1 << 30) - 1;

/// A lock.
pub struct Lock;

impl Printer for Lock {
    fn families(&self) -> &'static [&'static str] {
        &["rust::Mutex", "rust::RwLock"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let data = evaluator.member(object, "data")?;
        evaluator
            .nested(|evaluator| {
                let value = evaluator.value(&data);
                let mut fields = vec![Field { name: Some("data".into()), is_base: false, value }];
                fields.extend(held(evaluator, object));
                let poison = evaluator.number_in(object, &["failed"]);
                fields.extend(poison.map(|poison| truth("poisoned", poison != 0)));
                Ok(Content::Fields(fields))
            })
            .ok()
    }
}

/// Who holds it, where the lock is one of Linux itself.
fn held(evaluator: &Evaluator<'_>, object: &Object) -> Vec<Field> {
    let inner = evaluator.member(object, "inner");
    let number = |name| evaluator.number_in(inner.as_ref()?, &[name]);
    match (number("futex"), number("state")) {
        (Some(futex), _) => vec![truth("locked", futex != 0)],
        (None, Some(state)) => {
            let readers = state & READERS;
            let is_writing = readers == READERS;
            let readers = if is_writing { 0 } else { readers };
            vec![count("readers", readers), truth("writing", is_writing)]
        }
        _ => Vec::new(),
    }
}
