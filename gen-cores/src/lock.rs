//! A lock between processes: a name in the kernel's abstract socket space, gone when its holder is.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;
use std::time::Duration;

use crate::Result;
use crate::error::AtPath;

/// How long a waiting process sleeps before it asks again.
const RETRY: Duration = Duration::from_millis(20);

/// Held until dropped. A file would stay behind a killed process, this does not.
#[derive(Debug)]
pub(crate) struct Lock {
    _name: UnixListener,
}

impl Lock {
    /// Waits until nobody else holds the lock that belongs to `path`.
    pub(crate) fn wait(path: &Path) -> Result<Lock> {
        // Names are limited to about 100 bytes: the tail tells cases apart, the hash the trees.
        let text = path.display().to_string();
        let hash = text
            .bytes()
            .fold(0_u64, |hash, byte| hash.wrapping_mul(0x0000_0100_0000_01b3) ^ u64::from(byte));
        let address = SocketAddr::from_abstract_name(format!("gen-cores:{hash:016x}")).at(path)?;
        loop {
            match UnixListener::bind_addr(&address) {
                Ok(name) => return Ok(Lock { _name: name }),
                Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => {
                    std::thread::sleep(RETRY);
                }
                Err(error) => return Err(error).at(path),
            }
        }
    }
}
