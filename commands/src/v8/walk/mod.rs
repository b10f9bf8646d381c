//! Walkers of JavaScript.

pub mod jselement;
pub mod jsframe;
pub mod jsprop;
