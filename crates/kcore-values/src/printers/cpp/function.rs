//! `std::function`: what it calls is known by the function that calls it.

use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// Something that can be called.
pub struct Function;

impl Printer for Function {
    fn families(&self) -> &'static [&'static str] {
        &["std::function"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        match evaluator.pointer_in(object, &["_M_invoker"]) {
            Some(invoker) => libstdcxx(evaluator, object, invoker),
            None => libcxx(evaluator, object),
        }
    }
}

fn empty() -> Content {
    Content::Other("empty".to_owned())
}

/// `_Function_handler<signature, callable>::_M_invoke`.
fn libstdcxx(
    evaluator: &Evaluator<'_>,
    object: &Object,
    invoker: kcore_mem::Addr,
) -> Option<Content> {
    if evaluator.pointer_in(object, &["_M_manager"])?.get() == 0 {
        return Some(empty());
    }
    let invoker = evaluator.symbol(Some(invoker))?.name;
    let callable = template_arguments(invoker.rsplit_once("::")?.0).into_iter().nth(1)?;
    let functor = evaluator.dig(object, &["_M_functor"])?;
    called(evaluator, callable, functor.address()?)
}

/// An object of class `__func<callable, allocator, signature>`, which its table of virtual functions
/// names. The callable lies behind the pointer to the table.
fn libcxx(evaluator: &Evaluator<'_>, object: &Object) -> Option<Content> {
    let function = evaluator.dig(object, &["__f_"])?;
    let function = evaluator.dig(&function, &["__f_"]).unwrap_or(function);
    let at = evaluator.number(&function).map(kcore_mem::Addr::new)?;
    if at.get() == 0 {
        return Some(empty());
    }
    let table = evaluator.symbol(evaluator.pointer_at(at, 0))?.name;
    let callable = template_arguments(table.strip_prefix("vtable for ")?).into_iter().next()?;
    called(evaluator, callable, at.checked_add(evaluator.word())?)
}

/// A function by its symbol, another thing that can be called by its type.
fn called(evaluator: &Evaluator<'_>, callable: String, at: kcore_mem::Addr) -> Option<Content> {
    if callable.contains("(*)") {
        let target = evaluator.pointer_at(at, 0)?;
        return Some(Content::Function(evaluator.symbol(Some(target))));
    }
    Some(Content::Other(callable))
}

/// The arguments of the template that a name ends with: `A<B, C<D> >` has `B` and `C<D>`.
pub fn template_arguments(name: &str) -> Vec<String> {
    let mut arguments = Vec::new();
    let mut argument = String::new();
    let mut depth = 0_i32;
    let Some(open) = name.find('<') else { return arguments };
    let mut before = ' ';
    for c in name.get(open..).unwrap_or_default().chars() {
        match c {
            '<' | '(' | '{' | '[' => depth = depth.saturating_add(1),
            // An arrow closes nothing.
            '>' if before == '-' => {}
            '>' | ')' | '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        before = c;
        match (c, depth) {
            (_, 0) => break,
            ('<', 1) => {}
            (',', 1) => arguments.push(std::mem::take(&mut argument).trim().to_owned()),
            _ => argument.push(c),
        }
    }
    arguments.push(argument.trim().to_owned());
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_of_templates_are_told_apart_by_their_brackets() {
        let name = "std::_Function_handler<int (int, char), main::{lambda(int, char)#1}>";
        assert_eq!(template_arguments(name), ["int (int, char)", "main::{lambda(int, char)#1}"]);
        assert_eq!(template_arguments("A<B<C, D> >"), ["B<C, D>"]);
        assert!(template_arguments("A").is_empty());
    }
}
