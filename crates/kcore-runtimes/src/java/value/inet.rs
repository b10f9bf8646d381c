//! Addresses of the network (`src/java.base/share/classes/java/net/{Inet4Address,Inet6Address,InetSocketAddress}.java`,
//! JDK 11 to 25): a name, if it is known, and the number.

use std::net::Ipv4Addr;

use kcore_mem::Addr;

use crate::java::classes::Objects;

/// Bytes of an address of version 6.
const BYTES: u64 = 16;

/// `host/10.0.0.1`.
pub(super) fn version_4(objects: &Objects<'_>, at: Addr) -> Option<String> {
    let holder = objects.reference(at, "holder")?;
    let number = objects.integer(holder, "address")? as u32;
    Some(format!("{}/{}", name(objects, holder), Ipv4Addr::from(number)))
}

/// `host/2001:db8:0:0:0:0:0:1`: Java leaves no zeros out.
pub(super) fn version_6(objects: &Objects<'_>, at: Addr) -> Option<String> {
    let number = objects.reference(objects.reference(at, "holder6")?, "ipaddress")?;
    let length = objects.oops.length(objects.memory, number).filter(|length| *length == BYTES)?;
    let bytes = objects.memory.0.read_held(objects.oops.bytes(number)?, length);
    (bytes.len() as u64 == BYTES).then_some(())?;
    let groups = bytes.as_chunks().0.iter().map(|pair| format!("{:x}", u16::from_be_bytes(*pair)));
    let holder = objects.reference(at, "holder")?;
    Some(format!("{}/{}", name(objects, holder), groups.collect::<Vec<_>>().join(":")))
}

/// `host/10.0.0.1:80`; without a number where the name was not looked up.
pub(super) fn socket(objects: &Objects<'_>, at: Addr) -> Option<String> {
    let holder = objects.reference(at, "holder")?;
    let port = objects.integer(holder, "port")?;
    let Some(address) = objects.referred(holder, "addr").ok()? else {
        return Some(format!("{}/<unresolved>:{port}", objects.text(holder, "hostname")?));
    };
    let (_, class) = objects.class_of(address)?;
    Some(match &*class {
        "java.net.Inet6Address" => {
            let text = version_6(objects, address)?;
            let (name, number) = text.split_once('/')?;
            format!("{name}/[{number}]:{port}")
        }
        _ => format!("{}:{port}", version_4(objects, address)?),
    })
}

fn name(objects: &Objects<'_>, holder: Addr) -> String {
    objects.text(holder, "hostName").map(|name| name.to_string()).unwrap_or_default()
}
