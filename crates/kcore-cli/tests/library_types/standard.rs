//! Types of the standard library of Rust, in locals of `main`. The program tells what they hold, then it dies.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

fn tell(verb: &str, name: &str, truth: &str) {
    println!("{verb}\tlocal:{name}\t{truth}");
}

fn main() {
    let my_span = Duration::new(90, 500_000_000);
    let my_short = Duration::from_micros(1500);
    let my_moment: SystemTime = UNIX_EPOCH + Duration::new(1_709_210_096, 789_000_000);
    let my_before: SystemTime = UNIX_EPOCH - Duration::from_secs(1);
    let my_four = Ipv4Addr::new(192, 168, 1, 7);
    let my_six: Ipv6Addr = "2001:db8::1".parse().unwrap();
    let my_either = IpAddr::V4(my_four);
    let SocketAddr::V4(my_socket) = SocketAddr::from((my_four, 8080)) else { return };
    let SocketAddr::V6(my_socket_six) = SocketAddr::from((my_six, 443)) else { return };
    let (my_read, my_written) = (RefCell::new(41_u8), RefCell::new(42_u8));
    let (first, second) = (my_read.borrow(), my_read.borrow());
    let writer = my_written.borrow_mut();
    let (list, array) = (vec![10_i32, 20, 30], [1_u16, 2, 3]);
    let letters: BTreeMap<char, i32> = [('a', 1), ('b', 2)].into();
    let (my_list, my_array, my_letters) = (&list, &array, &letters);

    tell("means", "my_span", &format!("{my_span:?}"));
    tell("means", "my_short", &format!("{my_short:?}"));
    tell("number", "my_span.secs", &my_span.as_secs().to_string());
    tell("means", "my_moment", "2024-02-29 12:34:56.789000000 UTC");
    tell("means", "my_before", "1969-12-31 23:59:59.000000000 UTC");
    tell("means", "my_four", &my_four.to_string());
    tell("means", "my_six", &my_six.to_string());
    tell("has", "my_either", &my_either.to_string());
    tell("means", "my_socket", &my_socket.to_string());
    tell("means", "my_socket_six", &my_socket_six.to_string());
    tell("number", "my_read.value", &first.to_string());
    tell("number", "my_read.readers", "2");
    tell("number", "my_written.value", &writer.to_string());
    tell("number", "my_written.writing", "true");
    tell("number", "my_list[1]", &my_list[1].to_string());
    tell("number", "my_array[2]", &my_array[2].to_string());
    tell("number", "my_letters[98]", &my_letters[&'b'].to_string());
    black_box((my_list, my_array, my_letters));
    black_box((
        &my_span,
        &my_short,
        &my_moment,
        &my_before,
        &my_four,
        &my_six,
        &my_either,
        &my_socket,
        &my_socket_six,
    ));
    black_box((&my_read, &my_written, &first, &second, &writer));
    std::process::abort();
}
