//! `kcore why` of a running process, and of a core that does not open.

use std::path::Path;
use std::process::{Command, Stdio};

use super::{analysis, findings, kcore};

#[test]
fn a_running_process_has_no_finding() {
    let mut child = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap();
    let pid = child.id().to_string();
    let said = analysis(Path::new(&pid));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(findings(&said).is_empty(), "{said:#}");
}

#[test]
fn a_core_that_does_not_open_is_an_error() {
    let output = kcore(&["why"], Path::new("/nonexistent/core"));
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
}
