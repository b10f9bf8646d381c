//! ELF cores, module images and the memory of a core.
