//! Objects as V8 itself lays them out, in its own names.

mod shown;
pub mod v8array;
pub mod v8code;
pub mod v8context;
pub mod v8function;
pub mod v8internal;
pub mod v8metadata;
pub mod v8print;
pub mod v8scopeinfo;
pub mod v8str;
pub mod v8type;
