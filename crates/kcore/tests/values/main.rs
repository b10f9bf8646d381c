//! Values by the types of real programs, where the memory is not what it should be.

mod wild;
