//! The layout from debug information.

use std::sync::Arc;

use kcore_symbols::{DebugInfo, MemberPlace, Type};

use super::layout::{CURRENT, Layout, StackLayout};
use crate::HostModule;

/// The layout that a module's debug information states, if it has the types.
pub fn layout(module: &dyn HostModule) -> Option<Layout> {
    let info = module.symbols().debug_info()?;
    let meta = Fields::of(info, "bthread::TaskMeta")?;
    let attributes = meta.offset("attr")?;
    let name = meta.inner("attr").and_then(|attr| attr.offset("name"));
    let group = Fields::of(info, "bthread::TaskGroup");
    let current = group.and_then(|group| group.offset("_cur_meta"));
    let switches = meta.inner("stat").and_then(|stat| stat.offset("nswitch"));
    Some(Layout {
        size: meta.ty.size()?,
        waiter: meta.offset("current_waiter")?,
        sleep: meta.offset("current_sleep")?,
        version_butex: meta.offset("version_butex")?,
        id: meta.offset("tid")?,
        entry: meta.offset("fn")?,
        argument: meta.offset("arg")?,
        stack: meta.offset("stack")?,
        attributes,
        name: name.and_then(|name| attributes.checked_add(name)),
        switches: switches.and_then(|switches| meta.offset("stat")?.checked_add(switches)),
        of_stack: stack(info)?,
        current: current.unwrap_or(CURRENT),
        source: "its debug information".into(),
    })
}

fn stack(info: &Arc<DebugInfo>) -> Option<StackLayout> {
    let stack = Fields::of(info, "bthread::ContextualStack")?;
    let (storage, inner) = (stack.offset("storage")?, stack.inner("storage")?);
    Some(StackLayout {
        context: stack.offset("context")?,
        size: storage.checked_add(inner.offset("stacksize")?)?,
        bottom: storage.checked_add(inner.offset("bottom")?)?,
    })
}

/// A structure whose members are asked for by name.
struct Fields {
    ty: Type,
}

impl Fields {
    fn of(info: &Arc<DebugInfo>, name: &str) -> Option<Self> {
        let mut found = info.find_types(name).into_iter();
        found.find(|ty| ty.size().is_some() && ty.composite().is_some()).map(|ty| Self { ty })
    }

    fn offset(&self, name: &str) -> Option<u64> {
        let members = &self.ty.composite()?.members;
        match members.iter().find(|member| member.name.as_deref() == Some(name))?.place {
            MemberPlace::Offset(offset) => Some(offset),
            _ => None,
        }
    }

    /// The structure that a member is.
    fn inner(&self, name: &str) -> Option<Self> {
        let members = &self.ty.composite()?.members;
        let member = members.iter().find(|member| member.name.as_deref() == Some(name))?;
        let ty = self.ty.follow(&member.ty).ok()?.stripped().ok()?;
        ty.composite().is_some().then_some(Self { ty })
    }
}
