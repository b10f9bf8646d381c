//! Elements that a small program of a file gives: variables, loops and conditions, as `CustomListItems` of natvis has
//! them. It changes nothing but its own variables, and each of its steps is counted.

use std::sync::Arc;

use super::{
    PrinterExpression,
    nodes::MAX_NODES,
    scope::{PrinterScope, Trouble},
    shape::HeldExpressions,
    show::Printed,
};
use crate::Object;

/// A program that gives elements.
#[derive(Clone, Debug, PartialEq)]
pub struct CustomSteps {
    /// How many elements there are, if the object knows.
    pub size: Option<PrinterExpression>,
    /// Its variables with their first values, each of which may use those before.
    pub variables: Vec<(Arc<str>, PrinterExpression)>,
    /// What it does.
    pub steps: Vec<CustomStep>,
    /// The line of the file on which it begins, from 1.
    pub line: usize,
}

/// A step of a program, which is left out if its condition does not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct CustomStep {
    /// The condition.
    pub when: Option<PrinterExpression>,
    /// What is done.
    pub action: CustomAction,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CustomAction {
    /// Does steps again and again, as long as the condition of the step holds.
    Loop(Vec<CustomStep>),
    /// Does the first of some branches whose condition holds.
    Branches(Vec<(Option<PrinterExpression>, Vec<CustomStep>)>),
    /// Gives an element.
    Item(HeldExpressions),
    /// Gives a variable another value.
    Set(Arc<str>, PrinterExpression),
    /// Leaves the innermost loop.
    Break,
}

/// What a program gave.
pub struct CustomItems {
    /// A key, if it has one, and a value of each element.
    pub items: Vec<(Option<Object>, Object)>,
    /// Why it ended early.
    pub trouble: Option<Trouble>,
    /// Whether it came to its end.
    pub is_whole: bool,
}

/// What comes after a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    /// There are as many elements as are wanted.
    Full,
}

impl CustomSteps {
    /// Whether its elements have keys.
    pub fn has_keys(&self) -> bool {
        has_keys(&self.steps)
    }

    /// Runs it until it has given `most` elements.
    pub fn run(&self, scope: &PrinterScope<'_>, most: u64) -> CustomItems {
        let line = self.line;
        let mut run = Run { scope, line, most, variables: Vec::new(), items: Vec::new(), count: 0 };
        let end = run.begin(self).and_then(|()| run.steps(&self.steps));
        let is_whole = end.as_ref().is_ok_and(|flow| *flow != Flow::Full);
        CustomItems { items: run.items, trouble: end.err(), is_whole }
    }
}

fn has_keys(steps: &[CustomStep]) -> bool {
    steps.iter().any(|step| match &step.action {
        CustomAction::Loop(steps) => has_keys(steps),
        CustomAction::Branches(branches) => branches.iter().any(|(_, steps)| has_keys(steps)),
        CustomAction::Item(held) => held.key.is_some(),
        _ => false,
    })
}

struct Run<'r, 's> {
    scope: &'r PrinterScope<'s>,
    line: usize,
    most: u64,
    variables: Vec<(Arc<str>, Object)>,
    items: Vec<(Option<Object>, Object)>,
    /// Steps that were done, and rounds of loops.
    count: u64,
}

impl Run<'_, '_> {
    fn begin(&mut self, program: &CustomSteps) -> Printed<()> {
        for (name, first) in &program.variables {
            let value = self.object(first)?;
            self.variables.push((Arc::clone(name), value));
        }
        Ok(())
    }

    fn object(&self, expression: &PrinterExpression) -> Printed<Object> {
        self.scope.with(&self.variables).object(expression)
    }

    fn holds(&self, condition: Option<&PrinterExpression>) -> Printed<bool> {
        self.scope.with(&self.variables).holds(condition)
    }

    fn steps(&mut self, steps: &[CustomStep]) -> Printed<Flow> {
        for step in steps {
            match self.step(step)? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn step(&mut self, step: &CustomStep) -> Printed<Flow> {
        self.count()?;
        if let CustomAction::Loop(body) = &step.action {
            return self.repeated(step.when.as_ref(), body);
        }
        if !self.holds(step.when.as_ref())? {
            return Ok(Flow::Next);
        }
        match &step.action {
            CustomAction::Loop(_) => {}
            CustomAction::Break => return Ok(Flow::Break),
            CustomAction::Set(name, value) => self.set(name, value)?,
            CustomAction::Branches(branches) => return self.branch(branches),
            CustomAction::Item(held) => {
                if self.items.len() as u64 >= self.most {
                    return Ok(Flow::Full);
                }
                let key = held.key.as_ref().map(|key| self.object(key)).transpose()?;
                self.items.push((key, self.object(&held.value)?));
            }
        }
        Ok(Flow::Next)
    }

    fn repeated(
        &mut self,
        condition: Option<&PrinterExpression>,
        body: &[CustomStep],
    ) -> Printed<Flow> {
        while self.holds(condition)? {
            self.count()?;
            match self.steps(body)? {
                Flow::Next => {}
                Flow::Break => break,
                Flow::Full => return Ok(Flow::Full),
            }
        }
        Ok(Flow::Next)
    }

    fn branch(
        &mut self,
        branches: &[(Option<PrinterExpression>, Vec<CustomStep>)],
    ) -> Printed<Flow> {
        for (condition, steps) in branches {
            if self.holds(condition.as_ref())? {
                return self.steps(steps);
            }
        }
        Ok(Flow::Next)
    }

    fn set(&mut self, name: &str, value: &PrinterExpression) -> Printed<()> {
        let value_of = self.object(value)?;
        let mut variables = self.variables.iter_mut();
        let found = variables.find(|(own, _)| &**own == name);
        let (_, old) = found.ok_or_else(|| (value.line, format!("there is no variable {name}")))?;
        *old = value_of;
        Ok(())
    }

    fn count(&mut self) -> Printed<()> {
        self.count = self.count.saturating_add(1);
        if self.count > MAX_NODES {
            return Err((self.line, format!("more than {MAX_NODES} steps")));
        }
        match self.scope.process.0.budget().halt() {
            Some(_) => Err((self.line, "it was stopped".to_owned())),
            None => Ok(()),
        }
    }
}
