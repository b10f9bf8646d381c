//! Stacks as structures: a collection that the caller owns, and what it has.
//!
//! Every function takes null and numbers that are too large: the answer is then that there is nothing.

use std::{
    ffi::{CString, c_char, c_int},
    mem::size_of,
    ptr::{copy_nonoverlapping, from_ref, write_bytes},
    time::Duration,
};

use super::{
    number_of,
    strings::{at, c_string},
};
use crate::{Costs, Group, GroupFrame, Stacks, stacks};

/// `kcore_agent_collection`: what a caller asks about, in the form of C.
pub struct Collection {
    groups: Vec<CGroup>,
    missing: Vec<(c_int, CString)>,
    costs: CCosts,
    text: CString,
    json: CString,
}

struct CGroup {
    tids: Vec<c_int>,
    waits_in: Option<CString>,
    end: CString,
    frames: Vec<Names>,
}

/// What a frame points to, and the rest of it.
struct Names {
    pc: u64,
    function: Option<CString>,
    module: Option<CString>,
    file: Option<CString>,
    trust: CString,
    line: u32,
    flags: u32,
}

/// `struct kcore_agent_frame`. Fields are only ever added, at the end.
#[repr(C)]
pub struct CFrame {
    pc: u64,
    function: *const c_char,
    module: *const c_char,
    file: *const c_char,
    trust: *const c_char,
    line: u32,
    flags: u32,
}

/// `struct kcore_agent_costs`. Fields are only ever added, at the end.
#[repr(C)]
pub struct CCosts {
    threads: u64,
    ended: u64,
    prepared_ns: u64,
    collected_ns: u64,
    answer_median_ns: u64,
    answer_longest_ns: u64,
    handler_median_ns: u64,
    handler_longest_ns: u64,
    named_ns: u64,
}

/// `KCORE_AGENT_FRAME_INLINE`.
const INLINE: u32 = 1;

/// Collects the stacks of all threads; 0 or an error number.
///
/// # Safety
/// `to` points to where a pointer may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kcore_agent_collect(to: *mut *mut Collection) -> c_int {
    if to.is_null() {
        return libc::EINVAL;
    }
    match stacks() {
        Ok(stacks) => {
            let collection = Box::into_raw(Box::new(Collection::of(&stacks)));
            // SAFETY: the caller promises it.
            unsafe { to.write(collection) };
            0
        }
        Err(error) => {
            // SAFETY: the same.
            unsafe { to.write(std::ptr::null_mut()) };
            number_of(&error)
        }
    }
}

/// Frees a collection and all that it gave.
///
/// # Safety
/// It comes from `kcore_agent_collect` and was not freed before, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kcore_agent_release(collection: *mut Collection) {
    if !collection.is_null() {
        // SAFETY: it was made by `Box::into_raw`, and is the caller's.
        drop(unsafe { Box::from_raw(collection) });
    }
}

/// How many groups there are.
///
/// # Safety
/// As for all that follow: the collection is one that was not released, or null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kcore_agent_groups(collection: *const Collection) -> usize {
    // SAFETY: the caller promises it.
    unsafe { collection.as_ref() }.map_or(0, |it| it.groups.len())
}

/// How many threads a group has.
///
/// # Safety
/// As of `kcore_agent_groups`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kcore_agent_group_threads(
    collection: *const Collection,
    group: usize,
) -> usize {
    // SAFETY: the caller promises it.
    unsafe { group_of(collection, group) }.map_or(0, |it| it.tids.len())
}

/// The id of a thread of a group; 0 where there is none.
///
/// # Safety
/// As of `kcore_agent_groups`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kcore_agent_group_thread(
    collection: *const Collection,
    group: usize,
    thread: usize,
) -> c_int {
    // SAFETY: the caller promises it.
    unsafe { group_of(collection, group) }
        .and_then(|it| it.tids.get(thread))
        .copied()
        .unwrap_or_default()
}

/// The system call that the threads of a group wait in; null for none.
///
/// # Safety
/// As of `kcore_agent_groups`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kcore_agent_group_waits_in(
    collection: *const Collection,
    group: usize,
) -> *const c_char {
    // SAFETY: the caller promises it.
    at(unsafe { group_of(collection, group) }.and_then(|it| it.waits_in.as_ref()))
}

