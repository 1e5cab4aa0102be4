//! Zeroed memory for large tables, on huge pages where the system offers them: a look-up in a table of many megabytes
//! misses the translation buffer nearly every time otherwise.
#![allow(unsafe_code, reason = "memory is asked of the system, to be laid out by the table")]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

/// A huge page, and the alignment of everything that is as large as one.
pub const HUGE: usize = 1 << 21;
/// A line of the cache, and the alignment of everything else.
pub const LINE: usize = 64;

/// So many bytes, zero at first.
#[derive(Debug)]
pub struct Pages {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: it is memory that nobody else owns; what is done with it through shared references is for the table to order.
unsafe impl Send for Pages {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

impl Pages {
    /// At least one byte. `None` if there is not so much.
    pub fn new(bytes: usize) -> Option<Pages> {
        let align = if bytes >= HUGE { HUGE } else { LINE };
        let layout = Layout::from_size_align(bytes.max(1), align).ok()?;
        #[cfg(target_os = "linux")]
        if bytes >= HUGE {
            return Pages::mapped(layout);
        }
        // SAFETY: the size is not zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Pages { start, layout })
    }

    /// A mapping of its own, cut to the alignment.
    #[cfg(target_os = "linux")]
    fn mapped(layout: Layout) -> Option<Pages> {
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
            Some(Pages { start: NonNull::new(aligned)?, layout })
        }
    }

    #[inline]
    pub fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    pub fn bytes(&self) -> usize {
        self.layout.size()
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
