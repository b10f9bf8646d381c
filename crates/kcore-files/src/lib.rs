//! Finding the files of a core and unpacking compressed cores.
