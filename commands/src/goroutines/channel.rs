//! `::channel`: a channel of Go.

use std::sync::Arc;

use kcore::{
    Addr, Core,
    go::{Channel as Found, Goroutine},
};
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, DcmdError, Dot, Example, Fields, Group, Record, Result, Spec,
    View,
};

use super::subject;

/// Shows what is in a channel, and who waits for it.
pub struct Channel;

const HELP: &str = "\
The address is that of a channel, as ::goroutine prints it, or the number of a goroutine. That and a \
goroutine from a pipe stand for the channels that it waits on. The type of the elements comes from the tables that Go's compiler always \
makes. Values that are numbers or texts are shown; of others their addresses. Goroutines stand in \
the order in which the runtime would wake them.";

impl Dcmd for Channel {
    fn spec(&self) -> Spec {
        Spec::new("channel", Group::Runtimes, "show a channel of Go, and who waits for it")
            .addr(AddrUse::Required)
            .help(HELP)
            .examples(&[Example {
                line: "::goroutines -r 'chan send' | ::channel",
                shows: "the channels that goroutines wait to send to",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let core = cx.core();
        let wanted = match cx.addr() {
            Some(Dot::Task(_)) => awaited(&*subject::of_dot(cx)?),
            Some(dot) => meant(core, dot.number())?,
            None => return Err(DcmdError::usage("::channel needs an address before it")),
        };
        if wanted.is_empty() {
            return Err(DcmdError::failed("the goroutine waits on no channel"));
        }
        let schedulers = subject::schedulers(core)?;
        let find = |at: Addr| {
            let found = schedulers.iter().find_map(|go| go.channel(core.as_ref(), at));
            found.ok_or_else(|| {
                DcmdError::failed(format!("no channel at {at:x}, and no goroutine {}", at.get()))
            })
        };
        let found: Result<Vec<Found>> = wanted.into_iter().map(find).collect();
        found?.into_iter().try_for_each(|channel| cx.emit(&ChannelRecord(channel)))
    }
}

/// The channel at an address, or where none lies there those of the goroutine of that number.
fn meant(core: &Core, number: u64) -> Result<Vec<Addr>> {
    let (at, schedulers) = (Addr::new(number), subject::schedulers(core)?);
    let is_channel = schedulers.iter().any(|go| go.channel(core, at).is_some());
    let goroutine = schedulers.iter().find_map(|go| go.goroutines(core).numbered(number));
    Ok(match goroutine.filter(|_| !is_channel) {
        Some(goroutine) => awaited(&goroutine),
        None => vec![at],
    })
}

/// The channels that a goroutine waits on: of a `select` several.
fn awaited(goroutine: &Goroutine) -> Vec<Addr> {
    match goroutine.channels.is_empty() {
        true => goroutine.channel.into_iter().collect(),
        false => goroutine.channels.to_vec(),
    }
}

/// Numbers that are shown of those that wait on one side.
const SHOWN: usize = 16;

struct ChannelRecord(Found);

impl ChannelRecord {
    fn waiting(all: &[u64]) -> Cell<'static> {
        let shown: Vec<String> = all.iter().take(SHOWN).map(u64::to_string).collect();
        let rest = all.len().saturating_sub(SHOWN);
        let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        Cell::or_null((!all.is_empty()).then(|| shown.join(" ") + &more), Cell::text)
    }

    fn values(&self) -> Vec<Cell<'_>> {
        let value = |(at, value): &(Addr, Option<Arc<str>>)| {
            let value = value.as_ref().map(ToString::to_string);
            Cell::Object(vec![
                ("address", Cell::Addr(*at)),
                ("value", Cell::or_null(value, Cell::text)),
            ])
        };
        self.0.values.iter().map(value).collect()
    }

    fn shown_values(&self) -> Option<String> {
        let value = |(at, value): &(Addr, Option<Arc<str>>)| {
            value.as_ref().map_or_else(|| format!("at {at:x}"), ToString::to_string)
        };
        let all: Vec<String> = self.0.values.iter().map(value).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}

impl Record for ChannelRecord {
    fn kind(&self) -> &'static str {
        "channel"
    }

    fn view(&self) -> View {
        View::Line(
            "{address:x}: chan {element}, {count} of {capacity}{shown_closed?, {shown_closed}}\
             {shown_values?\n    values: {shown_values}}\
             {shown_receivers?\n    wait to receive: {shown_receivers}}\
             {shown_senders?\n    wait to send: {shown_senders}}\
             {doubt?\n    -- {doubt}}",
        )
    }

    fn fields<'b>(&'b self, out: &mut Fields<'b>) {
        let channel = &self.0;
        let list = |all: &[u64]| Cell::List(all.iter().map(|id| Cell::Num(*id)).collect());
        out.addr("address", channel.at)
            .text("element", &*channel.element)
            .num("count", channel.count)
            .num("capacity", channel.capacity)
            .flag("closed", channel.closed)
            .put("values", Cell::List(self.values()))
            .put("receivers", list(&channel.receivers))
            .put("senders", list(&channel.senders))
            .opt_text("doubt", channel.doubt)
            .display("shown_closed", Cell::or_null(channel.closed.then_some("closed"), Cell::text))
            .display("shown_values", Cell::or_null(self.shown_values(), Cell::text))
            .display("shown_receivers", Self::waiting(&channel.receivers))
            .display("shown_senders", Self::waiting(&channel.senders));
    }

    fn dot(&self) -> Option<Dot> {
        Some(Dot::Addr(self.0.at))
    }
}
