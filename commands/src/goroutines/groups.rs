//! Goroutines that do the same.

use std::{collections::HashMap, sync::Arc};

use kcore::{Core, Task, TaskId, go::Goroutine};
use kcore_dcmd::{
    Cell, Cx, Fields, Record, Result, View,
    stack::{Layout, MAX_GROUP_FRAMES, StackEnd},
};

use super::subject::id;
use crate::names::Names;

/// Numbers that are shown of one group.
const SHOWN: usize = 8;

/// Goroutines with the same stack that wait for the same.
struct Alike {
    state: &'static str,
    reason: Option<&'static str>,
    ids: Vec<u64>,
}

/// What is kept of each goroutine while they are grouped.
struct Grouped {
    id: u64,
    state: &'static str,
    reason: Option<&'static str>,
}

/// Shows goroutines grouped by stack, state and reason, most common first.
pub fn show(cx: &mut Cx<'_>, goroutines: impl Iterator<Item = Arc<Goroutine>>) -> Result<()> {
    let core = cx.core();
    for (alike, stack) in groups(core, goroutines) {
        cx.check_interrupt()?;
        cx.begin(&alike, "frames")?;
        let names = Names::new(cx);
        for frame in core.stacks().named_frames(&stack) {
            cx.emit(&names.frame_line(stack.tid, frame, Layout::Indented))?;
        }
        cx.end(&StackEnd::new(core, &stack, Layout::Indented))?;
    }
    Ok(())
}

fn groups(
    core: &Core,
    goroutines: impl Iterator<Item = Arc<Goroutine>>,
) -> Vec<(Alike, kcore::Stack)> {
    let (mut by_id, mut tasks) = (HashMap::new(), Vec::<Arc<Task>>::new());
    for goroutine in goroutines {
        let Goroutine { id: number, reason, .. } = *goroutine;
        let state = goroutine.state.as_str();
        by_id.insert(id(&goroutine), Grouped { id: number, state, reason });
        tasks.extend(core.tasks().by_id(id(&goroutine)).cloned());
    }
    let running = tasks.iter().filter_map(|task| task.thread);
    let mut found = Vec::new();
    for group in core.stacks().groups(&running.collect::<Vec<_>>(), &tasks, MAX_GROUP_FRAMES) {
        let on_threads = group.tids.iter().filter_map(|tid| core.tasks().of_thread(*tid));
        let all = on_threads.chain(&group.tasks).filter_map(|task| by_id.get(&TaskId::of(task)));
        for alike in by_reason(all) {
            found.push((alike, group.stack.clone()));
        }
    }
    found.sort_by_key(|(alike, _)| std::cmp::Reverse(alike.ids.len()));
    found
}

fn by_reason<'g>(goroutines: impl Iterator<Item = &'g Grouped>) -> Vec<Alike> {
    let mut found: Vec<Alike> = Vec::new();
    for goroutine in goroutines {
        let (state, reason) = (goroutine.state, goroutine.reason);
        match found.iter_mut().find(|alike| (alike.state, alike.reason) == (state, reason)) {
            Some(alike) => alike.ids.push(goroutine.id),
            None => found.push(Alike { state, reason, ids: vec![goroutine.id] }),
        }
    }
    found
}

impl Alike {
    fn shown(&self) -> String {
        let numbers: Vec<String> = self.ids.iter().take(SHOWN).map(u64::to_string).collect();
        let rest = self.ids.len().saturating_sub(SHOWN);
        let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        format!("{}{more}", numbers.join(" "))
    }
}

impl Record for Alike {
    fn kind(&self) -> &'static str {
        "goroutine_group"
    }

    fn view(&self) -> View {
        View::Line("{count} {state}{reason?, {reason}}: {shown_ids}")
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        out.num("count", self.ids.len() as u64)
            .text("state", self.state)
            .opt_text("reason", self.reason)
            .put("ids", Cell::List(self.ids.iter().map(|id| Cell::Num(*id)).collect()))
            .display("shown_ids", Cell::text(self.shown()));
    }
}
