//! Trees become objects here.

mod compared;
mod fortran;

use std::{ops::Range, sync::Arc};

use kcore_mem::{Addr, Target};
use kcore_symbols::{BitField, Encoding, Type, TypeKind};

use super::{
    ExpressionError, ExpressionFault, ExpressionNames, arithmetic, basic, compare,
    literal::Literal,
    operator::Binary,
    parse::written,
    scalar::{self, Scalar},
    tree::{Node, Tree, Unary},
};
use crate::{
    Number, Object, ObjectPlace, OutOfBounds, PathEnd, PathPart, PathWalker, Piece, PieceSource,
    Process,
    object::array_layout,
    path::{element, has_entries, is_reference},
};

/// Elements of an array that `@` makes, at most.
const MAX_COUNT: i128 = 1 << 32;

/// One expression that is evaluated.
pub struct Evaluation<'a> {
    process: &'a dyn Process,
    names: &'a dyn ExpressionNames,
    text: &'a str,
    warnings: Vec<OutOfBounds>,
    /// The part in which the first trouble was.
    trouble: Option<usize>,
}

/// What a part gives: a text, or objects with what is written for each.
enum Operand {
    Text(Arc<str>),
    Word(Arc<str>),
    Objects(Vec<(Object, String)>),
}

type Evaluated<T = Operand> = Result<T, ExpressionFault>;

impl<'a> Evaluation<'a> {
    /// Evaluates trees of this text.
    pub const fn new(
        process: &'a dyn Process,
        names: &'a dyn ExpressionNames,
        text: &'a str,
    ) -> Self {
        Self { process, names, text, warnings: Vec::new(), trouble: None }
    }

    /// What a whole expression gives.
    ///
    /// # Errors
    /// When it has no value.
    pub fn whole(mut self, tree: &Node) -> Result<PathEnd, ExpressionError> {
        match self.objects(tree) {
            Ok(objects) => {
                let part = |(object, path)| PathPart { object, path, is_target: false };
                let parts = objects.into_iter().map(part).collect();
                Ok(PathEnd { parts, warnings: self.warnings })
            }
            Err(fault) => {
                let before = self.text.get(..self.trouble.unwrap_or(0)).unwrap_or_default();
                Err(ExpressionError { column: before.chars().count().saturating_add(1), fault })
            }
        }
    }

    fn target(&self) -> Target {
        self.process.space().target()
    }

    /// Notes the innermost part in which there is trouble.
    fn noted<T>(&mut self, at: &Range<usize>, result: Evaluated<T>) -> Evaluated<T> {
        if result.is_err() && self.trouble.is_none() {
            self.trouble = Some(at.start);
        }
        result
    }

    fn objects(&mut self, node: &Node) -> Evaluated<Vec<(Object, String)>> {
        let operand = self.operand(node)?;
        self.objects_of(node, operand)
    }

    /// The objects that a part gave.
    fn objects_of(&mut self, node: &Node, operand: Operand) -> Evaluated<Vec<(Object, String)>> {
        let found = match operand {
            Operand::Objects(objects) => Ok(objects),
            Operand::Word(name) => {
                self.enumerator(&name).map(|value| vec![(value, name.to_string())])
            }
            Operand::Text(text) => Ok(vec![(literal_text(&text), self.written(node))]),
        };
        self.noted(&node.at, found)
    }

    /// A value of an enumeration by its name.
    fn enumerator(&self, name: &str) -> Evaluated<Object> {
        match self.names.enumerator(name) {
            Ok(found) => found.ok_or_else(|| ExpressionFault::Name(name.to_owned())),
            Err(all) => Err(ExpressionFault::Ambiguous(name.to_owned(), all.join(" or "))),
        }
    }

    fn one(&mut self, node: &Node) -> Evaluated<Object> {
        let operand = self.operand(node)?;
        self.one_of(node, operand)
    }

    /// The only object that a part gave; of a reference what it refers to, as operators take it.
    fn one_of(&mut self, node: &Node, operand: Operand) -> Evaluated<Object> {
        let mut objects = self.objects_of(node, operand)?;
        let one = match (objects.pop(), objects.is_empty()) {
            (Some((object, _)), true) => Ok(referent(self.process, &object)?),
            _ => Err(ExpressionFault::Several),
        };
        self.noted(&node.at, one)
    }

    fn written(&self, node: &Node) -> String {
        written(self.text, &node.at).trim().to_owned()
    }

    fn operand(&mut self, node: &Node) -> Evaluated {
        let evaluated = self.operand_of(node);
        self.noted(&node.at, evaluated)
    }

