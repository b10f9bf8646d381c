//! Template parameters and arguments.

use super::Parser;
use crate::demangle::itanium::node::{Id, Node};

impl<'n> Parser<'n> {
    /// `<template-param>`
    pub(super) fn template_parameter(&mut self) -> Option<Id> {
        self.expect("T")?;
        let number = self.compact_number()?;
        self.add(Node::TemplateParam(number))
    }

    /// `<template-args>`, or a pack of such
    pub(super) fn template_arguments(&mut self) -> Option<Id> {
        if !self.eat("I") {
            self.expect("J")?;
        }
        self.arguments_to_end()
    }

    /// Arguments up to `E`. Their names are not those of constructors.
    pub(super) fn arguments_to_end(&mut self) -> Option<Id> {
        let last_name = self.last_name;
        let mut arguments = Vec::new();
        while !self.eat("E") {
            arguments.push(self.template_argument()?);
        }
        self.last_name = last_name;
        let list = self.add_list(&arguments)?;
        self.add(Node::Arguments(list))
    }

    /// `<template-arg>`
    fn template_argument(&mut self) -> Option<Id> {
        self.nested(|parser| match parser.peek() {
            b'X' => {
                parser.skip(1);
                let expression = parser.expression()?;
                parser.expect("E")?;
                Some(expression)
            }
            b'L' => parser.primary_expression(),
            b'I' | b'J' => parser.template_arguments(),
            _ => parser.a_type(),
        })
    }
}
