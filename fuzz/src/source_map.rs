//! Source maps, and texts of scripts that they are held against.

use kcore_symbols::{GeneratedText, SourceMap, data_url, last_url};

/// A map up to the first byte 0, and behind it a script. What a map tells of a place must be what it tells of that place
/// whatever was asked before; a map that fits has no place behind the script's lines.
pub fn run(data: &[u8]) {
    let end = data.iter().position(|byte| *byte == 0).unwrap_or(data.len());
    let (map, script) = (&data[..end], data.get(end + 1..).unwrap_or_default());
    let text = String::from_utf8_lossy(script);
    let _ = last_url(&text).and_then(data_url);
    let Ok(map) = SourceMap::parse(map) else { return };
    let units: Vec<u16> = text.encode_utf16().collect();
    let ends = units.iter().enumerate().filter(|(_, unit)| **unit == 0x0a);
    let starts: Vec<u32> = ends.map(|(at, _)| at as u32 + 1).collect();
    let fits = map.misfit(GeneratedText { units: &units, starts: &starts }).is_none();
    for line in 0..8_u32 {
        for column in [0, 1, 7, 80, u32::MAX] {
            let found = map.original(line, column);
            assert!(found.is_none() || !fits || line as usize <= starts.len(), "no such line");
            let _ = found.map(|place| place.source(Some("/app/dist")));
        }
    }
}