/// Why the stack of a group has no more frames.
///
/// # Safety
/// As of `kcore_agent_groups`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kcore_agent_group_end(
    collection: *const Collection,
    group: usize,
) -> *const c_char {
    // SAFETY: the caller promises it.
    at(unsafe { group_of(collection, group) }.map(|it| &it.end))
}

/// How many frames the stack of a group has.
///
/// # Safety
/// As of `kcore_agent_groups`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kcore_agent_group_frames(
    collection: *const Collection,
    group: usize,
) -> usize {
    // SAFETY: the caller promises it.
    unsafe { group_of(collection, group) }.map_or(0, |it| it.frames.len())
}

/// Tells of a frame; 0, or `ENOENT` where there is none.
///
/// # Safety
/// As of `kcore_agent_groups`; `to` has room for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kcore_agent_group_frame(
    collection: *const Collection,
    group: usize,
    frame: usize,
    to: *mut CFrame,
    size: usize,
) -> c_int {
    // SAFETY: the caller promises it.
    let found = unsafe { group_of(collection, group) }.and_then(|it| it.frames.get(frame));
    // SAFETY: the same.
    unsafe { give(found.map(Names::as_frame).as_ref(), to, size) }
}

/// How many threads did not answer.
///
/// # Safety
/// As of `kcore_agent_groups`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kcore_agent_missing(collection: *const Collection) -> usize {
    // SAFETY: the caller promises it.
    unsafe { collection.as_ref() }.map_or(0, |it| it.missing.len())
}

/// The id of a thread that did not answer; 0 where there is none.
///
/// # Safety
/// As of `kcore_agent_groups`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kcore_agent_missing_thread(
    collection: *const Collection,
    index: usize,
) -> c_int {
    // SAFETY: the caller promises it.
    unsafe { missing_of(collection, index) }.map_or(0, |(tid, _)| *tid)
}

/// Why a thread did not answer.
///
/// # Safety
/// As of `kcore_agent_groups`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kcore_agent_missing_why(
    collection: *const Collection,
    index: usize,
) -> *const c_char {
    // SAFETY: the caller promises it.
    at(unsafe { missing_of(collection, index) }.map(|(_, why)| why))
}

/// Tells what it cost; 0, or `ENOENT` where there is no collection.
///
/// # Safety
/// As of `kcore_agent_group_frame`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kcore_agent_collection_costs(
    collection: *const Collection,
    to: *mut CCosts,
    size: usize,
) -> c_int {
    // SAFETY: the caller promises it.
    unsafe { give(collection.as_ref().map(|it| &it.costs), to, size) }
}

/// All of it as text.
///
/// # Safety
/// As of `kcore_agent_groups`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kcore_agent_collection_text(
    collection: *const Collection,
) -> *const c_char {
    // SAFETY: the caller promises it.
    at(unsafe { collection.as_ref() }.map(|it| &it.text))
}

/// The groups as JSON Lines.
///
/// # Safety
/// As of `kcore_agent_groups`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kcore_agent_collection_json(
    collection: *const Collection,
) -> *const c_char {
    // SAFETY: the caller promises it.
    at(unsafe { collection.as_ref() }.map(|it| &it.json))
}

/// # Safety
/// As of `kcore_agent_groups`.
unsafe fn group_of<'a>(collection: *const Collection, group: usize) -> Option<&'a CGroup> {
    // SAFETY: the caller promises it.
    unsafe { collection.as_ref() }?.groups.get(group)
}

/// # Safety
/// As of `kcore_agent_groups`.
unsafe fn missing_of<'a>(
    collection: *const Collection,
    index: usize,
) -> Option<&'a (c_int, CString)> {
    // SAFETY: the caller promises it.
    unsafe { collection.as_ref() }?.missing.get(index)
}

/// Copies a structure as far as the caller knows it, and fills with zeros what it knows besides.
///
/// # Safety
/// `to` has room for `size` bytes, or is null.
unsafe fn give<T>(from: Option<&T>, to: *mut T, size: usize) -> c_int {
    if to.is_null() {
        return libc::EINVAL;
    }
    let to = to.cast::<u8>();
    // SAFETY: the caller promises it.
    unsafe { write_bytes(to, 0, size) };
    let Some(from) = from else { return libc::ENOENT };
    // SAFETY: both have so many bytes, and one is the caller's own.
    unsafe { copy_nonoverlapping(from_ref(from).cast(), to, size.min(size_of::<T>())) };
    0
}

