//! Text and JSON from the records of dcmds.
