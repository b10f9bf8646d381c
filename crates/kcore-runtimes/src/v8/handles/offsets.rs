//! Where Node.js keeps its lists, as it tells debuggers.

use crate::{Host, v8::V8};

/// Where lists and their members lie.
pub struct Offsets {
    /// Among a context's data of the embedder: the environment.
    pub environment_slot: u64,
    /// Environment: the head of its handles.
    pub handles: u64,
    /// A handle: its node in that list.
    pub handle_node: u64,
    /// Environment: the head of its requests.
    pub requests: u64,
    /// A request: its node in that list.
    pub request_node: u64,
    /// A node: the next one.
    pub next: u64,
    /// An object of C++: what keeps its object of JavaScript.
    pub persistent: u64,
}

impl Offsets {
    /// The offsets, or why they are not known.
    pub fn load(v8: &V8, host: &dyn Host) -> Result<Self, &'static str> {
        let found = Self::read(v8, host)
            .ok_or("the numbers nodedbg_* are missing: handles and requests are not known")?;
        // They are 0 until the process has started.
        (found.handles != 0 && found.handle_node != 0)
            .then_some(found)
            .ok_or("Node.js had not started yet: handles and requests are not known")
    }

    fn read(v8: &V8, host: &dyn Host) -> Option<Self> {
        let number = |name| node_number(v8, host, name);
        let head = number("offset_Environment_HandleWrapQueue__head___ListNode_HandleWrap")?;
        Some(Self {
            environment_slot: number("const_ContextEmbedderIndex__kEnvironment__int")?,
            handles: number("offset_Environment__handle_wrap_queue___Environment_HandleWrapQueue")?
                .checked_add(head)?,
            handle_node: number("offset_HandleWrap__handle_wrap_queue___ListNode_HandleWrap")?,
            requests: number("offset_Environment__req_wrap_queue___Environment_ReqWrapQueue")?,
            request_node: number("offset_ReqWrap__req_wrap_queue___ListNode_ReqWrapQueue")?,
            next: number("offset_ListNode_HandleWrap__next___uintptr_t")?,
            persistent: number("offset_BaseObject__persistent_handle___v8_Persistent_v8_Object")?,
        })
    }
}

/// A number that Node.js keeps for debuggers, as it is in the process.
fn node_number(v8: &V8, host: &dyn Host, name: &str) -> Option<u64> {
    let modules = host.modules();
    let module = modules.into_iter().find(|module| v8.owns(*module))?;
    let (svma, _) = module.exported(&format!("nodedbg_{name}"))?;
    host.space().read_uint(module.addr(svma)?, 4).ok()
}