impl Collection {
    fn of(stacks: &Stacks) -> Self {
        let missing = stacks.missing.iter();
        Self {
            groups: stacks.groups.iter().map(CGroup::of).collect(),
            missing: missing
                .map(|(tid, why)| (tid.cast_signed(), c_string(&why.to_string())))
                .collect(),
            costs: CCosts::of(&stacks.costs),
            text: c_string(&stacks.text),
            json: c_string(&stacks.json),
        }
    }
}

impl CGroup {
    fn of(group: &Group) -> Self {
        Self {
            tids: group.tids.iter().map(|tid| tid.cast_signed()).collect(),
            waits_in: group.waits_in.as_deref().map(c_string),
            end: c_string(&group.end),
            frames: group.frames.iter().map(Names::of).collect(),
        }
    }
}

impl Names {
    fn of(frame: &GroupFrame) -> Self {
        Self {
            pc: frame.pc.get(),
            function: frame.function.as_deref().map(c_string),
            module: frame.module.as_deref().map(c_string),
            file: frame.file.as_deref().map(c_string),
            trust: c_string(frame.trust),
            line: frame.line.unwrap_or(0),
            flags: if frame.inline { INLINE } else { 0 },
        }
    }

    /// As the caller sees it: what it points to stays for as long as the collection.
    fn as_frame(&self) -> CFrame {
        CFrame {
            pc: self.pc,
            function: at(self.function.as_ref()),
            module: at(self.module.as_ref()),
            file: at(self.file.as_ref()),
            trust: at(Some(&self.trust)),
            line: self.line,
            flags: self.flags,
        }
    }
}

impl CCosts {
    fn of(costs: &Costs) -> Self {
        let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Self {
            threads: costs.threads as u64,
            ended: costs.ended as u64,
            prepared_ns: ns(costs.prepared),
            collected_ns: ns(costs.collected),
            answer_median_ns: ns(costs.answer.0),
            answer_longest_ns: ns(costs.answer.1),
            handler_median_ns: ns(costs.handler.0),
            handler_longest_ns: ns(costs.handler.1),
            named_ns: ns(costs.named),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs() -> CCosts {
        CCosts::of(&Costs { threads: 7, named: Duration::from_micros(3), ..Costs::default() })
    }

    #[test]
    fn an_older_caller_gets_what_it_knows_and_no_byte_more() {
        let mut room = [0xAA_u8; size_of::<CCosts>()];
        // SAFETY: the room is larger than what is said.
        let answer = unsafe { give(Some(&costs()), room.as_mut_ptr().cast(), 8) };
        assert_eq!((answer, room[0], room[7], room[8]), (0, 7, 0, 0xAA));
    }

    #[test]
    fn a_newer_caller_finds_zeros_where_this_library_has_nothing() {
        let mut room = [0xAA_u8; size_of::<CCosts>() + 8];
        // SAFETY: the room has this size.
        let answer = unsafe { give(Some(&costs()), room.as_mut_ptr().cast(), room.len()) };
        assert_eq!((answer, &room[size_of::<CCosts>()..]), (0, &[0; 8][..]));
        assert_eq!(room[size_of::<CCosts>() - 8..][..2], 3_000_u16.to_le_bytes());
    }

    #[test]
    fn what_is_not_there_is_an_answer() {
        let mut room = [0xAA_u8; 8];
        // SAFETY: null is allowed everywhere, and the room has this size.
        unsafe {
            assert_eq!(kcore_agent_groups(std::ptr::null()), 0);
            assert!(kcore_agent_group_end(std::ptr::null(), 0).is_null());
            assert_eq!(kcore_agent_missing_thread(std::ptr::null(), 3), 0);
            assert_eq!(give::<CCosts>(None, room.as_mut_ptr().cast(), 8), libc::ENOENT);
            assert_eq!(give(Some(&costs()), std::ptr::null_mut(), 8), libc::EINVAL);
            kcore_agent_release(std::ptr::null_mut());
        }
        assert_eq!(room, [0; 8]);
    }
}
