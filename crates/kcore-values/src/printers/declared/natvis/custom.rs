//! `CustomListItems` of natvis.

use std::sync::Arc;

use roxmltree::Node;

use super::{Reader, elements};
use crate::printers::declared::{
    CustomAction, CustomStep, CustomSteps, PrinterExpression, shape::HeldExpressions,
};

/// Elements within elements, at most.
const MAX_LEVELS: u32 = 32;

impl Reader<'_, '_> {
    /// The program that an element is; `None` if a part of it is not understood, which is then said.
    pub(super) fn custom(&mut self, node: Node<'_, '_>) -> Option<CustomSteps> {
        let size = elements(node, "Size").next().map(|size| self.expression(size));
        let variables = elements(node, "Variable").map(|variable| {
            let name = variable.attribute("Name")?.trim().into();
            Some((name, self.attribute(variable, "InitialValue")?))
        });
        let variables: Option<Vec<_>> = variables.collect();
        let line = self.line(node);
        Some(CustomSteps { size, variables: variables?, steps: self.steps(node, 0)?, line })
    }

    fn steps(&mut self, parent: Node<'_, '_>, level: u32) -> Option<Vec<CustomStep>> {
        if level > MAX_LEVELS {
            return None;
        }
        let mut steps: Vec<CustomStep> = Vec::new();
        for node in parent.children().filter(Node::is_element) {
            let when = self.condition(node);
            let inner = level.saturating_add(1);
            let action = match node.tag_name().name() {
                "Variable" | "Size" | "Skip" => continue,
                "Loop" => CustomAction::Loop(self.steps(node, inner)?),
                "If" => CustomAction::Branches(vec![(when, self.steps(node, inner)?)]),
                "Elseif" | "Else" => {
                    let branch = (when, self.steps(node, inner)?);
                    let Some(CustomAction::Branches(branches)) =
                        steps.last_mut().map(|step| &mut step.action)
                    else {
                        return None;
                    };
                    branches.push(branch);
                    continue;
                }
                "Break" => CustomAction::Break,
                "Exec" => self.exec(node)?,
                "Item" => CustomAction::Item(self.held(node)),
                _ => return None,
            };
            let when = match action {
                CustomAction::Branches(_) => None,
                _ => self.condition(node),
            };
            steps.push(CustomStep { when, action });
        }
        Some(steps)
    }

    /// An element, whose key its name is where that is nothing but `[{key}]`.
    fn held(&self, node: Node<'_, '_>) -> HeldExpressions {
        let name = node.attribute("Name").unwrap_or_default().trim();
        let key = name.strip_prefix("[{").and_then(|name| name.strip_suffix("}]"));
        let key = key.filter(|key| !key.contains(['{', '}']));
        let key = key.map(|key| self.of_text(node, key));
        HeldExpressions { key, value: self.expression(node) }
    }

    /// An assignment to a variable: `n = x`, `n += x`, `n++`, `--n`.
    fn exec(&self, node: Node<'_, '_>) -> Option<CustomAction> {
        let text = node.text()?.trim().trim_end_matches(';').trim();
        for sign in ["++", "--"] {
            if let Some(name) = text.strip_prefix(sign).or_else(|| text.strip_suffix(sign)) {
                let step = sign.get(..1)?;
                return self.set(node, name, &format!("{} {step} 1", name.trim()));
            }
        }
        let (left, value) = text.split_once('=').filter(|(_, value)| !value.starts_with('='))?;
        match left.trim_end().strip_suffix(['+', '-', '*', '/', '%', '&', '|', '^']) {
            Some(name) => {
                let sign = left.trim_end().get(name.len()..)?;
                self.set(node, name, &format!("{} {sign} ({})", name.trim(), value.trim()))
            }
            None => self.set(node, left, value),
        }
    }

    fn set(&self, node: Node<'_, '_>, name: &str, value: &str) -> Option<CustomAction> {
        let name: Arc<str> = name.trim().into();
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        is_name.then(|| CustomAction::Set(name, self.of_text(node, value)))
    }

    fn attribute(&self, node: Node<'_, '_>, name: &str) -> Option<PrinterExpression> {
        node.attribute(name).map(|text| self.of_text(node, text))
    }
}
