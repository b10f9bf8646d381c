//! The dcmds and walkers of kcore.
