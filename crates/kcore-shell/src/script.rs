//! Scripts: lines from a file or a pipe, run one by one as they come.

use std::io::{self, BufRead, Read};

use kcore_dcmd::{DcmdError, Sink};
use kcore_render::io_reason;

use crate::limits;
use crate::session::{Session, Source};
use crate::status::Status;

/// Runs the lines of `input`, which errors call `name`, until they end or one of them ends the
/// session. What a line says is shown before the next is read: a program may wait for it.
///
/// Bytes that are no text are replaced; a line that is too long is reported and skipped.
pub fn run(
    session: &mut Session,
    input: &mut dyn BufRead,
    name: &str,
    sink: &mut dyn Sink,
) -> Status {
    let mut status = Status::DONE;
    let mut bytes = Vec::new();
    for line in 1.. {
        bytes.clear();
        match read_line(input, &mut bytes) {
            Ok(0) => break,
            Ok(_) => {
                let text = String::from_utf8_lossy(&bytes);
                let text = if line == 1 { without_interpreter(&text) } else { &text };
                let source = Source::File { name, line };
                status = status.then(session.eval_from(source, text, sink));
            }
            Err(error) => {
                let error = DcmdError::failed(format!(
                    "cannot read {name}, line {line}: {}",
                    io_reason(&error)
                ));
                status = status.then(session.fail("", &error, sink));
                break;
            }
        }
        if status.stops() {
            break;
        }
    }
    status
}

/// What is to be run of a file: its first line is not when it tells the system what runs the file, as
/// `#!/usr/bin/kcore -f` does. The end of that line stays, so that errors name the right one.
pub(crate) fn without_interpreter(text: &str) -> &str {
    if !text.starts_with("#!") {
        return text;
    }
    text.find('\n').and_then(|end| text.get(end..)).unwrap_or_default()
}

/// Reads a line, of one that is too long only so much that it is seen to be.
fn read_line(input: &mut dyn BufRead, bytes: &mut Vec<u8>) -> io::Result<usize> {
    let most = limits::LINE as u64 + 2;
    let read = input.take(most).read_until(b'\n', bytes)?;
    if read as u64 == most && !bytes.ends_with(b"\n") {
        input.skip_until(b'\n')?;
    }
    Ok(read)
}
