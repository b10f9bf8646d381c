//! `::v8function` — what V8 keeps about a function.

use kcore::Addr;
use kcore::v8::FunctionView;
use kcore_dcmd::{
    AddrUse, Args, Cell, Cx, Dcmd, Example, Fields, Group, Opt, Record, Result, Spec, View,
};

use super::v8code;
use crate::v8::subject::Subject;

/// Shows the parts of a function.
pub struct V8function;

impl Dcmd for V8function {
    fn spec(&self) -> Spec {
        let summary = "show what V8 keeps about a function: context, script, bytecode, code";
        Spec::new("v8function", Group::Runtimes, summary)
            .addr(AddrUse::Required)
            .options(&[Opt { flag: 'd', value: None, help: "also disassemble its code" }])
            .help(
                "The code is the one that the function is set to run. Since V8 13, a function \
                 holds a handle into a table instead. To see what runs, use ::v8code with a pc \
                 of a stack.",
            )
            .examples(&[Example {
                line: "::jsstack -f Array.map -p arg1 | ::v8function",
                shows: "the parts of a callback",
            }])
    }

    fn run(&self, cx: &mut Cx<'_>, args: &Args) -> Result<()> {
        let subject = Subject::of(cx)?;
        let found = subject.v8.function(subject.core, subject.word);
        let found = found.ok_or_else(|| subject.not_an("function"))?;
        cx.emit(&FunctionRecord { at: Addr::new(subject.word), function: &found })?;
        match found.code.as_ref().filter(|_| args.has('d')) {
            Some(code) => v8code::disassemble(cx, code),
            None => Ok(()),
        }
    }
}

struct FunctionRecord<'f> {
    at: Addr,
    function: &'f FunctionView,
}

impl Record for FunctionRecord<'_> {
    fn kind(&self) -> &'static str {
        "v8_function"
    }

    fn view(&self) -> View {
        View::Line(
            "{address}: JSFunction: {name}{name^<anonymous>}\n    shared: {shared}\
             {context?\n    context: {context}}{scope_info?\n    scope info: {scope_info}}\
             {script?\n    script: {script}}{bytecode?\n    bytecode: {bytecode}}\
             {parameters?\n    parameters: {parameters}}{code?\n    code: {code} ({code_kind})}",
        )
    }

    fn fields<'a>(&'a self, out: &mut Fields<'a>) {
        let function = self.function;
        let tagged = |at: Option<Addr>| at.map(|at| Addr::new(at.get() | 1));
        let code = function.code.as_ref();
        out.addr("address", self.at)
            .opt_text("name", function.name.as_deref())
            .addr("shared", tagged(Some(function.shared)))
            .addr("context", tagged(function.context))
            .addr("scope_info", tagged(function.scope_info))
            .addr("script", tagged(function.script))
            .addr("bytecode", tagged(function.bytecode))
            .num("parameters", function.parameters)
            .addr("code", tagged(code.map(|code| code.at)))
            .put("code_kind", Cell::or_null(code.map(|code| code.kind), Cell::text));
    }
}
