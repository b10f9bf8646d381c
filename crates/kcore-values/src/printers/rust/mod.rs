//! The standard library of Rust, from release 1.60 on, and some crates. Members are named as in `library/alloc`, `core`,
//! `std` and in hashbrown; how many wrappers lie around them differs by release.

pub mod atomic_bool;
pub mod btree;
pub mod chrono;
pub mod dashmap;
pub mod hash;
pub mod lazy_cell;
pub mod linked_list;
pub mod lock;
pub mod net;
pub mod once;
pub mod rc;
pub mod ref_cell;
pub mod slice;
pub mod string;
pub mod time;
pub mod trait_object;
pub mod uuid;
pub mod vec;
pub mod vec_deque;
