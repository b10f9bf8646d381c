//! `::check` — whether the core is whole, and which threads it hurts if it is not.

use kcore::{CoreCheck, HurtThread};
use kcore_dcmd::{
    Args, Cell, Cx, Dcmd, DcmdError, Example, Fields, Group, Record, Result, Spec, View,
};

const VIEW: &str = "{verdict}{lines?\n{lines:m}}";

const EXAMPLES: &[Example] =
    &[Example { line: "::check", shows: "whether anything is missing in the core file" }];

const HELP: &str = "\
Says whether the core file has all that its headers name. If it has not, it names the threads whose \
stacks end where the file does. Stacks that read as zeros count as well: \
they were not read when the core was written. The command then fails, so that a script sees it by the exit status.

What the kernel left out on purpose is no damage: ::status tells of it.";

/// Says whether the core is whole.
pub struct Check;

impl Dcmd for Check {
    fn spec(&self) -> Spec {
        Spec::new("check", Group::Process, "say whether the core file is whole")
            .help(HELP)
            .examples(EXAMPLES)
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        if cx.core().file().is_none() {
            return Err(DcmdError::failed("an executable, not a core"));
        }
        let check = cx.core().check();
        let is_whole = check.is_whole();
        cx.emit(&CheckRecord(check))?;
        if is_whole { Ok(()) } else { Err(DcmdError::failed("the core is not whole")) }
    }
}

struct CheckRecord(CoreCheck);

impl CheckRecord {
    fn verdict(&self) -> String {
        let (threads, hurt) = (self.0.threads, self.0.hurt.len());
        let count = if threads == 1 { "1 thread".to_owned() } else { format!("{threads} threads") };
        match (self.0.is_whole(), self.0.may_lack_threads) {
            (true, _) => format!("whole: {count}{}", self.left_out()),
            (false, _) if threads == 0 => "not whole: no threads are left".to_owned(),
            (false, true) => {
                format!(
                    "not whole: {count} left, others may be missing; stacks of {hurt} are cut off"
                )
            }
            (false, false) => format!("not whole: stacks of {hurt} of {count} are cut off"),
        }
    }

    /// What was left out on purpose, in words.
    fn left_out(&self) -> String {
        match self.0.left_out_bytes {
            0 => String::new(),
            bytes => format!("; {bytes} bytes of memory were left out when it was written"),
        }
    }

    fn lines(&self) -> Option<String> {
        let damage = self.0.damage.iter().map(|damage| format!("  {damage}"));
        let hurt = self.0.hurt.iter().map(|hurt| {
            let HurtThread { tid, frames, why, .. } = hurt;
            format!("  thread {tid}: {frames} frames are left: {why}")
        });
        let lines: Vec<String> = damage.chain(hurt).collect();
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

impl Record for CheckRecord {
    fn kind(&self) -> &'static str {
        "check"
    }

    fn view(&self) -> View {
        View::Line(VIEW)
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let check = &self.0;
        let hurt = |hurt: &'a HurtThread| {
            Cell::Object(vec![
                ("tid", Cell::Num(u64::from(hurt.tid.get()))),
                ("frames", Cell::Num(hurt.frames as u64)),
                ("why", Cell::text(hurt.why.as_str())),
            ])
        };
        let damage = check.damage.iter().map(|damage| Cell::text(damage.as_str()));
        out.flag("whole", check.is_whole())
            .put("damage", Cell::List(damage.collect()))
            .num("missing_bytes", check.missing_bytes)
            .num("left_out_bytes", check.left_out_bytes)
            .flag("may_lack_threads", check.may_lack_threads)
            .num("threads", check.threads as u64)
            .put("hurt", Cell::List(check.hurt.iter().map(hurt).collect()))
            .display("verdict", Cell::text(self.verdict()))
            .display("lines", Cell::or_null(self.lines(), Cell::text));
    }
}
