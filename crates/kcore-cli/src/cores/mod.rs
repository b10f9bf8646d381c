//! `kcore cores`: the cores that the system keeps.

mod args;
mod record;
mod stored;
mod time;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use kcore_dcmd::DcmdError;
use kcore_render::io_reason;

pub(crate) use args::CoresArgs;
pub(crate) use stored::latest;

use crate::{args::USAGE, output, target::shown};
use record::CoreRecord;

/// Bytes of an address: none is shown.
const WORD_SIZE: usize = 8;

/// Lists them.
pub(crate) fn run(args: &CoresArgs) -> ExitCode {
    match list(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "kcore: {error:#}");
            ExitCode::from(USAGE)
        }
    }
}

fn list(args: &CoresArgs) -> Result<()> {
    let folder = args.folder.clone().unwrap_or_else(stored::folder);
    let cores = stored::in_folder(&folder);
    let cores = cores.map_err(|error| anyhow::anyhow!("{}", io_reason(&error)));
    let cores = cores.with_context(|| shown(&folder))?;
    let format = output::format(args.json, args.color, WORD_SIZE);
    match write(&cores, &folder, format, args) {
        // Nobody reads any more.
        Err(DcmdError::Closed) => Ok(()),
        written => Ok(written?),
    }
}

fn write(
    cores: &[stored::StoredCore],
    folder: &Path,
    format: kcore_render::Format,
    args: &CoresArgs,
) -> Result<(), DcmdError> {
    let mut sink = output::sink(format, args.color, None, None)?;
    if cores.is_empty() {
        sink.note(&format!("{} has no cores", shown(folder)))?;
    }
    for core in cores {
        sink.put(&CoreRecord::new(core))?;
    }
    sink.finish()
}
