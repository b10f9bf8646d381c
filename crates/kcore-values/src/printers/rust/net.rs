//! `std::net`: addresses of the internet, and sockets' addresses.

use std::net::{Ipv4Addr, Ipv6Addr};

use kcore_symbols::Type;

use crate::{Content, Object, eval::Evaluator, printers::Printer};

/// An address.
pub struct InternetAddress;

impl Printer for InternetAddress {
    fn families(&self) -> &'static [&'static str] {
        &["rust::Ipv4Addr", "rust::Ipv6Addr", "rust::SocketAddrV4", "rust::SocketAddrV6"]
    }

    fn show(&self, evaluator: &mut Evaluator<'_>, object: &Object) -> Option<Content> {
        let ty = evaluator.complete(&object.ty)?;
        let words = written(evaluator, object, &ty)?;
        Some(evaluator.raw(object, &ty).ok()?.meaning(words))
    }
}

/// Until 1.64 the addresses were structures of the C library, in its byte order as well.
fn written(evaluator: &Evaluator<'_>, object: &Object, ty: &Type) -> Option<String> {
    let ip = || evaluator.member(object, "ip");
    let port = || evaluator.number_in(object, &["port"]);
    Some(match ty.name()? {
        "Ipv4Addr" => ipv4(evaluator, object)?.to_string(),
        "Ipv6Addr" => ipv6(evaluator, object)?.to_string(),
        "SocketAddrV4" => format!("{}:{}", ipv4(evaluator, &ip()?)?, port()?),
        "SocketAddrV6" => {
            let scope = evaluator.number_in(object, &["scope_id"])?;
            let scope = if scope == 0 { String::new() } else { format!("%{scope}") };
            format!("[{}{scope}]:{}", ipv6(evaluator, &ip()?)?, port()?)
        }
        _ => return None,
    })
}

fn ipv4(evaluator: &Evaluator<'_>, address: &Object) -> Option<Ipv4Addr> {
    let bytes = address.place.read(evaluator.process(), 4).ok()?;
    Some(Ipv4Addr::from(<[u8; 4]>::try_from(bytes.as_slice()).ok()?))
}

fn ipv6(evaluator: &Evaluator<'_>, address: &Object) -> Option<Ipv6Addr> {
    let bytes = address.place.read(evaluator.process(), 16).ok()?;
    Some(Ipv6Addr::from(<[u8; 16]>::try_from(bytes.as_slice()).ok()?))
}