    fn operand_of(&mut self, node: &Node) -> Evaluated {
        let object = match &node.tree {
            Tree::Text(text) => return Ok(Operand::Text(Arc::clone(text))),
            Tree::Word(name) => return Ok(Operand::Word(Arc::clone(name))),
            Tree::Group(inner) => return self.grouped(inner),
            Tree::Step(base, step) => {
                let step = written(self.text, step);
                return match step.strip_prefix('%') {
                    Some(name) => self.component(base, name.trim_start()),
                    None => self.followed(base, step, ""),
                };
            }
            Tree::Elements(base, subscripts) => return self.subscripted(node, base, subscripts),
            Tree::Target(operand) => return self.followed(operand, "*", "*"),
            Tree::Index(base, index) => return self.indexed(base, index),
            Tree::Choice(condition, one, other) => {
                let is_true = self.is_true(condition)?;
                let chosen = if is_true { one } else { other };
                return Ok(match self.operand(chosen)? {
                    Operand::Objects(mut objects) if objects.len() == 1 => {
                        objects.iter_mut().for_each(|(_, label)| *label = self.written(node));
                        Operand::Objects(objects)
                    }
                    other => other,
                });
            }
            Tree::Literal(literal) => self.literal(*literal),
            Tree::Object(object) => (**object).clone(),
            Tree::Dot => {
                let number =
                    Number { bits: self.names.dot().get().into(), size: 64, signed: false };
                scalar::integer(self.target(), &number)
            }
            Tree::Address(operand) => self.address_of(operand)?,
            Tree::Unary(operator, operand) => self.unary(*operator, operand)?,
            Tree::Cast(ty, operand) => self.cast(ty, operand)?,
            Tree::SizeOf(operand) => {
                let ty = self.one(operand)?.ty;
                self.size_of(&ty)?
            }
            Tree::SizeOfType(ty) => self.size_of(ty)?,
            Tree::Binary(operator, left, right) => self.binary(*operator, left, right)?,
        };
        Ok(Operand::Objects(vec![(object, self.written(node))]))
    }

    fn grouped(&mut self, inner: &Node) -> Evaluated {
        Ok(match self.operand(inner)? {
            Operand::Objects(objects) => {
                let group = |(object, label)| (object, format!("({label})"));
                Operand::Objects(objects.into_iter().map(group).collect())
            }
            other => other,
        })
    }

    /// What a step of a path leads to, from each object of its base. `before` stands before the label of the base.
    fn followed(&mut self, base: &Node, step: &str, before: &str) -> Evaluated {
        let walker = PathWalker::new(self.process, self.names);
        let mut all = Vec::new();
        for (object, label) in self.objects(base)? {
            let end = walker.follow(&object, step)?;
            self.warnings.extend(end.warnings);
            all.extend(end.parts.into_iter().map(|part| {
                let label = match before.is_empty() {
                    true => format!("{label}{}", part.path),
                    false => format!("{before}{label}"),
                };
                (part.object, label)
            }));
        }
        Ok(Operand::Objects(all))
    }

    /// An element by the value of an expression; one of a container by a number or a text.
    fn indexed(&mut self, base: &Node, index: &Node) -> Evaluated {
        let operand = match self.operand(index)? {
            Operand::Word(key) => match self.by_word(base, index, &key)? {
                Ok(found) => return Ok(found),
                Err(value) => value,
            },
            other => other,
        };
        let step = match operand {
            Operand::Word(key) => format!("[{key}]"),
            Operand::Text(key) => format!("[\"{key}\"]"),
            operand @ Operand::Objects(_) => {
                let object = self.one_of(index, operand)?;
                let key = compare::text_of(self.process, &object, 1024);
                let real = Scalar::of(self.process, &object)?;
                match (self.integer(&object)?, key, real) {
                    (Some(number), ..) if number < 0 => return self.before(base, number),
                    (Some(number), ..) => format!("[{number}]"),
                    (None, Some(key), _) => format!("[\"{key}\"]"),
                    (None, None, Some(Scalar::Float(real, _))) => format!("[{real:e}]"),
                    (None, None, _) => {
                        let fault = ExpressionFault::Operand("[]", object.ty.spelled());
                        return self.noted(&index.at, Err(fault));
                    }
                }
            }
        };
        let written = written(self.text, &index.at).trim();
        let objects = match self.followed(base, &step, "")? {
            Operand::Objects(objects) => objects,
            other => return Ok(other),
        };
        let named = objects.into_iter().map(|(object, label)| {
            let label = label.strip_suffix(&step).map(|label| format!("{label}[{written}]"));
            (object, label.unwrap_or_default())
        });
        Ok(Operand::Objects(named.collect()))
    }

