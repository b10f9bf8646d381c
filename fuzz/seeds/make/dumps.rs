//! Minidumps and tar archives, the smallest that have something of each kind.

/// Name and bytes of each minidump.
pub fn minidumps() -> Vec<(&'static str, Vec<u8>)> {
    vec![("crash", minidump(11)), ("asked", minidump(0xffff_ffff))]
}

/// A thread of x86-64 with a stack of 16 bytes, two mappings, and an exception.
fn minidump(signal: u32) -> Vec<u8> {
    let mut context = vec![0; 1232];
    context[48..52].copy_from_slice(&0x0010_000b_u32.to_le_bytes());
    context[152..160].copy_from_slice(&0x3008_u64.to_le_bytes());
    let maps = b"1000-2000 r-xp 00000000 08:01 7 /usr/a\n3000-4000 rw-p 00000000 00:00 0 [stack]\n";
    let names = [7_u32, 3, 5, 6, 0x4767_0009, 0x4767_0006];
    let first = 32 + 12 * names.len() as u32;
    let blobs = [&context[..], &[7; 16]];
    let (context_at, stack_at) = (first, first + context.len() as u32);
    let location = |size: usize, at: u32| words(&[size as u32, at]);
    let memory = [&0x3008_u64.to_le_bytes()[..], &location(16, stack_at)].concat();
    let system =
        [&[9, 0, 0, 0, 0, 0, 1, 0][..], &words(&[6, 1, 0, 0x8201, 0, 0]), &[0; 24]].concat();
    let thread =
        [&words(&[1, 4711, 0, 0, 0, 0, 0])[..], &memory, &location(context.len(), context_at)]
            .concat();
    let exception = [
        &words(&[4711, 0, signal, 1, 0, 0, 0x10, 0, 0, 0])[..],
        &[0; 120],
        &location(context.len(), context_at),
    ]
    .concat();
    let list = [&words(&[1])[..], &memory].concat();
    let streams: [&[u8]; 6] = [&system, &thread, &list, &exception, maps, b"/usr/a\0-x\0"];
    let mut at = stack_at + 16;
    let mut bytes = [&b"MDMP"[..], &words(&[0xa793, names.len() as u32, 32, 0, 0, 0, 0])].concat();
    for (name, stream) in names.iter().zip(streams) {
        bytes.extend(words(&[*name, stream.len() as u32, at]));
        at += stream.len() as u32;
    }
    blobs.iter().chain(&streams).for_each(|blob| bytes.extend_from_slice(blob));
    bytes
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Name and bytes of each archive.
pub fn archives() -> Vec<(&'static str, Vec<u8>)> {
    let layer = archive(&[("usr/a", b'0', b"\x7fELF"), ("usr/b", b'1', b"")]);
    vec![
        ("image", archive(&[("blobs/layer.tar", b'0', &layer)])),
        ("layer", layer),
        ("long", archive(&[("././@LongLink", b'L', b"usr/a\0"), ("x", b'0', b"text")])),
        ("pax", archive(&[("pax", b'x', b"14 path=usr/a\n10 size=4\n"), ("x", b'0', b"text")])),
    ]
}

fn archive(files: &[(&str, u8, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (name, kind, text) in files {
        let mut header = vec![0; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[124..136].copy_from_slice(format!("{:011o}\0", text.len()).as_bytes());
        header[156] = *kind;
        header[157..162].copy_from_slice(b"usr/a");
        header[257..265].copy_from_slice(b"ustar\x0000");
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        bytes.extend(header);
        bytes.extend_from_slice(text);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
    }
    bytes.resize(bytes.len() + 1024, 0);
    bytes
}
