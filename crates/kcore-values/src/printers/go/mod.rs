//! Go, as the compiler gc lays its values out (releases 1.18 to 1.27; `runtime/map.go`, `chan.go`,
//! `runtime2.go`, `internal/runtime/maps`).

mod arguments;
pub mod chan;
mod descriptor;
pub mod interface;
pub mod map;
pub mod slice;
pub mod string;
pub mod swiss_map;
