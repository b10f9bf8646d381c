//! `PAGEMAP_SCAN` (Linux `Documentation/admin-guide/mm/pagemap.rst`; since 6.7): which pages of a
//! process are there, without a look at those that are not.

use std::{fs::File, io, mem::MaybeUninit, os::fd::AsRawFd};

use kcore_mem::{Addr, AddrRange};

/// `PAGE_IS_*`, Linux `include/uapi/linux/fs.h`.
pub const IS_FILE: u64 = 1 << 2;
/// It is in memory.
pub const IS_PRESENT: u64 = 1 << 3;
/// It is swapped out, or a mark stands in its place.
pub const IS_SWAPPED: u64 = 1 << 4;
/// It is the page of zeros that all processes share.
pub const IS_ZERO: u64 = 1 << 5;
/// It is a guard page (since 6.15).
pub const IS_GUARD: u64 = 1 << 8;

/// Runs of pages that one call tells of, at most.
const REGIONS: usize = 2048;

/// `struct pm_scan_arg`.
#[repr(C)]
#[derive(Default)]
struct Arguments {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    vec: u64,
    vec_len: u64,
    max_pages: u64,
    category_inverted: u64,
    category_mask: u64,
    category_anyof_mask: u64,
    return_mask: u64,
}

/// `struct page_region`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Region {
    start: u64,
    end: u64,
    categories: u64,
}

/// `_IOWR('f', 16, struct pm_scan_arg)`.
const PAGEMAP_SCAN: libc::c_ulong =
    3 << 30 | (size_of::<Arguments>() as libc::c_ulong) << 16 | (b'f' as libc::c_ulong) << 8 | 16;

/// Calls `seen` with runs of pages that are in memory or swapped out, and what they are (of `wanted`), lowest first.
/// The answer is how far it came: less than the end when there is more.
///
/// # Errors
/// `ENOTTY` where the system has no such call, `EINVAL` where it does not know all that is wanted.
pub fn scan(
    pagemap: &File,
    range: AddrRange,
    wanted: u64,
    seen: &mut dyn FnMut(AddrRange, u64),
) -> io::Result<Addr> {
    // A process may have tens of thousands of mappings, each of which is a call: nothing is cleared for it.
    let mut regions = [const { MaybeUninit::<Region>::uninit() }; REGIONS];
    let mut arguments = Arguments {
        size: size_of::<Arguments>() as u64,
        start: range.start.get(),
        end: range.end.get(),
        vec: regions.as_mut_ptr() as u64,
        vec_len: REGIONS as u64,
        category_anyof_mask: IS_PRESENT | IS_SWAPPED,
        return_mask: wanted,
        ..Arguments::default()
    };
    // SAFETY: the arguments are laid out as the kernel wants them, and it writes at most so many regions as
    // there are, to an array that lives until the call is over.
    let count = unsafe { libc::ioctl(pagemap.as_raw_fd(), PAGEMAP_SCAN as _, &raw mut arguments) };
    let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
    let mut end = Addr::new(arguments.walk_end);
    for region in regions.iter().take(count) {
        // SAFETY: the kernel has written that many regions, and any bits are one.
        let region = unsafe { region.assume_init_ref() };
        let range = AddrRange::new(Addr::new(region.start), Addr::new(region.end));
        seen(range, region.categories);
        end = end.max(range.end);
    }
    // The kernel gathers 512 regions at a time. It notes where each but the last batch ended, and reports that as the
    // end of its walk, though it has gone on (`do_pagemap_scan`, Linux 6.7 to 6.18).
    Ok(if count < REGIONS { range.end } else { end })
}
