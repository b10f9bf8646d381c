//! Texts become trees here.
//!
//! As in C, whether a parenthesis holds a type depends on the names in it: they are asked for while it is read.

use std::ops::Range;

use kcore_symbols::Type;

use super::{
    ExpressionError, ExpressionFault, ExpressionNames,
    any_names::{self, AnyNames},
    fortran::{self, FortranSigns},
    literal,
    name::{
        closing, is_digit, is_name, lengths, name_length, scope_length, scoped_length,
        with_arguments,
    },
    operator::{self, Binary},
    tree::{Node, Tree, Unary},
};

/// Bytes of an expression, at most.
const MAX_LENGTH: usize = 4096;
/// Parentheses and operators within one another, at most.
const MAX_DEPTH: usize = 64;
/// Operators and members, at most.
const MAX_OPERATORS: usize = 256;

/// Reads an expression.
///
/// # Errors
/// When it is none, or holds a name that means nothing.
pub fn parse(text: &str, names: &dyn ExpressionNames) -> Result<Node, ExpressionError> {
    Parser { text, at: 0, depth: 0, operators: 0, names, is_check: false }.whole()
}

/// Whether a text may be an expression, whatever the names in it mean.
///
/// # Errors
/// When it can be none.
pub fn check(text: &str) -> Result<(), ExpressionError> {
    // What angle brackets are depends on the names before them.
    if text.contains('<') && text.contains('>') {
        return Ok(());
    }
    let parser = Parser { text, at: 0, depth: 0, operators: 0, names: &AnyNames, is_check: true };
    parser.whole().map(drop)
}

pub(super) type Parsed<T = Node> = Result<T, ExpressionFault>;

pub(super) struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    operators: usize,
    names: &'t dyn ExpressionNames,
    /// Whether nothing is known of names, so that what stands in parentheses alone tells whether it is a type.
    is_check: bool,
}

impl<'t> Parser<'t> {
    fn whole(mut self) -> Result<Node, ExpressionError> {
        let parsed = self.all();
        parsed.map_err(|fault| {
            let before = self.text.get(..self.at).unwrap_or(self.text);
            ExpressionError { column: before.chars().count().saturating_add(1), fault }
        })
    }

    fn all(&mut self) -> Parsed {
        if self.text.len() > MAX_LENGTH {
            return Err(ExpressionFault::Limit("4096 characters"));
        }
        let whole = self.choice()?;
        self.blanks();
        match self.rest().is_empty() {
            true => Ok(whole),
            false if self.rest().starts_with('=') => Err(ExpressionFault::Runs("an assignment")),
            false if self.rest().starts_with('(') => Err(ExpressionFault::Runs("a call")),
            false => Err(self.expected("an operator")),
        }
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    pub(super) fn skip(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes);
    }

    pub(super) fn blanks(&mut self) {
        let rest = self.rest();
        self.skip(rest.len().saturating_sub(rest.trim_start().len()));
    }

    /// Takes a sign behind blanks, if it stands there.
    pub(super) fn takes(&mut self, sign: &str) -> bool {
        self.blanks();
        let found = self.rest().starts_with(sign);
        if found {
            self.skip(sign.len());
        }
        found
    }

    pub(super) fn require(&mut self, sign: &'static str) -> Parsed<()> {
        if self.takes(sign) { Ok(()) } else { Err(self.expected(sign)) }
    }

    pub(super) fn expected(&self, what: &'static str) -> ExpressionFault {
        let found = self.rest().chars().next();
        let found = found.map_or_else(|| "the end".to_owned(), |found| format!("'{found}'"));
        ExpressionFault::Expected(what, found)
    }

