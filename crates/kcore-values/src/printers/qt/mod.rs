//! Types of Qt that expressions cannot tell: calendars are reckoned, and tables of lists are walked. All others are in
//! the set `qt.kcore`.

pub mod date;
pub mod hash;
pub mod uuid;
