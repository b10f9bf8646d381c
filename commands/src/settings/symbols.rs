//! `$s`, `$G`, `$g` — how addresses are named.

use kcore_dcmd::{AddrUse, Args, Cx, Dcmd, Example, Group, Message, Result, Spec, prefixed};

/// Shows or sets the distance from a symbol at which its name counts.
pub struct Distance;

/// Switches demangling.
pub struct Demangling;

/// Shows whether names are demangled.
pub struct DemanglingState;

impl Dcmd for Distance {
    fn spec(&self) -> Spec {
        Spec::new("$s", Group::Language, "show or set the distance up to which a symbol applies")
            .addr(AddrUse::Optional)
            .help(
                "The address is the greatest distance from the start of a symbol at which its \
                 name is shown. 0 is smart mode: each symbol applies as far as its size \
                 reaches.",
            )
            .examples(&[Example { line: "$s", shows: "the distance" }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        if let Some(dot) = cx.addr() {
            cx.shell_mut().settings_mut().symbol_distance = dot.number();
        }
        let distance = cx.shell().settings().symbol_distance;
        let text = distance_text(distance, cx.shell().radix());
        cx.emit(&Message(format!("symbol matching distance = {text}")))
    }
}

/// The distance with the name of its mode.
pub fn distance_text(distance: u64, radix: u32) -> String {
    match distance {
        0 => "0 (smart mode)".to_owned(),
        distance => format!("{} (absolute mode)", prefixed(distance, radix)),
    }
}

impl Dcmd for Demangling {
    fn spec(&self) -> Spec {
        Spec::new("$G", Group::Language, "turn the demangling of names on or off")
            .help("Shows names of C++ and Rust as in their source, or as the linker has them.")
            .examples(&[Example { line: "$G", shows: "that demangling is off now" }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let settings = cx.shell_mut().settings_mut();
        settings.demangle = !settings.demangle;
        let state = if settings.demangle { "enabled" } else { "disabled" };
        cx.emit(&Message(format!("C++ symbol demangling {state}")))
    }
}

impl Dcmd for DemanglingState {
    fn spec(&self) -> Spec {
        Spec::new("$g", Group::Language, "say whether names are demangled")
            .help("Names show their scope and no arguments. There are no other modes.")
            .examples(&[Example { line: "$g", shows: "whether demangling is on" }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let text = match cx.shell().settings().demangle {
            true => "C++ demangling facility is currently enabled",
            false => "C++ demangling facility is currently disabled",
        };
        cx.emit(&Message(text.to_owned()))
    }
}
