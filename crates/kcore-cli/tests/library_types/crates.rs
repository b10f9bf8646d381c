//! Types of crates that many programs have, in locals of `main`. The program tells what they hold, then it dies.

use std::hint::black_box;

fn tell(verb: &str, name: &str, truth: &str) {
    println!("{verb}\tlocal:{name}\t{truth}");
}

fn main() {
    let map: indexmap::IndexMap<String, u32> = [("one".into(), 1), ("two".into(), 2)].into();
    let set: indexmap::IndexSet<i32> = [7, 5, 6].into();
    let inside: smallvec::SmallVec<[u32; 4]> = smallvec::smallvec![1, 2, 3];
    let outside: smallvec::SmallVec<[u32; 2]> = smallvec::smallvec![4, 5, 6];
    let fixed = bytes::Bytes::from_static(b"static");
    let mut growing = bytes::BytesMut::with_capacity(64);
    growing.extend_from_slice(b"growing");
    let array: arrayvec::ArrayVec<u16, 8> = [10, 20].into_iter().collect();
    let letters = arrayvec::ArrayString::<16>::from("letters").unwrap();
    let date = chrono::NaiveDate::from_ymd_opt(2024, 2, 29).unwrap();
    let ides = chrono::NaiveDate::from_ymd_opt(-44, 3, 15).unwrap();
    let time = chrono::NaiveTime::from_hms_milli_opt(23, 34, 56, 789).unwrap();
    let both = date.and_time(time);
    let moment = both.and_utc();
    let zoned = moment.with_timezone(&chrono::FixedOffset::east_opt(7200).unwrap());
    let span = chrono::TimeDelta::milliseconds(-1500);
    let locked = parking_lot::Mutex::new(41_u32);
    let guard = locked.lock();
    let shared = parking_lot::RwLock::new(5_u8);
    let (first, second) = (shared.read(), shared.read());
    let once = parking_lot::Once::new();
    once.call_once(|| {});
    let table: dashmap::DashMap<u32, u64> = (0..5).map(|key| (key, u64::from(key) * 10)).collect();
    let unique: dashmap::DashSet<u32> = [77].into_iter().collect();
    let cell = once_cell::sync::OnceCell::with_value(9_u32);
    let id = uuid::Uuid::from_u128(0x67e5_5044_10b1_426f_9247_bb68_0e5f_e0c8);

    tell("number", "map[one]", &map["one"].to_string());
    tell("total", "map", &map.len().to_string());
    tell("number", "set[1]", &set[1].to_string());
    tell("number", "inside[2]", &inside[2].to_string());
    tell("total", "inside", &inside.len().to_string());
    tell("number", "outside[2]", &outside[2].to_string());
    tell("text", "fixed", "static");
    tell("text", "growing", "growing");
    tell("number", "array[1]", &array[1].to_string());
    tell("text", "letters", &letters);
    tell("means", "date", &date.to_string());
    tell("means", "ides", &ides.to_string());
    tell("means", "time", &time.to_string());
    tell("means", "both", &both.to_string());
    tell("means", "moment", &moment.to_string());
    tell("means", "zoned", &zoned.to_string());
    tell("means", "span", "-1.5s");
    tell("number", "locked.data", &guard.to_string());
    tell("shows", "locked.locked", "true");
    tell("number", "shared.readers", "2");
    tell("shows", "once.done", "true");
    tell("total", "table", &table.len().to_string());
    tell("number", "table[3]", &table.get(&3).unwrap().to_string());
    tell("number", "unique[0]", "77");
    tell("has", "cell", "Some(0x9)");
    tell("means", "id", &id.to_string());
    black_box((&map, &set, &inside, &outside, &fixed, &growing, &array, &letters, &date, &ides));
    black_box((&time, &both, &moment, &zoned, &span, &locked, &guard, &shared, &first, &second));
    black_box((&once, &table, &unique, &cell, &id));
    std::process::abort();
}
