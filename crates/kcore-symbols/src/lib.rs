//! Symbols, source lines and demangled names.
