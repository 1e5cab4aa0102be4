//! Zeroed memory for large tables, on huge pages where the system offers them: a look-up in a table of many megabytes
//! misses the translation buffer nearly every time otherwise.
#![allow(unsafe_code, reason = "memory is asked of the system, to be laid out by the table")]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A huge page, and the alignment of everything that is as large as one.
pub const HUGE: usize = 1 << 21;
/// A line of the cache, and the alignment of everything else.
pub const LINE: usize = 64;

/// Of smaller parts none are put together on a huge page: they would fill more of it than they need, and a table of some hundred
/// kilobytes gains nothing.
const LEAST_PART: usize = HUGE / 4;

/// So many bytes, zero at first.
#[derive(Debug)]
pub struct Pages {
    start: NonNull<u8>,
    bytes: usize,
    /// To be given back with the pages; the last of those on a huge page gives it back.
    _memory: Memory,
}

#[derive(Debug)]
enum Memory {
    Own { _block: Block },
    Shared { _block: Arc<Block> },
}

// SAFETY: it is memory that nobody else owns; what is done with it through shared references is for the table to order.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Pages {
    /// At least so many, and at least one. `None` if there are not so many.
    pub fn new(bytes: usize) -> Option<Pages> {
        let block = Block::new(bytes)?;
        Some(Pages { start: block.start, bytes: block.layout.size(), _memory: Memory::Own { _block: block } })
    }

    #[inline]
    pub fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Pages for the parts of one table, which replace each other one after the other while it grows: neighbours that are smaller than
/// a huge page lie on one together, or on two.
#[derive(Debug, Default)]
pub struct Supply {
    open: Option<Open>,
    /// Of all huge pages that hold parts or have room for some.
    bytes: Arc<AtomicUsize>,
}

/// Huge pages with room for more parts.
#[derive(Debug)]
struct Open {
    block: Arc<Block>,
    used: usize,
}

impl Supply {
    /// About so many bytes, and at least `least` of them. `None` if there are not so many.
    pub fn take(&mut self, bytes: usize, least: usize) -> Option<Pages> {
        let bytes = bytes.max(least).next_multiple_of(LINE);
        if bytes > HUGE * 3 / 4 {
            // As many huge pages as are nearest, if these are enough.
            return Pages::new((bytes + HUGE / 2).max(least + HUGE - 1) / HUGE * HUGE);
        }
        if bytes < LEAST_PART {
            return Pages::new(bytes);
        }
        let has_room = |open: &Open| open.block.layout.size() - open.used >= least;
        let mut open = match self.open.take().filter(has_room) {
            Some(open) => open,
            None => self.block(if bytes > HUGE / 2 { 2 * HUGE } else { HUGE })?,
        };
        let rest = open.block.layout.size() - open.used;
        // What is too little for another part is added to this one.
        let part = if rest < bytes + least { rest } else { bytes };
        // SAFETY: the part lies within the block, and is given to nobody else.
        let start = unsafe { open.block.start.add(open.used) };
        let block = Arc::clone(&open.block);
        open.used += part;
        self.open = Some(open);
        Some(Pages { start, bytes: part, _memory: Memory::Shared { _block: block } })
    }

    fn block(&self, bytes: usize) -> Option<Open> {
        let mut block = Block::new(bytes)?;
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        block.counted_in = Some(Arc::clone(&self.bytes));
        Some(Open { block: Arc::new(block), used: 0 })
    }

    /// What is taken of the system for these parts of it.
    pub fn bytes_of<'p>(&self, pages: impl Iterator<Item = &'p Pages>) -> u64 {
        let own = pages.filter(|pages| matches!(pages._memory, Memory::Own { .. })).map(Pages::bytes);
        (own.sum::<usize>() + self.bytes.load(Ordering::Relaxed)) as u64
    }
}

/// Memory as the system gave it.
#[derive(Debug)]
struct Block {
    start: NonNull<u8>,
    layout: Layout,
    counted_in: Option<Arc<AtomicUsize>>,
}

// SAFETY: nothing is done with it but to give it back.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl Block {
    fn new(bytes: usize) -> Option<Block> {
        let align = if bytes >= HUGE { HUGE } else { LINE };
        let layout = Layout::from_size_align(bytes.max(1), align).ok()?;
        #[cfg(target_os = "linux")]
        if bytes >= HUGE {
            return Block::mapped(layout);
        }
        // SAFETY: the size is not zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Block { start, layout, counted_in: None })
    }

    /// A mapping of its own, cut to the alignment.
    #[cfg(target_os = "linux")]
    fn mapped(layout: Layout) -> Option<Block> {
        let bytes = layout.size().next_multiple_of(HUGE);
        let (kind, access) = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, libc::PROT_READ | libc::PROT_WRITE);
        let whole = bytes + HUGE;
        // SAFETY: a new mapping, wherever the system likes.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), whole, access, kind, -1, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        let start = start.cast::<u8>();
        let before = start.align_offset(HUGE);
        // SAFETY: all of it lies within the mapping that was just made, and what is given back is used by nobody. The advice
        // changes nothing but the size of pages, if that.
        unsafe {
            let aligned = start.add(before);
            if before > 0 {
                libc::munmap(start.cast(), before);
            }
            let after = whole - before - bytes;
            if after > 0 {
                libc::munmap(aligned.add(bytes).cast(), after);
            }
            libc::madvise(aligned.cast(), bytes, libc::MADV_HUGEPAGE);
            let layout = Layout::from_size_align(bytes, HUGE).ok()?;
            Some(Block { start: NonNull::new(aligned)?, layout, counted_in: None })
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(all) = &self.counted_in {
            all.fetch_sub(self.layout.size(), Ordering::Relaxed);
        }
        #[cfg(target_os = "linux")]
        if self.layout.align() == HUGE {
            // SAFETY: it was mapped with this size, and nobody refers to it any more.
            unsafe { libc::munmap(self.start.as_ptr().cast(), self.layout.size()) };
            return;
        }
        // SAFETY: it was allocated with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) };
    }
}