    /// The element of a container with the key of this name; else the value of an enumeration that the name stands for.
    fn by_word(
        &mut self,
        base: &Node,
        index: &Node,
        key: &Arc<str>,
    ) -> Evaluated<Result<Operand, Operand>> {
        let trouble = self.trouble;
        match (self.followed(base, &format!("[{key}]"), ""), self.enumerator(key)) {
            (Ok(found), _) => Ok(Ok(found)),
            (Err(_), Ok(value)) => {
                self.trouble = trouble;
                Ok(Err(Operand::Objects(vec![(value, self.written(index))])))
            }
            (Err(fault), Err(_)) => Err(fault),
        }
    }

    /// An element before the first one that a pointer points to.
    fn before(&mut self, base: &Node, index: i128) -> Evaluated {
        let index = i64::try_from(index).unwrap_or(i64::MIN);
        let objects = self.objects(base)?.into_iter().map(|(object, label)| {
            let object = referent(self.process, &object)?;
            let element = match has_entries(self.process, &object) {
                true => element(self.process, &object, index.cast_unsigned())?,
                false => array_layout::any_element(self.process, &object, index)?,
            };
            Ok((element, format!("{label}[{index}]")))
        });
        objects.collect::<Evaluated<_>>().map(Operand::Objects)
    }

    fn integer(&self, object: &Object) -> Evaluated<Option<i128>> {
        Ok(match Scalar::of(self.process, object)? {
            Some(Scalar::Integer(number)) => number.value(),
            _ => None,
        })
    }

    /// An object as the number that an operator takes.
    fn scalar(&mut self, node: &Node, object: &Object, sign: &'static str) -> Evaluated<Scalar> {
        let found = Scalar::of(self.process, object).map_err(ExpressionFault::from);
        let found = found.and_then(|found| {
            found.ok_or_else(|| ExpressionFault::Operand(sign, object.ty.spelled()))
        });
        self.noted(&node.at, found)
    }

    fn literal(&self, literal: Literal) -> Object {
        let target = self.target();
        match literal {
            Literal::Integer { value, is_unsigned, bits } => {
                let needed = 128_u32.saturating_sub(value.leading_zeros());
                let needed = if is_unsigned { needed } else { needed.saturating_add(1) };
                let size = needed.max(bits).next_power_of_two().min(128);
                let number = Number { bits: value, size, signed: !is_unsigned };
                scalar::integer(target, &number)
            }
            Literal::Float(value, is_single) => scalar::float(target, value, is_single),
            Literal::Truth(is_true) => scalar::truth(target, is_true, true),
            Literal::Character(byte) => {
                scalar::of_bits(target, basic::character(), u128::from(byte))
            }
        }
    }

    /// The pointer to an object; that to a function is to its first instruction.
    fn address_of(&mut self, operand: &Node) -> Evaluated<Object> {
        let object = self.one(operand)?;
        let at = object.address().filter(|_| object.place.bits().is_none());
        let at = self.noted(&operand.at, at.ok_or(ExpressionFault::NoAddress))?;
        let ty = scalar::pointer_to(self.process, &object.ty);
        Ok(scalar::of_bits(self.target(), ty, u128::from(at.get())))
    }

    fn unary(&mut self, operator: Unary, operand: &Node) -> Evaluated<Object> {
        let object = self.one(operand)?;
        let scalar = self.scalar(operand, &object, operator.sign())?;
        if operator == Unary::Not {
            let has_bool = scalar::has_bool(&object.ty);
            return Ok(scalar::truth(self.target(), !scalar.is_true(), has_bool));
        }
        let computed = arithmetic::unary(self.target(), operator, &scalar);
        computed.ok_or_else(|| ExpressionFault::Operand(operator.sign(), object.ty.spelled()))
    }

    fn is_true(&mut self, node: &Node) -> Evaluated<bool> {
        let object = self.one(node)?;
        Ok(self.scalar(node, &object, "?")?.is_true())
    }

    fn size_of(&self, ty: &Type) -> Evaluated<Object> {
        let complete = Object::at(ty.clone(), Addr::new(0)).complete_type(self.process)?;
        let size = complete.size().ok_or_else(|| ExpressionFault::Size(ty.spelled()))?;
        let bits = u32::from(self.target().word).saturating_mul(8);
        let number = Number { bits: u128::from(size), size: bits, signed: false };
        Ok(scalar::integer(self.target(), &number))
    }