    pub(super) fn node(&self, start: usize, tree: Tree) -> Node {
        Node { tree, at: start..self.at }
    }

    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.depth = self.depth.saturating_add(1);
        if self.depth > MAX_DEPTH {
            return Err(ExpressionFault::Limit("64 operators and parentheses within one another"));
        }
        let read = read(self);
        self.depth = self.depth.saturating_sub(1);
        read
    }

    /// `a ? b : c`, which binds least.
    pub(super) fn choice(&mut self) -> Parsed {
        let condition = self.nested(|parser| parser.binary(1))?;
        if !self.takes("?") {
            return Ok(condition);
        }
        let one = self.nested(Self::choice)?;
        self.require(":")?;
        let other = self.nested(Self::choice)?;
        let start = condition.at.start;
        let tree = Tree::Choice(Box::new(condition), Box::new(one), Box::new(other));
        Ok(self.node(start, tree))
    }

    fn binary(&mut self, least: u8) -> Parsed {
        if least > operator::LEVELS {
            return self.unary();
        }
        let mut left = self.unary()?;
        while let Some((sign, operator, level)) = self.operator(least) {
            self.skip(sign.len());
            self.refuse_assignment()?;
            self.count()?;
            let right = self.nested(|parser| parser.binary(level.saturating_add(1)))?;
            let start = left.at.start;
            let tree = Tree::Binary(operator, Box::new(left), Box::new(right));
            left = self.node(start, tree);
        }
        Ok(left)
    }

    fn operator(&mut self, least: u8) -> Option<(&'static str, Binary, u8)> {
        self.blanks();
        Binary::first(self.rest()).filter(|(.., level)| *level >= least)
    }

    /// `+=` and the like.
    fn refuse_assignment(&self) -> Parsed<()> {
        match self.rest().starts_with('=') {
            true => Err(ExpressionFault::Runs("an assignment")),
            false => Ok(()),
        }
    }

    /// Operators and steps side by side become as deep a tree as those within one another.
    pub(super) fn count(&mut self) -> Parsed<()> {
        self.operators = self.operators.saturating_add(1);
        match self.operators > MAX_OPERATORS {
            true => Err(ExpressionFault::Limit("256 operators and members")),
            false => Ok(()),
        }
    }

    fn unary(&mut self) -> Parsed {
        self.blanks();
        let start = self.at;
        if self.rest().starts_with("++") || self.rest().starts_with("--") {
            return Err(ExpressionFault::Runs("an assignment"));
        }
        for (sign, operator) in
            [("-", Unary::Minus), ("+", Unary::Plus), ("~", Unary::Complement), ("!", Unary::Not)]
        {
            if self.takes(sign) {
                let operand = Box::new(self.nested(Self::unary)?);
                return Ok(self.node(start, Tree::Unary(operator, operand)));
            }
        }
        if self.takes("*") {
            let operand = Box::new(self.nested(Self::unary)?);
            return Ok(self.node(start, Tree::Target(operand)));
        }
        if self.takes("&") {
            let operand = Box::new(self.nested(Self::unary)?);
            return Ok(self.node(start, Tree::Address(operand)));
        }
        if self.word_is("sizeof") {
            return self.size_of(start);
        }
        if let Some(ty) = self.cast() {
            let operand = Box::new(self.nested(Self::unary)?);
            return Ok(self.node(start, Tree::Cast(ty, operand)));
        }
        self.postfix()
    }

    /// Whether this word stands here, and nothing has it for a name.
    fn word_is(&self, word: &str) -> bool {
        let behind = self.rest().strip_prefix(word);
        let is_word = behind.is_some_and(|rest| !rest.starts_with(is_name));
        is_word && (self.is_check || self.names.object(word).is_none())
    }

    fn size_of(&mut self, start: usize) -> Parsed {
        self.skip("sizeof".len());
        self.blanks();
        if let Some((ty, len)) = self.type_in_parentheses() {
            self.skip(len);
            return Ok(self.node(start, Tree::SizeOfType(ty)));
        }
        let operand = Box::new(self.nested(Self::unary)?);
        Ok(self.node(start, Tree::SizeOf(operand)))
    }

    /// The type of a cast, if a type stands in parentheses here and an operand behind them.
    fn cast(&mut self) -> Option<Type> {
        let (ty, len) = self.type_in_parentheses()?;
        let behind = self.rest().get(len..)?.trim_start();
        let is_operand = |c: char| {
            is_name(c) || matches!(c, '(' | '*' | '&' | '-' | '+' | '~' | '!' | '\'' | '"' | '.')
        };
        if !behind.starts_with(is_operand) {
            return None;
        }
        self.skip(len);
        Some(ty)
    }

    /// The type that parentheses hold, and how many bytes they take.
    fn type_in_parentheses(&self) -> Option<(Type, usize)> {
        let inner = self.rest().strip_prefix('(')?;
        let len = closing(inner, '(', ')')?;
        let text = inner.get(..len)?.trim();
        let first = text.get(..name_length(text))?;
        let is_variable = !self.is_check && !first.is_empty() && self.names.object(first).is_some();
        if !text.starts_with(is_name) || text.starts_with(is_digit) || is_variable {
            return None;
        }
        let ty = match self.is_check {
            true => {
                let behind = inner.get(len.saturating_add(1)..).unwrap_or_default();
                any_names::may_be_type(text, behind).then(Type::void)?
            }
            false => self.names.type_named(text).ok()?,
        };
        Some((ty, len.saturating_add(2)))
    }

    fn postfix(&mut self) -> Parsed {
        let mut node = self.primary()?;
        let signs = FortranSigns::of(&node);
        loop {
            self.blanks();
            let (start, whole) = (self.at, node.at.start);
            let rest = self.rest();
            let tree = if signs.parentheses && rest.starts_with('(') {
                fortran::elements(self, node)?
            } else if signs.percent && fortran::begins_with_member(rest)
                || rest.starts_with("->")
                || rest.starts_with('.') && !rest.starts_with("..")
            {
                self.member()?;
                Tree::Step(Box::new(node), start..self.at)
            } else if rest.starts_with('[') {
                self.index(node)?
            } else {
                return Ok(node);
            };
            self.count()?;
            node = self.node(whole, tree);
        }
    }

    /// `.name`, `->name` or Fortran's `%name`, perhaps with the angle brackets in which a base class is shown.
    fn member(&mut self) -> Parsed<()> {
        let sign = if self.rest().starts_with(['.', '%']) { 1 } else { 2 };
        self.skip(sign);
        self.blanks();
        let rest = self.rest();
        let mut len = match rest.strip_prefix('<').and_then(|inner| closing(inner, '<', '>')) {
            Some(len) => len.saturating_add(2),
            None => name_length(rest),
        };
        while let Some(more) = rest.get(len..).and_then(|rest| rest.strip_prefix("::")) {
            len = len.saturating_add(2).saturating_add(name_length(more));
        }
        if len == 0 {
            return Err(self.expected("the name of a member"));
        }
        self.skip(len);
        Ok(())
    }

    /// What is in brackets: a key or a range as paths have them, or an expression.
    fn index(&mut self, base: Node) -> Parsed<Tree> {
        let start = self.at;
        let inner = self.rest().get(1..).unwrap_or_default();
        let len = closing(inner, '[', ']').ok_or_else(|| {
            self.skip(1);
            ExpressionFault::Expected("]", "the end".to_owned())
        })?;
        let text = inner.get(..len).unwrap_or_default();
        if text.trim_start().starts_with('"') || text.contains("..") {
            self.skip(len.saturating_add(2));
            return Ok(Tree::Step(Box::new(base), start..self.at));
        }
        self.skip(1);
        let index = self.nested(Self::choice)?;
        self.require("]")?;
        Ok(Tree::Index(Box::new(base), Box::new(index)))
    }

    fn primary(&mut self) -> Parsed {
        self.blanks();
        let start = self.at;
        let rest = self.rest();
        let tree = match rest.chars().next() {
            Some('(') => {
                self.skip(1);
                let inner = self.nested(Self::choice)?;
                self.require(")")?;
                Tree::Group(Box::new(inner))
            }
            Some('0'..='9') => {
                let (literal, len) = literal::number(rest)?;
                self.skip(len);
                Tree::Literal(literal)
            }
            Some('.') if rest.get(1..).is_some_and(|rest| rest.starts_with(is_digit)) => {
                let (literal, len) = literal::number(rest)?;
                self.skip(len);
                Tree::Literal(literal)
            }
            Some('.') => {
                self.skip(1);
                Tree::Dot
            }
            Some('"') => {
                let (text, len) = literal::text(rest.get(1..).unwrap_or_default())?;
                self.skip(len.saturating_add(1));
                Tree::Text(text.into())
            }
            Some('$') => self.register()?,
            Some('\'') if scope_length(rest).is_none() => {
                let (literal, len) = literal::character(rest.get(1..).unwrap_or_default())?;
                self.skip(len.saturating_add(1));
                Tree::Literal(literal)
            }
            Some(c) if is_name(c) || c == '\'' || is_global(rest) => self.name()?,
            _ => return Err(self.expected("an operand")),
        };
        Ok(self.node(start, tree))
    }

    fn register(&mut self) -> Parsed<Tree> {
        let name = self.rest().get(1..).unwrap_or_default();
        let len = name_length(name);
        let name = name.get(..len).unwrap_or_default();
        let register = self.names.register(name);
        let register = register.ok_or_else(|| ExpressionFault::Register(name.to_owned()))?;
        self.skip(len.saturating_add(1));
        Ok(Tree::Object(Box::new(register)))
    }

    /// A name with its scopes. As names of C++ may go on with template arguments, and those of Go with dots, the
    /// shortest one counts that means something.
    fn name(&mut self) -> Parsed<Tree> {
        let rest = self.rest();
        let plain = scoped_length(rest);
        for len in lengths(rest, plain) {
            let name = rest.get(..len).unwrap_or_default();
            if let Some(object) = self.names.object(name) {
                self.skip(len);
                return Ok(Tree::Object(Box::new(object)));
            }
        }
        if let Some(scoped) = with_arguments(rest, plain).and_then(|len| rest.get(..len))
            && scoped.rfind('>') < scoped.rfind("::")
        {
            return Err(ExpressionFault::Name(scoped.to_owned()));
        }
        let name = rest.get(..plain).unwrap_or_default();
        let behind = rest.get(plain..).unwrap_or_default().trim_start();
        if behind.starts_with(['.', '[']) || behind.starts_with("->") {
            return Err(ExpressionFault::Name(name.to_owned()));
        }
        if behind.starts_with('(') {
            return Err(ExpressionFault::Runs("a call"));
        }
        self.skip(plain);
        Ok(literal::word(name).map_or_else(|| Tree::Word(name.into()), Tree::Literal))
    }
}

/// Whether a name outside of all scopes stands here: `::name`.
fn is_global(text: &str) -> bool {
    text.strip_prefix("::").is_some_and(|name| name.starts_with(is_name))
}

/// What a range of bytes of the text says.
pub fn written<'t>(text: &'t str, at: &Range<usize>) -> &'t str {
    text.get(at.clone()).unwrap_or_default()
}
