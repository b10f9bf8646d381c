//! Types of the standard library of Rust, in locals of `main`. The program tells what they hold, then it dies.

use std::cell::RefCell;
use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

fn tell(verb: &str, name: &str, truth: &str) {
    println!("{verb}\tlocal:{name}\t{truth}");
}

fn main() {
    let span = Duration::new(90, 500_000_000);
    let short = Duration::from_micros(1500);
    let moment: SystemTime = UNIX_EPOCH + Duration::new(1_709_210_096, 789_000_000);
    let before: SystemTime = UNIX_EPOCH - Duration::from_secs(1);
    let four = Ipv4Addr::new(192, 168, 1, 7);
    let six: Ipv6Addr = "2001:db8::1".parse().unwrap();
    let either = IpAddr::V4(four);
    let SocketAddr::V4(socket) = SocketAddr::from((four, 8080)) else { return };
    let SocketAddr::V6(socket_six) = SocketAddr::from((six, 443)) else { return };
    let (read, written) = (RefCell::new(41_u8), RefCell::new(42_u8));
    let (first, second) = (read.borrow(), read.borrow());
    let writer = written.borrow_mut();

    tell("means", "span", &format!("{span:?}"));
    tell("means", "short", &format!("{short:?}"));
    tell("number", "span.secs", &span.as_secs().to_string());
    tell("means", "moment", "2024-02-29 12:34:56.789000000 UTC");
    tell("means", "before", "1969-12-31 23:59:59.000000000 UTC");
    tell("means", "four", &four.to_string());
    tell("means", "six", &six.to_string());
    tell("has", "either", &either.to_string());
    tell("means", "socket", &socket.to_string());
    tell("means", "socket_six", &socket_six.to_string());
    tell("number", "read.value", &first.to_string());
    tell("number", "read.readers", "2");
    tell("number", "written.value", &writer.to_string());
    tell("shows", "written.writing", "true");
    black_box((&span, &short, &moment, &before, &four, &six, &either, &socket, &socket_six));
    black_box((&read, &written, &first, &second, &writer));
    std::process::abort();
}
