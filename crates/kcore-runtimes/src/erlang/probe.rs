//! How Erlang is found.

use std::sync::{Arc, OnceLock};

use kcore_mem::{Addr, Arch, Built};

use super::{Erlang, ids::Ids, layout::Layout, memory::Memory, roots::Roots};
use crate::{Damage, Finding, Host, HostModule, Identity, Probe};

/// Looks for Erlang's virtual machine.
pub const PROBE: Probe = Probe { name: NAME, find };

/// What it is called.
pub const NAME: &str = "erlang";

/// The virtual machine has more code.
const MIN_CODE: u64 = 512 << 10;
/// Text with the release, and with the version of the virtual machine.
const RELEASE: &str = "etp_otp_release";
const VERSION: &str = "etp_erts_version";
/// Whether code is compiled when it is loaded.
const HAS_JIT: &str = "etp_beamasm";
/// Whether frames of Erlang have frame pointers.
const FRAME_LAYOUT: &str = "erts_frame_layout";
/// Bytes of a version, at most.
const MAX_VERSION: usize = 32;

fn find(host: &dyn Host) -> Vec<Finding> {
    let modules = host.modules().into_iter().filter(|module| module.code_size() >= MIN_CODE);
    let with = modules.filter(|module| module.exported(RELEASE).is_some());
    with.map(|module| match find_in(host, module) {
        Ok(erlang) => Finding::Found(Box::new(erlang)),
        Err(damage) => Finding::Damaged(damage),
    })
    .collect()
}

fn find_in(host: &dyn Host, module: &dyn HostModule) -> Result<Erlang, Damage> {
    let text = |name| text(host, module, name);
    let (release, erts) = (text(RELEASE), text(VERSION));
    let version: Option<Arc<str>> = release.as_ref().map(|release| match &erts {
        Some(erts) => format!("{release}, erts {erts}").into(),
        None => release.as_str().into(),
    });
    let damaged = |why: String| {
        let why = format!("Erlang/OTP in {}: {why}", module.name()).into();
        Damage { name: NAME, version: version.clone(), why, stand_in: None }
    };
    if host.space().target().arch != Arch::X86_64 {
        return Err(damaged("its layouts are known on x86-64 only".to_owned()));
    }
    let release = release.ok_or_else(|| {
        damaged("its version is not known: what tells it was not dumped".to_owned())
    })?;
    let layout = Layout::of(&release).ok_or_else(|| {
        let known = Layout::releases();
        damaged(format!("the layouts of release {release} are not known (those of {known} are)"))
    })?;
    let memory = Memory { space: host.space(), layout };
    let roots =
        Roots::of(module, &memory).map_err(|name| damaged(format!("it does not export {name}")))?;
    let mut erlang = Erlang::with_roots(host, layout, roots).map_err(damaged)?;
    let flag = |name| {
        let at = module.addr(module.exported(name)?.0)?;
        memory.uint32(at, 0)
    };
    let form = if flag(HAS_JIT) == Some(0) { ", by its emulator" } else { "" };
    let frame_pointers = flag(FRAME_LAYOUT).is_some_and(|layout| layout != 0);
    erlang.identity = Identity {
        name: NAME,
        version,
        instance: module.name().into(),
        metadata: format!("the layouts of release {release}{form}").into(),
        undecoded: undecoded(&erlang, frame_pointers),
    };
    Ok(erlang)
}

fn undecoded(erlang: &Erlang, frame_pointers: bool) -> Vec<crate::Undecoded> {
    let code = erlang.roots.ranges.is_none();
    let code = code.then_some(
        "the functions of processes: the ranges of code are not found, or were not dumped",
    );
    let frames = frame_pointers
        .then_some("frame pointers on stacks of processes: return addresses alone are shown");
    code.into_iter().chain(frames).map(Into::into).collect()
}

fn text(host: &dyn Host, module: &dyn HostModule, name: &str) -> Option<String> {
    let at = module.addr(module.exported(name)?.0)?;
    let held = host.space().read_cstr(at, MAX_VERSION).ok()?;
    let is_text = !held.is_empty() && held.iter().all(|byte| byte.is_ascii_graphic());
    is_text.then(|| String::from_utf8(held).ok()).flatten()
}

impl Erlang {
    /// That whose variables lie at these places: for who knows where they lie.
    ///
    /// # Errors
    /// In words, where what lies there is not what the layout says.
    pub(super) fn with_roots(
        host: &dyn Host,
        layout: &'static Layout,
        roots: Roots,
    ) -> Result<Self, String> {
        let memory = Memory { space: host.space(), layout };
        let unread = || "its table of processes was not dumped".to_owned();
        let size = memory.uint(roots.processes, layout.element_size, 4).ok_or_else(unread)?;
        if size != layout.process_size {
            let wanted = layout.process_size;
            return Err(format!(
                "its processes have {size} bytes, and {wanted} in the known layout"
            ));
        }
        let ids = Ids::of(&memory, roots.processes).ok_or_else(unread)?;
        let of_ports = |at: Addr| Ids::of(&memory, at);
        Ok(Self {
            identity: Identity::new(NAME, ""),
            layout,
            ids,
            ports: roots.ports.and_then(of_ports).unwrap_or(ids),
            roots,
            code: Arc::default(),
            known: Built::new(),
            schedulers: OnceLock::new(),
        })
    }
}
