//! The likely type of a block, in words and as a cell.

use std::sync::Arc;

use kcore::{
    Addr, Core,
    native_heap::{BlockRole, BlockState, BlockType, BlockTypes, OwnedBlock, TypeSource},
    objects::Stopped,
};
use kcore_dcmd::{Cell, Cx, Result};

use crate::watched::watched;

/// What a block of a type is called: `struct node`, `struct node[]`, `part of std::map<int, int>`.
pub fn type_words(ty: &BlockType) -> String {
    let name = &ty.name;
    match ty.role {
        BlockRole::Object => name.to_string(),
        BlockRole::Beginning => format!("{name} and more"),
        BlockRole::Array | BlockRole::CountedArray => format!("{name}[]"),
        BlockRole::Part => format!("part of {name}"),
    }
}

/// The types of all blocks.
///
/// # Errors
/// When the user stopped it.
pub fn types_of(cx: &mut Cx<'_>) -> Result<Arc<BlockTypes>> {
    let core = cx.core().clone();
    watched(cx, |watch| core.heaps().types(watch).ok_or(Stopped))
}

/// The likely type of one block, and what told it.
pub struct TypeText {
    ty: BlockType,
    source: Option<TypeSource>,
}

impl TypeText {
    /// Of a block in use; `None` of others, and where no type is known.
    ///
    /// # Errors
    /// When the user stopped it.
    pub fn of(cx: &mut Cx<'_>, owned: Option<&OwnedBlock>) -> Result<Option<Self>> {
        let Some(owned) = owned.filter(|owned| owned.block.state == BlockState::Used) else {
            return Ok(None);
        };
        let types = types_of(cx)?;
        Ok(Self::known(&types, cx.core(), owned.block.at))
    }

    /// Of the block that holds an address.
    pub fn known(types: &BlockTypes, core: &Core, at: Addr) -> Option<Self> {
        Some(Self { ty: types.at(at)?, source: types.source(core, at) })
    }

    /// `likely struct node by list.head`
    pub fn words(&self) -> String {
        let source = match &self.source {
            Some(TypeSource::Variable(name)) => format!(" by {name}"),
            // An object further inside of the other block leads here, and not the one that the other begins with.
            Some(TypeSource::Block { at, ty, path: None }) if ty.role != BlockRole::Part => {
                format!(" by what lies in the block at {at:x}")
            }
            Some(TypeSource::Block { at, ty, path }) => {
                let path = path.as_ref().map(|path| format!("{path} of ")).unwrap_or_default();
                format!(" by {path}{} at {at:x}", type_words(ty))
            }
            Some(TypeSource::VirtualTable) => " by its virtual functions".to_owned(),
            _ => String::new(),
        };
        let dispute = if self.ty.is_disputed { ", though other pointers disagree" } else { "" };
        format!("likely {}{source}{dispute}", type_words(&self.ty))
    }

    /// The same for machines.
    pub fn cell(&self) -> Cell<'static> {
        let (by, at, path) = match &self.source {
            Some(TypeSource::Variable(name)) => ("variable", None, Some(name.to_string())),
            Some(TypeSource::Block { at, path, .. }) => ("block", Some(*at), path.clone()),
            _ => ("vtable", None, None),
        };
        Cell::Object(vec![
            ("name", Cell::text(self.ty.name.to_string())),
            ("role", Cell::text(self.ty.role.as_str())),
            ("disputed", Cell::Bool(self.ty.is_disputed)),
            ("how", Cell::text(by)),
            ("by", Cell::or_null(path, Cell::text)),
            ("by_block", Cell::or_null(at, Cell::Addr)),
        ])
    }
}
