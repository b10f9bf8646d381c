//! Types of crates that many programs have, in locals of `main`. The program tells what they hold, then it dies.

use std::hint::black_box;

fn tell(verb: &str, name: &str, truth: &str) {
    println!("{verb}\tlocal:{name}\t{truth}");
}

fn main() {
    let my_map: indexmap::IndexMap<String, u32> = [("one".into(), 1), ("two".into(), 2)].into();
    let my_set: indexmap::IndexSet<i32> = [7, 5, 6].into();
    let my_inside: smallvec::SmallVec<[u32; 4]> = smallvec::smallvec![1, 2, 3];
    let my_outside: smallvec::SmallVec<[u32; 2]> = smallvec::smallvec![4, 5, 6];
    let my_fixed = bytes::Bytes::from_static(b"static");
    let mut my_growing = bytes::BytesMut::with_capacity(64);
    my_growing.extend_from_slice(b"growing");
    let my_array: arrayvec::ArrayVec<u16, 8> = [10, 20].into_iter().collect();
    let mut my_torn = std::mem::ManuallyDrop::new(my_array.clone());
    // The length comes first: `#[repr(C)]` of arrayvec 0.7.
    unsafe { (&raw mut my_torn).cast::<u32>().write(20) };
    let my_letters = arrayvec::ArrayString::<16>::from("letters").unwrap();
    let my_date = chrono::NaiveDate::from_ymd_opt(2024, 2, 29).unwrap();
    let my_ides = chrono::NaiveDate::from_ymd_opt(-44, 3, 15).unwrap();
    let my_time = chrono::NaiveTime::from_hms_milli_opt(23, 34, 56, 789).unwrap();
    let my_both = my_date.and_time(my_time);
    let my_moment = my_both.and_utc();
    let my_zoned = my_moment.with_timezone(&chrono::FixedOffset::east_opt(7200).unwrap());
    let my_span = chrono::TimeDelta::milliseconds(-1500);
    let my_locked = parking_lot::Mutex::new(41_u32);
    let guard = my_locked.lock();
    let my_shared = parking_lot::RwLock::new(5_u8);
    let (first, second) = (my_shared.read(), my_shared.read());
    let my_once = parking_lot::Once::new();
    my_once.call_once(|| {});
    let my_table: dashmap::DashMap<u32, u64> =
        (0..5).map(|key| (key, u64::from(key) * 10)).collect();
    let my_unique: dashmap::DashSet<u32> = [77].into_iter().collect();
    let my_cell = once_cell::sync::OnceCell::with_value(9_u32);
    let my_id = uuid::Uuid::from_u128(0x67e5_5044_10b1_426f_9247_bb68_0e5f_e0c8);

    tell("number", "my_map[one]", &my_map["one"].to_string());
    tell("total", "my_map", &my_map.len().to_string());
    tell("number", "my_set[1]", &my_set[1].to_string());
    tell("number", "my_inside[2]", &my_inside[2].to_string());
    tell("total", "my_inside", &my_inside.len().to_string());
    tell("number", "my_outside[2]", &my_outside[2].to_string());
    tell("text", "my_fixed", "static");
    tell("text", "my_growing", "growing");
    tell("number", "my_array[1]", &my_array[1].to_string());
    tell("has", "my_torn", "len = 0x14");
    tell("text", "my_letters", &my_letters);
    tell("means", "my_date", &my_date.to_string());
    tell("means", "my_ides", &my_ides.to_string());
    tell("means", "my_time", &my_time.to_string());
    tell("means", "my_both", &my_both.to_string());
    tell("means", "my_moment", &my_moment.to_string());
    tell("means", "my_zoned", &my_zoned.to_string());
    tell("means", "my_span", "-1.5s");
    tell("number", "my_locked.data", &guard.to_string());
    tell("number", "my_locked.locked", "true");
    tell("number", "my_shared.readers", "2");
    tell("number", "my_once.done", "true");
    tell("total", "my_table", &my_table.len().to_string());
    tell("number", "my_table[3]", &my_table.get(&3).unwrap().to_string());
    tell("number", "my_unique[0]", "77");
    tell("has", "my_cell", "Some(0x9)");
    tell("means", "my_id", &my_id.to_string());
    black_box((
        &my_map,
        &my_set,
        &my_inside,
        &my_outside,
        &my_fixed,
        &my_growing,
        &my_array,
        &my_letters,
        &my_date,
        &my_ides,
    ));
    black_box((
        &my_time, &my_both, &my_moment, &my_zoned, &my_span, &my_locked, &guard, &my_shared,
        &first, &second,
    ));
    black_box((&my_torn, &my_once, &my_table, &my_unique, &my_cell, &my_id));
    std::process::abort();
}
