//! Dcmds and walkers of JavaScript.

mod each_element;
mod frame_options;
mod frame_row;
mod frames;
pub mod heap;
pub mod jsarray;
pub mod jsawaiting;
pub mod jsclosure;
pub mod jsconstructor;
pub mod jsframe;
pub mod jsfunction;
pub mod jshandles;
pub mod jsprint;
pub mod jssource;
pub mod jsstack;
pub mod member_path;
pub mod nodebuffer;
pub mod raw;
mod subject;
mod type_line;
pub mod walk;
