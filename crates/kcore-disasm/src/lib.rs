//! Disassembly for kcore.
