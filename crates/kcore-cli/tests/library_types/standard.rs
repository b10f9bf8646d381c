//! Types of the standard library of Rust, in locals of `main`. The program tells what they hold, then it dies.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::hint::black_box;
use std::mem::ManuallyDrop;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::rc::Rc;
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

fn tell(verb: &str, name: &str, truth: &str) {
    println!("{verb}\tlocal:{name}\t{truth}");
}

struct Named {
    name: String,
    // Owners and guards have members of these names as well, which are private.
    value: i32,
    lock: u8,
}

fn named(name: &str, value: i32) -> Named {
    Named { name: name.to_owned(), value, lock: value as u8 }
}

/// What `*` and `.` lead to from owners and guards.
fn tell_targets() {
    let (in_rc, in_box, in_arc) = (Rc::new(named("rc", 1)), Box::new(named("box", 2)), Arc::new(named("arc", 3)));
    let (my_rc, my_rcs, my_box, my_arc) = (&in_rc, &&in_rc, &in_box, &in_arc);
    let (mutex, cell, read, written) = (
        Arc::new(Mutex::new(named("mutex", 4))),
        Rc::new(RefCell::new(named("cell", 5))),
        RwLock::new(named("read", 6)),
        RwLock::new(named("written", 7)),
    );
    let other = RefCell::new(named("other", 8));
    let my_mutex = &mutex;
    let my_guard = mutex.lock().unwrap();
    let (my_ref, my_mut) = (cell.borrow(), other.borrow_mut());
    let (my_reader, my_writer) = (read.read().unwrap(), written.write().unwrap());
    let (my_number, my_list) = (Mutex::new(41_i64), Mutex::new(vec![1_u16, 2, 3]));
    let (my_number_guard, my_list_guard) = (my_number.lock().unwrap(), my_list.lock().unwrap());
    let (in_vec, my_vec) = (Rc::new(vec![10_i32, 20, 30]), Box::new(vec![5_i32, 6]));
    let my_rc_vec = &in_vec;
    let (my_text, my_slice): (Rc<str>, Rc<[u16]>) = (Rc::from("some text"), Rc::from([7_u16, 8]));
    let my_boxed: Box<[i32]> = vec![1, 2, 3].into();
    let my_boxes = Box::new(Box::new(named("boxes", 9)));
    tell("text", "my_rc.name", &my_rc.name);
    tell("text", "my_rcs.name", &my_rcs.name);
    tell("text", "my_box.name", &my_box.name);
    tell("text", "my_arc.name", &my_arc.name);
    tell("text", "my_boxes.name", &my_boxes.name);
    tell("text", "my_mutex.data.name", &my_guard.name);
    tell("text", "my_guard.name", &my_guard.name);
    tell("number", "my_guard.lock", &my_guard.lock.to_string());
    tell("number", "(*my_guard).value", &my_guard.value.to_string());
    tell("text", "my_ref.name", &my_ref.name);
    tell("number", "my_ref.value", &my_ref.value.to_string());
    tell("number", "my_mut.value", &my_mut.value.to_string());
    tell("number", "(*my_mut).value", &my_mut.value.to_string());
    tell("text", "my_reader.name", &my_reader.name);
    tell("text", "my_writer.name", &my_writer.name);
    tell("number", "*my_number_guard", &my_number_guard.to_string());
    tell("number", "my_list_guard[1]", &my_list_guard[1].to_string());
    tell("number", "my_rc_vec[1]", &my_rc_vec[1].to_string());
    tell("number", "my_vec[1]", &my_vec[1].to_string());
    tell("text", "*my_text", &my_text);
    tell("number", "my_slice[1]", &my_slice[1].to_string());
    tell("shows", "*my_boxed", "[ 0x1, 0x2, 0x3 ]");
    black_box((&my_rc, &my_rcs, &my_box, &my_arc, &my_mutex, &my_guard, &my_ref, &my_mut));
    black_box((&my_reader, &my_writer, &my_number_guard, &my_list_guard, &my_rc_vec, &my_vec));
    black_box((&my_text, &my_slice, &my_boxed, &my_boxes));
    stop();
}

/// Puts another word in the place of one.
fn overwrite<T, const WORDS: usize>(value: &mut T, from: usize, to: usize) {
    assert_eq!(size_of::<T>(), WORDS * size_of::<usize>());
    let words = unsafe { &mut *(&raw mut *value).cast::<[usize; WORDS]>() };
    words.iter_mut().filter(|word| **word == from).for_each(|word| *word = to);
}

/// A vector with three elements and room for none.
fn torn_list() -> ManuallyDrop<Vec<u32>> {
    let mut list = ManuallyDrop::new(Vec::with_capacity(7));
    list.extend([1, 2, 3]);
    overwrite::<_, 3>(&mut list, 7, 0);
    list
}

/// A ring that begins behind its end.
fn torn_ring() -> ManuallyDrop<VecDeque<u32>> {
    let mut ring = ManuallyDrop::new(VecDeque::with_capacity(16));
    ring.extend(0..8);
    ring.drain(..5);
    overwrite::<_, 4>(&mut ring, 5, 500);
    ring
}

#[inline(never)]
fn stop() {
    std::process::abort();
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
    let (mut my_torn, mut my_torn_ring) = (torn_list(), torn_ring());
    tell("has", "my_torn", "len = 0x3");
    tell("has", "my_torn_ring", "0x1f4");
    black_box((&mut my_torn, &mut my_torn_ring));
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
    tell_targets();
}
