//! What stands before a declarator: qualifiers and one type, which may have a body.

use std::sync::Arc;

use kcore_symbols::{
    AliasKind, AliasType, Enumeration, Enumerator, Type, TypeKind, TypeLink, TypeNode,
};

use super::{
    super::{
        TypeLookupError,
        layout::{self, Declared},
        lexer::Token,
        words::Words,
    },
    OpenType, Parser, Tag,
    declarator::{made, qualifier},
};

impl Parser<'_> {
    /// The words before a declarator: qualifiers and one type.
    pub fn specifiers(&mut self) -> Result<Type, TypeLookupError> {
        let mut qualifiers = Vec::new();
        let mut words = Words::default();
        let mut ty = None;
        while let Some(word) = self.word() {
            if let Some(kind) = qualifier(word) {
                qualifiers.push(kind);
            } else if ty.is_none() && words.take(word) {
            } else if ty.is_some() || !words.is_empty() {
                break;
            } else if let Some(tag) = Tag::of(word) {
                self.step();
                ty = Some(self.tagged(tag)?);
                continue;
            } else {
                ty = Some(self.names.named(None, word)?);
            }
            self.step();
        }
        let ty = match ty {
            Some(ty) => ty,
            None if words.is_empty() => return Err(self.unexpected()),
            None => self.basic(words)?,
        };
        Ok(qualifiers.into_iter().fold(ty, |ty, kind| ty.qualified(kind)))
    }

    fn basic(&self, words: Words) -> Result<Type, TypeLookupError> {
        let mut found = words.names().iter().filter_map(|name| self.names.named(None, name).ok());
        found.next().ok_or(TypeLookupError::NotFound)
    }

    /// What follows `struct`, `union`, `class` or `enum`: a name, a body, or both.
    fn tagged(&mut self, tag: Tag) -> Result<Type, TypeLookupError> {
        let name: Option<Arc<str>> = self.word().map(Into::into);
        if name.is_some() {
            self.step();
        }
        if self.is_sign("{") {
            return self.nested(|parser| parser.body(tag, name));
        }
        let name = name.ok_or_else(|| self.unexpected())?;
        self.known(tag, &name)
    }

    /// A structure that is being read, one that is known, or one that nothing is known of but that
    /// something points to it.
    fn known(&self, tag: Tag, name: &Arc<str>) -> Result<Type, TypeLookupError> {
        let open = self.open.iter().find(|(open, known, _)| *open == tag && known == name);
        if let Some((.., open)) = open {
            let to = TypeLink::Open(open.clone());
            return Ok(made(TypeKind::Alias(AliasType { kind: AliasKind::Other, to }), None));
        }
        self.names.named(Some(tag), name)
    }

    fn body(&mut self, tag: Tag, name: Option<Arc<str>>) -> Result<Type, TypeLookupError> {
        self.expect("{")?;
        let open = OpenType::default();
        self.open.extend(name.clone().map(|name| (tag, name, open.clone())));
        let (kind, size) = match tag {
            Tag::Enum => (self.enumerators()?, Some(4)),
            Tag::Composite(keyword) => {
                let members = self.members()?;
                layout::composite(keyword, members, self.names.model())?
            }
        };
        if name.is_some() {
            self.open.pop();
        }
        self.expect("}")?;
        let node = TypeNode { id: None, name, size, is_declaration: false, kind };
        Ok(Type::made_open(node, &open))
    }

    fn enumerators(&mut self) -> Result<TypeKind, TypeLookupError> {
        let mut enumerators = Vec::new();
        let mut next: i128 = 0;
        while let Some(name) = self.word().map(Arc::<str>::from) {
            self.step();
            if self.takes("=") {
                next = self.number()?;
            }
            enumerators.push(Enumerator { name, value: next });
            next = next.saturating_add(1);
            if !self.takes(",") {
                break;
            }
        }
        Ok(TypeKind::Enumeration(Enumeration { underlying: None, enumerators, is_class: false }))
    }

    fn number(&mut self) -> Result<i128, TypeLookupError> {
        let is_negative = self.takes("-");
        match self.tokens.get(self.at) {
            Some(Token::Number(number)) => {
                let number = *number;
                self.step();
                Ok(if is_negative { number.saturating_neg() } else { number })
            }
            _ => Err(self.unexpected()),
        }
    }

    fn members(&mut self) -> Result<Vec<Declared>, TypeLookupError> {
        let mut members = Vec::new();
        while !self.is_sign("}") {
            let base = self.specifiers()?;
            loop {
                let mut member = self.declarator(base.clone())?;
                if self.takes(":") {
                    member.bits = Some(self.unsigned()?);
                }
                members.push(member);
                if !self.takes(",") {
                    break;
                }
            }
            self.expect(";")?;
        }
        Ok(members)
    }

    /// A number that is not negative.
    pub fn unsigned(&mut self) -> Result<u64, TypeLookupError> {
        let at = self.at;
        let number = self.number()?;
        u64::try_from(number).map_err(|_| {
            self.at = at;
            self.unexpected()
        })
    }
}
