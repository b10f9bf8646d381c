//! A session as dcmds see it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use kcore::{DeclaredPrinters, PrinterExpression, PrinterFile, SessionTypes, Tid};
use kcore_dcmd::{
    Dcmd, DcmdError, Dot, LogRequest, LogState, MacroCall, PrivateSymbols, Result, Settings, Shell,
    Sink, Variable, Walker,
};

use crate::eval::{self, Scope};
use crate::parse;
use crate::session::{Session, Source};

/// Notes of a session that are given once, at most: those beyond are not given.
const MAX_NOTED: usize = 256;

/// Columns of a line that goes to no terminal.
const PAGE_WIDTH: usize = 80;

impl Shell for Session {
    fn current_thread(&self) -> Option<Tid> {
        self.thread
    }

    fn set_current_thread(&mut self, tid: Tid) {
        self.thread = Some(tid);
        (self.frame, self.named_frame) = (0, None);
    }

    fn current_frame(&self) -> usize {
        self.frame
    }

    fn current_named_frame(&self) -> Option<usize> {
        self.named_frame
    }

    fn set_current_frame(&mut self, index: usize, named: usize) {
        (self.frame, self.named_frame) = (index, Some(named));
    }

    fn set_dot(&mut self, dot: Dot, increment: u64) {
        self.dot = dot;
        self.increment = increment;
    }

    fn evaluate(&self, expression: &str) -> Result<u64> {
        let expr = parse::expression(expression, self.reading())
            .map_err(|error| DcmdError::failed(error.to_string()))?;
        eval::evaluate(&expr, self)
    }

    fn eval(&mut self, text: &str, dot: Dot, pipe_out: bool, sink: &mut dyn Sink) -> Result<()> {
        self.nested(pipe_out, |session| {
            session.dot = dot;
            session.run_text(Source::Text, text, sink)
        })
    }

    fn run_macro(
        &mut self,
        name: Option<&str>,
        call: MacroCall,
        count: Option<u64>,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        match name {
            Some(name) => self.call_macro(name, call, count, sink),
            None => self.leave_macro(count),
        }
    }

    fn variable(&self, name: &str) -> Result<u64> {
        Scope::variable(self, name)
    }

    fn set_variable(&mut self, name: &str, value: u64) -> Result<()> {
        // A register is never among the variables, and to look for one takes longer.
        if self.variables.get(name).is_none() && self.is_register(name) {
            return Err(DcmdError::failed(format!(
                "failed to write register '{name}': target is not open for writing"
            )));
        }
        self.variables.set(name, value)
    }

    fn typeset(&mut self, name: &str, tagged: Option<bool>) -> Result<()> {
        if self.is_register(name) {
            return Err(DcmdError::failed(format!(
                "cannot modify read-only variable '{name}': it is a register"
            )));
        }
        let initial = Scope::variable(self, name).unwrap_or(0);
        self.variables.typeset(name, initial, tagged)
    }

    fn unset(&mut self, name: &str) -> Result<()> {
        if self.is_register(name) {
            return Err(DcmdError::failed(format!("cannot remove persistent variable '{name}'")));
        }
        self.variables.unset(name)
    }

    fn variables(&self) -> Vec<Variable> {
        self.all_variables()
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn settings_mut(&mut self) -> &mut Settings {
        &mut self.settings
    }

    fn private_symbols(&self) -> &Arc<PrivateSymbols> {
        &self.private_symbols
    }

    fn private_symbols_mut(&mut self) -> &mut PrivateSymbols {
        Arc::make_mut(&mut self.private_symbols)
    }

    fn types(&self) -> &SessionTypes {
        &self.types
    }

    fn types_mut(&mut self) -> &mut SessionTypes {
        &mut self.types
    }

    fn printers(&self) -> &Arc<DeclaredPrinters> {
        self.printers.get_or_init(|| Arc::new(self.found_printers()))
    }

    fn load_printers(&mut self, path: &Path) -> Result<Arc<PrinterFile>> {
        let file = Arc::new(self.read_printers(path, false)?);
        self.change_printers(|printers| printers.load(Arc::clone(&file)));
        Ok(file)
    }

    fn unload_printers(&mut self, name: &str) -> bool {
        self.change_printers(|printers| printers.unload(name))
    }

    fn run_declared(
        &mut self,
        pipeline: &PrinterExpression,
        arguments: &[String],
        dot: Dot,
        pipe_out: bool,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        self.dot = dot;
        self.run_pipeline(pipeline, arguments, pipe_out, sink)
    }

    fn typed_lines(&self) -> &[String] {
        &self.typed
    }

    fn log(&mut self, request: LogRequest<'_>) -> Result<LogState> {
        if self.depth > 0 && request != LogRequest::Show {
            return Err(DcmdError::failed("log may not be manipulated in this context"));
        }
        self.log.ask(&self.core, request)
    }

    fn page_width(&self) -> usize {
        let chosen = self.settings.page_width;
        chosen.or_else(self.options.terminal_width).unwrap_or(PAGE_WIDTH)
    }

    fn radix(&self) -> u32 {
        self.radix
    }

    fn set_radix(&mut self, radix: u64) -> Result<()> {
        self.radix =
            u32::try_from(radix).ok().filter(|radix| (2..=16).contains(radix)).ok_or_else(
                || DcmdError::failed(format!("expected radix from 2 to 16, not {radix}")),
            )?;
        Ok(())
    }

    fn dcmds(&self) -> &[&'static dyn Dcmd] {
        self.options.dcmds
    }

    fn walkers(&self) -> &[&'static dyn Walker] {
        self.options.walkers
    }

    fn interrupted(&self) -> bool {
        self.core.budget().interrupt().load(Ordering::SeqCst)
    }

    fn remember_failure(&mut self) {
        self.part_failed = true;
    }

    fn is_news(&mut self, text: &str) -> bool {
        self.noted.len() < MAX_NOTED && self.noted.insert(text.to_owned())
    }
}
