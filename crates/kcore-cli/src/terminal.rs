//! The terminal of the user: its size, and single keys.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kcore_render::{Screen, Size};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetwinsize, tcsetattr,
};

/// What ctrl-C is as a key.
const INTERRUPT: u8 = 3;
/// After so long it is looked whether ctrl-C came when nobody waited for it.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 200_000_000 };

/// A terminal from which keys come and on which results are shown.
pub(crate) struct Terminal {
    /// The terminal itself where standard input is something else.
    own: Option<OwnedFd>,
    /// Set when the user presses ctrl-C.
    interrupt: Arc<AtomicBool>,
}

impl Terminal {
    /// The terminal that results are shown on; `None` when that is none. `interrupt` is set when the
    /// user presses ctrl-C.
    pub(crate) fn open(interrupt: &Arc<AtomicBool>) -> Option<Self> {
        let interrupt = Arc::clone(interrupt);
        if !io::stdout().is_terminal() {
            return None;
        }
        if io::stdin().is_terminal() {
            return Some(Self { own: None, interrupt });
        }
        let terminal = File::options().read(true).write(true).open("/dev/tty").ok()?;
        Some(Self { own: Some(terminal.into()), interrupt })
    }

    /// The same with each key as it is pressed, until that is dropped; `None` where the terminal cannot do so.
    pub(crate) fn one_by_one(self) -> Option<Keys> {
        let before = tcgetattr(self.keys()).ok()?;
        let mut modes = one_by_one(before.clone());
        // What is on the screen would stay there.
        modes.special_codes[SpecialCodeIndex::VSUSP] = 0;
        tcsetattr(self.keys(), OptionalActions::Drain, &modes).ok()?;
        Some(Keys { terminal: self, before })
    }

    /// Where keys come from.
    fn keys(&self) -> BorrowedFd<'_> {
        match &self.own {
            Some(own) => own.as_fd(),
            None => rustix::stdio::stdin(),
        }
    }

    /// Waits for one byte, or for ctrl-C, which is a signal and not among them: behind the key that is
    /// waited for it must stop a command.
    fn wait(&self) -> Option<u8> {
        loop {
            if self.interrupt.swap(false, Ordering::SeqCst) {
                return Some(INTERRUPT);
            }
            if self.is_ready(&TICK) {
                return self.read();
            }
        }
    }

    fn read(&self) -> Option<u8> {
        let mut byte = [0];
        match rustix::io::read(self.keys(), &mut byte) {
            Ok(1) => byte.first().copied(),
            _ => None,
        }
    }

    /// Whether something can be read, or nothing ever will, before the time is over. A signal ends the
    /// wait.
    fn is_ready(&self, time: &Timespec) -> bool {
        let keys = self.keys();
        let mut waiting = [PollFd::new(&keys, PollFlags::IN)];
        poll(&mut waiting, Some(time)).is_ok_and(|ready| ready > 0)
    }
}

/// A terminal that gives each key as it is pressed, and is put back when this is dropped.
pub(crate) struct Keys {
    terminal: Terminal,
    before: Termios,
}

impl Keys {
    /// The next byte that is typed within a time.
    pub(crate) fn next(&self, within: Duration) -> Option<u8> {
        let time = Timespec {
            tv_sec: i64::try_from(within.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: within.subsec_nanos().into(),
        };
        self.terminal.is_ready(&time).then(|| self.terminal.read()).flatten()
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        // A terminal that is gone cannot be put back.
        let _ = tcsetattr(self.terminal.keys(), OptionalActions::Drain, &self.before);
    }
}

impl Screen for Terminal {
    fn size(&self) -> Option<Size> {
        size()
    }

    /// The key comes at once, and is not shown.
    fn key(&self) -> Option<u8> {
        let before = tcgetattr(self.keys()).ok()?;
        tcsetattr(self.keys(), OptionalActions::Drain, &one_by_one(before.clone())).ok()?;
        let key = self.wait();
        // A terminal that is gone cannot be put back.
        let _ = tcsetattr(self.keys(), OptionalActions::Drain, &before);
        key
    }

    fn has_key(&self) -> bool {
        self.is_ready(&Timespec::default())
    }
}

/// Columns of the terminal that results are shown on, as it is now; `None` where they go elsewhere.
pub(crate) fn columns() -> Option<usize> {
    size().map(|size| size.columns)
}

/// A terminal that does not know its size says 0.
pub(crate) fn size() -> Option<Size> {
    let size = tcgetwinsize(rustix::stdio::stdout()).ok()?;
    let (columns, rows) = (usize::from(size.ws_col), usize::from(size.ws_row));
    (columns > 0 && rows > 0).then_some(Size { columns, rows })
}

/// How a terminal gives each key when it is pressed; of those that are signals ctrl-\ is a key.
fn one_by_one(mut modes: Termios) -> Termios {
    modes.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
    modes.special_codes[SpecialCodeIndex::VQUIT] = 0;
    modes.special_codes[SpecialCodeIndex::VMIN] = 1;
    modes.special_codes[SpecialCodeIndex::VTIME] = 0;
    modes
}
