//! kcore in a terminal that tmux emulates, on the committed core unless another one is named.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long the screen may take to show what it must; far more than it needs.
const PATIENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(20);

/// A terminal with kcore in it, its own tmux server, and its own folders for configuration and
/// history.
pub struct Terminal {
    server: String,
    folder: tempfile::TempDir,
    setup: Setup,
    /// What stands behind the options: the core, and what belongs to it.
    target: String,
}

/// What kcore is started with.
#[derive(Clone, Copy)]
pub struct Setup {
    /// Columns of the terminal.
    pub columns: usize,
    /// Its rows.
    pub rows: usize,
    /// Options of kcore.
    pub options: &'static str,
    /// The configuration file.
    pub rc: &'static str,
}

impl Default for Setup {
    fn default() -> Self {
        Self { columns: 100, rows: 40, options: "", rc: "" }
    }
}

impl Terminal {
    /// Starts kcore on the committed core. `None`, said aloud, on a machine without tmux.
    pub fn open() -> Option<Self> {
        Self::open_with(Setup::default())
    }

    /// The same with a setup of its own.
    pub fn open_with(setup: Setup) -> Option<Self> {
        Self::open_on(setup, &core().display().to_string())
    }

    /// The same on a core of the caller's, with words of the shell that name it.
    pub fn open_on(setup: Setup, target: &str) -> Option<Self> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        if Command::new("tmux").arg("-V").output().is_err() {
            gen_cores::not_tested("tmux is not installed");
            return None;
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let server = format!("kcore-test-{}-{number}", std::process::id());
        let target = target.to_owned();
        let terminal = Self { server, folder: tempfile::tempdir().unwrap(), setup, target };
        let rc = terminal.file("kcore/rc");
        std::fs::create_dir(rc.parent().unwrap()).unwrap();
        std::fs::write(rc, setup.rc).unwrap();
        terminal.start();
        Some(terminal)
    }

    /// Ends kcore and starts it again with the same folders.
    pub fn restart(&mut self) {
        self.tmux(&["kill-server"]);
        self.server.push('r');
        self.start();
    }

    fn start(&self) {
        let folder = self.folder.path().display();
        let line = format!(
            "cd {folder}; XDG_STATE_HOME={folder} XDG_CONFIG_HOME={folder} {} {} {}; echo exit=$?; cat",
            env!("CARGO_BIN_EXE_kcore"),
            self.setup.options,
            self.target
        );
        let (columns, rows) = (self.setup.columns.to_string(), self.setup.rows.to_string());
        let output = self.tmux(&["new-session", "-d", "-x", &columns, "-y", &rows, &line]);
        assert!(output.status.success(), "tmux: {}", String::from_utf8_lossy(&output.stderr));
    }

    /// Types text, without Enter.
    pub fn text(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
    }

    /// A file of kcore's working directory.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Pastes text as a terminal does that says so.
    pub fn paste(&self, text: &str) {
        let file = self.file("pasted");
        std::fs::write(&file, text).unwrap();
        self.tmux(&["load-buffer", file.to_str().unwrap()]);
        self.tmux(&["paste-buffer", "-p"]);
    }

    /// Gives the window another size, and waits until its terminal has it.
    pub fn resize(&self, columns: usize, rows: usize) {
        self.tmux(&["resize-window", "-x", &columns.to_string(), "-y", &rows.to_string()]);
        let terminal = self.tmux(&["display-message", "-p", "#{pane_tty}"]).stdout;
        let terminal = String::from_utf8_lossy(&terminal).trim().to_owned();
        let wanted = format!("{rows} {columns}");
        self.wait_until(&format!("a window of {wanted}"), |_| {
            let size = Command::new("stty").args(["-F", &terminal, "size"]).output().unwrap();
            String::from_utf8_lossy(&size.stdout).trim() == wanted
        });
    }

    /// Presses keys by their tmux names.
    pub fn keys(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    /// Types text and presses Enter.
    pub fn type_line(&self, text: &str) {
        self.text(text);
        self.keys(&["Enter"]);
    }

    /// Types a line, presses Enter, and waits for the prompt behind its results, which all fit on the
    /// screen. Answers the screen.
    pub fn run(&self, line: &str) -> String {
        self.type_line(line);
        let typed = format!("> {line}\n");
        self.wait_until("a prompt behind the line", |screen| {
            screen.contains(&typed) && last_line(screen) == ">"
        })
    }

    /// Abandons a line on which something stands.
    pub fn abandon(&self) {
        self.keys(&["C-c"]);
        self.wait_for_prompt();
    }

    /// Empties the screen at an empty prompt.
    pub fn clear(&self) {
        self.keys(&["C-l"]);
        self.wait_until("an empty screen", |screen| screen.trim() == ">");
    }

    /// Presses ctrl-D.
    pub fn ctrl_d(&self) {
        self.keys(&["C-d"]);
    }

    /// Waits for `text` and answers the screen.
    pub fn wait_for(&self, text: &str) -> String {
        self.wait_until(text, |screen| screen.contains(text))
    }

    /// Waits for an empty prompt on the last line and answers the screen.
    pub fn wait_for_prompt(&self) -> String {
        self.wait_until("a prompt", |screen| last_line(screen) == ">")
    }

    /// Waits until the screen is as it must be, and answers it.
    pub fn wait_until(&self, what: &str, holds: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            let screen = self.screen();
            if holds(&screen) {
                return screen;
            }
            assert!(start.elapsed() < PATIENCE, "waited for {what} and saw:\n{screen}");
            sleep(PAUSE);
        }
    }

    /// What is on the screen now.
    pub fn screen(&self) -> String {
        String::from_utf8_lossy(&self.tmux(&["capture-pane", "-p"]).stdout).into_owned()
    }

    /// The same with its colours, as a terminal is told them.
    pub fn coloured_screen(&self) -> String {
        String::from_utf8_lossy(&self.tmux(&["capture-pane", "-p", "-e"]).stdout).into_owned()
    }

    fn tmux(&self, words: &[&str]) -> Output {
        let mut tmux = Command::new("tmux");
        tmux.args(["-u", "-f", "/dev/null", "-L", &self.server]).args(words);
        tmux.env_remove("TMUX").env_remove("NO_COLOR").env("SHELL", "/bin/sh").output().unwrap()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

/// The last line that is not empty.
pub fn last_line(screen: &str) -> &str {
    screen.trim_end().lines().last().unwrap_or_default().trim_end()
}

fn core() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("testdata/workers/x86_64/core.zst")
}
