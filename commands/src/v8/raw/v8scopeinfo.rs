//! `::v8scopeinfo` — what is known of a scope before it runs.

use kcore::Addr;
use kcore::v8::ScopeView;
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, Example, Fields, Group, Record, Result, Spec, View,
};

use crate::v8::subject::Subject;

/// Shows a ScopeInfo.
pub struct V8scopeinfo;

impl Dcmd for V8scopeinfo {
    fn spec(&self) -> Spec {
        let summary = "show a ScopeInfo: the names of a scope's variables";
        Spec::new("v8scopeinfo", Group::Runtimes, summary)
            .addr(AddrUse::Required)
            .help(
                "The address is that of a ScopeInfo, or of a function or context, which stands \
                 for its ScopeInfo.",
            )
            .examples(&[Example {
                line: "::jsstack -f Array.map -p arg1 | ::v8scopeinfo",
                shows: "the scope of a callback",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, _args: &Args) -> Result<()> {
        let subject = Subject::of(cx)?;
        let found = subject.v8.scope_info(subject.core, subject.word);
        let found = found.ok_or_else(|| subject.not_an("ScopeInfo, function or context"))?;
        cx.emit(&ScopeInfoRecord { at: Addr::new(subject.word), scope: found })
    }
}

struct ScopeInfoRecord {
    at: Addr,
    scope: ScopeView,
}

impl Record for ScopeInfoRecord {
    fn kind(&self) -> &'static str {
        "v8_scope_info"
    }

    fn view(&self) -> View {
        View::Line(
            "flags: {flags:#x}{function?\nfunction: {function}}{inferred?\ninferred name: {inferred}}\
             {start?\nsource: {start} to {end}}{locals*\n    {.}}",
        )
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let scope = &self.scope;
        out.addr("address", self.at)
            .hex("flags", scope.flags)
            .opt_text("function", scope.function.as_deref())
            .opt_text("inferred", scope.inferred.as_deref())
            .num("start", scope.positions.map(|(start, _)| start))
            .num("end", scope.positions.map(|(_, end)| end))
            .put("locals", Cell::List(scope.locals.iter().map(|it| Cell::text(&**it)).collect()));
    }
}
