//! The stack walker of kcore.
