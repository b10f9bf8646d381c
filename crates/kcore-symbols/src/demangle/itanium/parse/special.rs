//! Names of what compilers make themselves: tables, thunks, guards.

use super::Parser;
use crate::demangle::itanium::node::{Id, Node};

impl<'n> Parser<'n> {
    pub(super) fn is_special(&self) -> bool {
        matches!(self.peek(), b'T' | b'G')
    }

    /// `<special-name>`
    pub(super) fn special(&mut self) -> Option<Id> {
        let code = self.take(2)?;
        let (words, of) = match code {
            "TV" => ("vtable for ", self.a_type()?),
            "TT" => ("VTT for ", self.a_type()?),
            "TI" => ("typeinfo for ", self.a_type()?),
            "TS" => ("typeinfo name for ", self.a_type()?),
            "TF" => ("typeinfo fn for ", self.a_type()?),
            "TJ" => ("java Class for ", self.a_type()?),
            "TH" => ("TLS init function for ", self.name()?),
            "TW" => ("TLS wrapper function for ", self.name()?),
            "TA" => ("template parameter object for ", self.template_object()?),
            "Th" => ("non-virtual thunk to ", self.thunk(b'h')?),
            "Tv" => ("virtual thunk to ", self.thunk(b'v')?),
            "Tc" => ("covariant return thunk to ", self.covariant_thunk()?),
            "TC" => return self.construction_vtable(),
            "GV" => ("guard variable for ", self.name()?),
            "GR" => return self.reference_temporary(),
            "GA" => ("hidden alias for ", self.encoding()?),
            "GT" => return self.transaction_clone(),
            "GI" => ("initializer for module ", self.initialized_module()?),
            _ => return None,
        };
        self.add(Node::Special(words, of))
    }

    fn template_object(&mut self) -> Option<Id> {
        match self.peek() {
            b'X' => {
                self.skip(1);
                let expression = self.expression()?;
                self.expect("E")?;
                Some(expression)
            }
            b'L' => self.primary_expression(),
            _ => self.a_type(),
        }
    }

    fn thunk(&mut self, kind: u8) -> Option<Id> {
        self.offset(kind)?;
        self.encoding()
    }

    fn covariant_thunk(&mut self) -> Option<Id> {
        for _ in 0..2 {
            let kind = self.peek();
            self.skip(1);
            self.offset(kind)?;
        }
        self.encoding()
    }

    /// `<call-offset>` behind its first letter
    fn offset(&mut self, kind: u8) -> Option<()> {
        match kind {
            b'h' => self.skip_number()?,
            b'v' => {
                self.skip_number()?;
                self.expect("_")?;
                self.skip_number()?;
            }
            _ => return None,
        }
        self.expect("_")
    }

    fn construction_vtable(&mut self) -> Option<Id> {
        let derived = self.a_type()?;
        self.skip_number()?;
        self.expect("_")?;
        let base = self.a_type()?;
        self.add(Node::ConstructionVtable(base, derived))
    }

    fn reference_temporary(&mut self) -> Option<Id> {
        let name = self.name()?;
        let number = self.digits()?;
        self.add(Node::ReferenceTemporary(number, name))
    }

    fn transaction_clone(&mut self) -> Option<Id> {
        let words = match self.take(1)? {
            "n" => "non-transaction clone for ",
            _ => "transaction clone for ",
        };
        let function = self.encoding()?;
        self.add(Node::Special(words, function))
    }

    fn initialized_module(&mut self) -> Option<Id> {
        let mut module = None;
        if self.peek() == b'S' {
            module = Some(self.substitution()?);
        }
        self.module_name(module)?
    }
}
