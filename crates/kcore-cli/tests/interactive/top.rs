//! `kcore top` on a screen.

use std::process::{Child, Command};

use super::terminal::{Setup, Terminal};

/// A process that is killed when the test is done with it.
struct Busy(Child);

impl Busy {
    fn start() -> Self {
        Self(Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn keys_change_what_the_table_shows_and_the_screen_is_as_before_when_it_ends() {
    let busy = Busy::start();
    let setup = Setup { columns: 100, rows: 24, ..Setup::default() };
    let Some(terminal) = Terminal::open_on(setup, &format!("top -d 0.3 {}", busy.0.id())) else {
        return;
    };
    let screen = terminal.wait_for("functions by SELF, the last part");
    assert!(screen.contains("SELF%  TOTAL%  FUNCTION"), "{screen}");
    terminal.wait_for("% of a processor");
    terminal.keys(&["t"]);
    terminal.wait_for("functions by TOTAL");
    terminal.keys(&["a"]);
    terminal.wait_for("since the beginning");
    terminal.text("/no such function");
    terminal.keys(&["Enter"]);
    terminal.wait_for("0 functions by TOTAL, since the beginning  /no such function");
    terminal.keys(&["Escape"]);
    terminal.wait_until("all functions", |screen| !screen.contains("/no such"));
    terminal.keys(&["Space"]);
    terminal.wait_for("standing still");
    terminal.resize(40, 12);
    terminal.wait_until("narrow lines", |screen| screen.contains("by TOTAL, since the beg"));
    terminal.keys(&["q"]);
    let screen = terminal.wait_for("exit=0");
    assert!(!screen.contains("FUNCTION"), "{screen}");
}
