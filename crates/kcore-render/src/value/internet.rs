//! Internet addresses, which are bytes in network order whatever their types say.

use std::net::{Ipv4Addr, Ipv6Addr};

use kcore_mem::Endian;
use kcore_values::{Content, Number, Value};

use super::Writer;

/// Structures within an address that are looked into for its bytes.
const MAX_DEPTH: usize = 4;

impl Writer<'_, '_> {
    /// The address that a `struct in_addr` or `struct in6_addr` holds, if all of it is there.
    pub(super) fn internet_address(&self, value: &Value) -> Option<String> {
        let Content::Fields(fields) = &value.content else { return None };
        let name = value.ty.unqualified().ok()?;
        match (name.name()?, fields.as_slice()) {
            ("in_addr", [field]) => match &field.value.content {
                Content::Integer(number) => Some(self.ipv4(number)),
                _ => None,
            },
            ("in6_addr" | "in6_addr_t", _) => {
                bytes(value, MAX_DEPTH).map(|bytes| Ipv6Addr::from(bytes).to_string())
            }
            _ => None,
        }
    }

    /// The four bytes of a number as they lie in memory.
    pub(super) fn ipv4(&self, number: &Number) -> String {
        let number = u32::try_from(number.bits).unwrap_or_default();
        let bytes = match self.style.endian {
            Endian::Little => number.to_le_bytes(),
            Endian::Big => number.to_be_bytes(),
        };
        Ipv4Addr::from(bytes).to_string()
    }
}

/// The 16 bytes in a structure or union, at the first place where there are so many.
fn bytes(value: &Value, depth: usize) -> Option<[u8; 16]> {
    let depth = depth.checked_sub(1)?;
    match &value.content {
        Content::Fields(fields) => fields.iter().find_map(|field| bytes(&field.value, depth)),
        Content::Elements(elements) => {
            let byte = |value: &Value| match &value.content {
                Content::Integer(number) => u8::try_from(number.bits).ok(),
                _ => None,
            };
            elements.values.iter().map(byte).collect::<Option<Vec<u8>>>()?.try_into().ok()
        }
        _ => None,
    }
}