/// Data of which nothing but zeros is a value, and which need not be dropped.
///
/// # Safety
/// It is.
pub unsafe trait Zeroed {}

/// A list of fixed length on such pages, all zero at first.
#[derive(Debug)]
pub struct ZeroedList<T> {
    start: NonNull<T>,
    length: usize,
    /// None as long as it is empty.
    pages: Option<Pages>,
}

// SAFETY: it owns plain data, and its memory.
unsafe impl<T: Zeroed + Send> Send for ZeroedList<T> {}
// SAFETY: as above.
unsafe impl<T: Zeroed + Sync> Sync for ZeroedList<T> {}

impl<T> Default for ZeroedList<T> {
    fn default() -> ZeroedList<T> {
        ZeroedList { start: NonNull::dangling(), length: 0, pages: None }
    }
}

impl<T: Zeroed> ZeroedList<T> {
    /// `None` if there is no memory.
    pub fn new(length: usize) -> Option<ZeroedList<T>> {
        const { assert!(align_of::<T>() <= LINE) };
        let pages = Pages::new(length.checked_mul(size_of::<T>())?)?;
        Some(ZeroedList { start: pages.start.cast(), length, pages: Some(pages) })
    }

    pub fn bytes(&self) -> usize {
        self.pages.as_ref().map_or(0, Pages::bytes)
    }
}

impl<T: Zeroed> Deref for ZeroedList<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: there is room for so many, well aligned, and each is zero or was written.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }
}

impl<T: Zeroed> DerefMut for ZeroedList<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and nobody else has it.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // SAFETY: zeros are a number.
    unsafe impl Zeroed for u64 {}

    #[test]
    fn zero_and_aligned() {
        for bytes in [1, 100, 4096, HUGE - 1, HUGE, HUGE + 1, 3 * HUGE + 77] {
            let pages = Pages::new(bytes).expect("there is so much");
            assert!(pages.bytes() >= bytes);
            assert_eq!(pages.start().align_offset(if bytes >= HUGE { HUGE } else { LINE }), 0);
            // SAFETY: so many bytes are there, and nobody else has them.
            let all = unsafe { std::slice::from_raw_parts_mut(pages.start(), pages.bytes()) };
            assert!(all.iter().all(|byte| *byte == 0));
            all.fill(7);
        }
    }

    /// Parts of huge pages are apart, what is taken is counted, and it is given back with the last of them.
    #[test]
    fn parts_lie_beside_each_other() {
        let mut supply = Supply::default();
        for (bytes, least, count, pages) in [
            (HUGE / 4, 7, 4, 1),
            (HUGE / 3 + 7, HUGE / 4, 3, 1),
            (HUGE / 4 + LINE, 7, 3, 1),
            (1_200_000, 1_000_000, 3, 2),
        ] {
            let parts: Vec<_> =
                (0..count).map(|_| supply.take(bytes, least).expect("there is so much")).collect();
            assert_eq!(supply.bytes_of(parts.iter()), (pages * HUGE) as u64);
            for (number, part) in parts.iter().enumerate() {
                assert!(part.bytes() >= least && part.start().align_offset(LINE) == 0);
                // SAFETY: so many bytes are there, and nobody else has them.
                let all = unsafe { std::slice::from_raw_parts_mut(part.start(), part.bytes()) };
                assert!(all.iter().all(|byte| *byte == 0));
                all.fill(number as u8 + 1);
            }
            drop(parts);
            let small = supply.take(LEAST_PART - LINE, 1).expect("there is so much");
            let large = supply.take(2 * HUGE + 1, 2 * HUGE + 1).expect("there is so much");
            assert_eq!(large.bytes(), 3 * HUGE);
            supply.open = None;
            assert_eq!(supply.bytes_of([&small, &large].into_iter()), (LEAST_PART - LINE + 3 * HUGE) as u64);
        }
    }

    #[test]
    fn lists_begin_with_zeros() {
        assert!(ZeroedList::<u64>::default().is_empty());
        for length in [1, 1000, HUGE] {
            let mut list: ZeroedList<u64> = ZeroedList::new(length).expect("there is so much");
            assert!(list.len() == length && list.iter().all(|number| *number == 0));
            list[length - 1] = 5;
            assert_eq!(list.iter().sum::<u64>(), 5);
            assert!(list.bytes() >= 8 * length);
        }
    }
}
