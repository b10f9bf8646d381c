//! From a tree to a text.
//!
//! A declarator of C++ stands around the name that it declares: what is read on the way to a type is kept
//! as *pending*, and written by the part that knows where it belongs, or behind the type if none does.
//! Template parameters are looked up where they are written, in the template that is then innermost.

mod declarator;
mod expression;
mod function;
mod name;
mod pack;
mod template;

use rustc_hash::FxHashMap;

use super::node::{Id, List, Modifier, Node, Tree};
use template::{Scope, ScopeId};

/// Parts within one another.
const MAX_DEPTH: u32 = 320;
/// Parts that are written, over and over, for one name.
const MAX_STEPS: u32 = 1 << 18;

/// The part of a name could not be written, or not within the bounds.
#[derive(Debug)]
pub struct Unprintable;

type Result<T = ()> = std::result::Result<T, Unprintable>;

/// Writes a part of a name, in no more than `max_len` bytes.
pub fn print(tree: &Tree<'_>, part: Id, max_len: usize) -> Option<String> {
    let mut printer = Printer::new(tree, max_len);
    printer.part(part).ok()?;
    Some(printer.out)
}

struct Printer<'t, 'n> {
    tree: &'t Tree<'n>,
    out: String,
    max_len: usize,
    /// The last byte that was written, also where it was taken back.
    last: u8,
    steps: u32,
    /// What is being written, outermost first.
    path: Vec<Id>,
    /// How often each part is in `path`.
    open: Vec<u8>,
    pending: Vec<Pending>,
    /// The innermost of `pending`.
    declarator: Option<usize>,
    scopes: Vec<Scope>,
    scope: Option<ScopeId>,
    /// The scopes in which template parameters under references were first written.
    first_scopes: FxHashMap<Id, Option<ScopeId>>,
    /// The template whose name is being written.
    template: Option<Id>,
    /// Which argument of a pack is being written; `None` for all.
    pack_index: Option<usize>,
    lambdas: u32,
}

/// A part of a declarator that waits for its place.
#[derive(Clone, Copy)]
struct Pending {
    part: Id,
    is_written: bool,
    /// The templates in which its parameters are looked up.
    scope: Option<ScopeId>,
    /// The next one outwards.
    outer: Option<usize>,
}

impl<'t, 'n> Printer<'t, 'n> {
    fn new(tree: &'t Tree<'n>, max_len: usize) -> Self {
        Self {
            tree,
            out: String::new(),
            max_len,
            last: 0,
            steps: 0,
            path: Vec::new(),
            open: vec![0; tree.len()],
            pending: Vec::new(),
            declarator: None,
            scopes: Vec::new(),
            scope: None,
            first_scopes: FxHashMap::default(),
            template: None,
            pack_index: Some(0),
            lambdas: 0,
        }
    }

    fn text(&mut self, text: &str) -> Result {
        let len = self.out.len().saturating_add(text.len());
        if len > self.max_len {
            return Err(Unprintable);
        }
        self.out.push_str(text);
        self.last = text.as_bytes().last().copied().unwrap_or(self.last);
        Ok(())
    }

    fn number(&mut self, number: usize) -> Result {
        self.text(&number.to_string())
    }

    /// Writes a part. A part may stand within itself once, as an argument of a template that is an
    /// argument of the same; a third time it would do so without end.
    fn part(&mut self, id: Id) -> Result {
        self.enter(id)?;
        let done = self.node(id, self.tree.get(id));
        self.leave(id);
        done
    }

    fn enter(&mut self, id: Id) -> Result {
        let depth = u32::try_from(self.path.len()).unwrap_or(u32::MAX);
        let open = self.open.get_mut(id.index()).ok_or(Unprintable)?;
        if *open > 1 || depth >= MAX_DEPTH || self.steps >= MAX_STEPS {
            return Err(Unprintable);
        }
        *open = open.saturating_add(1);
        self.steps = self.steps.saturating_add(1);
        self.path.push(id);
        Ok(())
    }

    fn leave(&mut self, id: Id) {
        self.path.pop();
        if let Some(open) = self.open.get_mut(id.index()) {
            *open = open.saturating_sub(1);
        }
    }

    fn node(&mut self, id: Id, node: Node<'n>) -> Result {
        match node {
            Node::Modified(modifier, inner) => self.modified(id, modifier, inner),
            Node::Function { returns, params } => self.function(id, returns, params),
            Node::Array { element, .. } => self.array(id, element),
            Node::MemberPointer { member: inner, .. } | Node::Vector { element: inner, .. } => {
                self.declared(id, inner)
            }
            Node::Typed(name, function) => self.typed(name, function),
            Node::TemplateParam(number) => self.template_parameter(number),
            Node::Template(template, arguments) => self.template(id, template, arguments),
            Node::Arguments(list) | Node::Items(list) => self.list(list),
            Node::Conversion(to) => self.conversion(to),
            Node::PackExpansion(pattern) => self.pack_expansion(pattern),
            Node::Lambda(params, number) => self.lambda(params, number),
            _ if self.is_expression(node) => self.expression(node),
            _ => self.named(node),
        }
    }

    /// Parts in a row. What comes to nothing at the end, as an empty pack does, takes its comma with it.
    fn list(&mut self, list: List) -> Result {
        let tree = self.tree;
        let mut end = self.out.len();
        for (at, item) in tree.list(list).iter().enumerate() {
            if at > 0 {
                self.text(", ")?;
            }
            let start = self.out.len();
            self.part(*item)?;
            if self.out.len() > start {
                end = self.out.len();
            }
        }
        self.out.truncate(end);
        Ok(())
    }

    /// Whether a part is an operator of these letters.
    fn is_operator(&self, id: Id, code: &str) -> bool {
        matches!(self.tree.get(id), Node::Operator(operator) if operator.code == code)
    }

    fn modifier_of(&self, id: Id) -> Option<Modifier> {
        match self.tree.get(id) {
            Node::Modified(modifier, _) => Some(modifier),
            _ => None,
        }
    }
}
