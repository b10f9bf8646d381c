//! A core in every compression that kcore unpacks, and a bomb.

use std::io::Write;

/// Name and bytes of each seed.
pub fn seeds(core: &[u8]) -> Vec<(&'static str, Vec<u8>)> {
    let bomb = [core, &[0; 1 << 20]].concat();
    vec![
        ("gzip", gzip(core)),
        ("zstd", zstd(core)),
        ("xz", xz(core)),
        ("lz4", lz4(core)),
        ("bzip2", bzip2(core)),
        ("bzip2_bomb", bzip2(&bomb)),
        ("two_frames", [zstd(core), zstd(&[0; 100])].concat()),
    ]
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 9);
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn lz4(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn bzip2(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}
