//! Elements, sections and components of objects of Fortran.

use kcore_symbols::TypeKind;

use super::{Evaluated, Evaluation, Operand, written};
use crate::{
    Object,
    expression::{
        ExpressionFault,
        tree::{Node, SubscriptNode},
    },
    object::array_section::{self, Subscript},
};

impl Evaluation<'_> {
    /// `base%name`
    pub(super) fn component(&mut self, base: &Node, name: &str) -> Evaluated {
        let found = self.followed(base, &format!(".{name}"), "")?;
        let Operand::Objects(objects) = found else { return Ok(found) };
        let named = objects.into_iter().map(|(object, label)| {
            let base = label.strip_suffix(name).and_then(|label| label.strip_suffix('.'));
            let label = base.map(|base| format!("{base}%{name}"));
            (object, label.unwrap_or_default())
        });
        Ok(Operand::Objects(named.collect()))
    }

    /// `base(i, j)` and `base(i:j)`
    pub(super) fn subscripted(
        &mut self,
        whole: &Node,
        base: &Node,
        subscripts: &[SubscriptNode],
    ) -> Evaluated {
        let objects = self.objects(base)?;
        let subscripts = subscripts.iter().map(|subscript| self.subscript(subscript));
        let subscripts = subscripts.collect::<Evaluated<Vec<_>>>()?;
        let list = written(self.text, &(base.at.end..whole.at.end)).trim().to_owned();
        let chosen = objects.into_iter().map(|(object, label)| {
            let array = self.array_of(&object)?;
            let found = array_section::chosen(self.process, &array, &subscripts)?;
            Ok((found, format!("{label}{list}")))
        });
        Ok(Operand::Objects(chosen.collect::<Evaluated<_>>()?))
    }

    /// An array of Fortran, or the one that a pointer leads to; nothing else has subscripts.
    fn array_of(&self, object: &Object) -> Evaluated<Object> {
        let ty = object.complete_type(self.process)?;
        match ty.kind() {
            TypeKind::Array(array) if array.layout.is_some() => Ok(object.clone()),
            TypeKind::Pointer(_) => {
                let target = object.target(self.process)?;
                let ty = target.complete_type(self.process)?;
                let is_array =
                    matches!(ty.kind(), TypeKind::Array(array) if array.layout.is_some());
                is_array.then_some(target).ok_or(ExpressionFault::Runs("a call"))
            }
            _ => Err(ExpressionFault::Runs("a call")),
        }
    }

    fn subscript(&mut self, subscript: &SubscriptNode) -> Evaluated<Subscript> {
        Ok(match subscript {
            SubscriptNode::Index(index) => Subscript::Index(self.bound(index)?),
            SubscriptNode::Section([first, last, step]) => {
                let mut bound =
                    |node: &Option<Node>| node.as_ref().map(|node| self.bound(node)).transpose();
                let (first, last) = (bound(first)?, bound(last)?);
                Subscript::Section { first, last, step: bound(step)?.unwrap_or(1) }
            }
        })
    }

    fn bound(&mut self, node: &Node) -> Evaluated<i64> {
        let object = self.one(node)?;
        let number = self.integer(&object)?.and_then(|number| i64::try_from(number).ok());
        let fault = || ExpressionFault::Operand("()", object.ty.spelled());
        let number = number.ok_or_else(fault);
        self.noted(&node.at, number)
    }
}