    /// A number of another type, or the same bytes as something else where one of both is no number.
    fn cast(&mut self, ty: &Type, operand: &Node) -> Evaluated<Object> {
        let object = self.one(operand)?;
        let to = Object { ty: ty.clone(), place: object.place.clone() };
        let complete = to.complete_type(self.process)?;
        let is_number = matches!(
            complete.kind(),
            TypeKind::Base(_) | TypeKind::Pointer(_) | TypeKind::Enumeration(_)
        );
        let scalar = if is_number { Scalar::of(self.process, &object)? } else { None };
        let Some(scalar) = scalar else { return Ok(to) };
        let size = complete.size().and_then(|size| u32::try_from(size.checked_mul(8)?).ok());
        let size = size.ok_or_else(|| ExpressionFault::Size(ty.spelled()))?;
        let bits = match complete.kind() {
            TypeKind::Base(base) if base.encoding == Encoding::Float => {
                if size > 64 {
                    return Ok(scalar::float(self.target(), arithmetic::as_float(&scalar), false));
                }
                scalar::bits_of(arithmetic::as_float(&scalar), size == 32)
            }
            TypeKind::Base(base) if base.encoding == Encoding::Bool => u128::from(scalar.is_true()),
            _ => whole_number(&scalar, size),
        };
        Ok(scalar::of_bits(self.target(), ty.clone(), bits))
    }

    fn binary(&mut self, operator: Binary, left: &Node, right: &Node) -> Evaluated<Object> {
        match operator {
            Binary::AndAlso | Binary::OrElse => self.decided(operator, left, right),
            Binary::Repeat => self.repeated(left, right),
            comparison if comparison.is_comparison() => self.compared(comparison, left, right),
            _ => {
                let (one, other) = (self.one(left)?, self.one(right)?);
                let sign = operator.sign();
                let numbers = (self.scalar(left, &one, sign)?, self.scalar(right, &other, sign)?);
                // How far apart the elements of an iterator lie is its own affair.
                let is_object = |of: &Scalar, object: &Object| {
                    matches!(of, Scalar::Pointer(..)) && self.is_of_class(object)
                };
                let computed = match is_object(&numbers.0, &one) || is_object(&numbers.1, &other) {
                    true => None,
                    false => arithmetic::binary(self.process, operator, &numbers.0, &numbers.1)?,
                };
                computed.ok_or_else(|| {
                    ExpressionFault::Operands(sign, one.ty.spelled(), other.ty.spelled())
                })
            }
        }
    }

    fn is_of_class(&self, object: &Object) -> bool {
        object.complete_type(self.process).is_ok_and(|ty| ty.composite().is_some())
    }

    /// `a && b` and `a || b`, of which the second counts only where the first does not decide.
    fn decided(&mut self, operator: Binary, left: &Node, right: &Node) -> Evaluated<Object> {
        let object = self.one(left)?;
        let has_bool = scalar::has_bool(&object.ty);
        let first = self.scalar(left, &object, operator.sign())?.is_true();
        let is_decided = first == (operator == Binary::OrElse);
        let is_true = if is_decided { first } else { self.is_true(right)? };
        Ok(scalar::truth(self.target(), is_true, has_bool))
    }

    /// An array of so many objects, the first of which is at hand.
    fn repeated(&mut self, first: &Node, count: &Node) -> Evaluated<Object> {
        let object = self.one(first)?;
        if object.address().is_none() {
            return self.noted(&first.at, Err(ExpressionFault::NoAddress));
        }
        let number = self.one(count)?;
        let number = self.integer(&number)?.unwrap_or(0);
        let of = u64::try_from(number).ok().filter(|_| (1..=MAX_COUNT).contains(&number));
        let of = self.noted(&count.at, of.ok_or(ExpressionFault::Count(number)))?;
        Ok(object.cast(object.ty.array(Some(of))))
    }
}

/// What an object is to operators: a reference of C++ what it refers to.
fn referent(process: &dyn Process, object: &Object) -> Evaluated<Object> {
    Ok(if is_reference(&object.ty) { object.target(process)? } else { object.clone() })
}

/// A text as an array of characters.
fn literal_text(text: &str) -> Object {
    let bytes: Arc<[u8]> = text.bytes().chain([0]).collect();
    let ty = basic::character().array(Some(bytes.len() as u64));
    let size = (bytes.len() as u64).saturating_mul(8);
    let pieces = Arc::from([Piece { size, source: PieceSource::Bytes(bytes) }]);
    Object { ty, place: ObjectPlace::Pieces { pieces, bits: BitField { offset: 0, size } } }
}

/// A number as an integer of so many bits; a fraction is cut off, as in C.
fn whole_number(scalar: &Scalar, size: u32) -> u128 {
    let bits = match scalar {
        Scalar::Integer(number) => number.clone().extended(128).bits,
        Scalar::Pointer(at, _) => u128::from(at.get()),
        #[expect(clippy::cast_possible_truncation, reason = "as in C")]
        Scalar::Float(value, _) => (*value as i128).cast_unsigned(),
    };
    Number { bits, size: 128, signed: false }.cut(size).bits
}
