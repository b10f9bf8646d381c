//! Go, as the compiler gc lays its values out (releases 1.18 to 1.25; `runtime/map.go`, `chan.go`,
//! `runtime2.go`, `internal/runtime/maps`).

pub mod chan;
pub mod interface;
pub mod map;
pub mod slice;
pub mod string;
pub mod swiss_map;
