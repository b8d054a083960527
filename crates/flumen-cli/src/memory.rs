//! Memory: two allocators, and what a server gives back.
//!
//! A command takes memory from the allocator of the system, which costs nothing to start. A server takes it from mimalloc:
//! it makes and drops trees of small objects on several threads.
#![expect(unsafe_code, reason = "allocators and advice about memory have no safe interface")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    sync::atomic::{AtomicBool, Ordering},
};

use libmimalloc_sys::{
    mi_is_in_heap_region, mi_option_max_warnings, mi_option_set, mi_option_t,
    mi_option_use_numa_nodes,
};
use mimalloc::MiMalloc;

/// Delay before mimalloc returns freed pages. The crate names its neighbours only.
const PURGE_DELAY: mi_option_t = mi_option_use_numa_nodes - 1;
/// Size of the first arena in KiB.
#[cfg(target_os = "linux")]
const ARENA_RESERVE: mi_option_t = mi_option_max_warnings + 3;

/// Set once, before the process starts other threads.
static IS_SERVER: AtomicBool = AtomicBool::new(false);

/// Makes this process a server: from now on memory comes from mimalloc, and freed pages go back to the system at once.
///
/// By default mimalloc keeps freed pages for a second and looks at the clock when it is asked for more, so a server that
/// is idle after a large answer would keep them for good. With 10,000 objects, after a list of half of them, that is
/// 197 MB against 27 MB; requests take the same time.
pub(crate) fn serve() {
    // SAFETY: sets numbers that the allocator reads its behaviour from; it has allocated nothing yet.
    unsafe {
        mi_option_set(PURGE_DELAY, 0);
        // The tables of an arena of 1 GiB are 40 pages of memory. Larger arenas follow when they are needed.
        #[cfg(target_os = "linux")]
        mi_option_set(ARENA_RESERVE, 32 << 10);
    }
    IS_SERVER.store(true, Ordering::Relaxed);
}

/// The allocator of the program.
///
/// With mimalloc from the start, a small build would cause some 80 more page faults and take a tenth longer.
#[derive(Debug)]
pub struct Allocator;

impl Allocator {
    /// Whether a block belongs to mimalloc. A thread that was handed such a block has also seen the flag.
    fn is_ours(block: *const u8) -> bool {
        // SAFETY: looks the address up, whatever it is.
        IS_SERVER.load(Ordering::Relaxed) && unsafe { mi_is_in_heap_region(block.cast()) }
    }
}

// SAFETY: each block is returned to and resized by the allocator that it came from, with the layout that the caller gave.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if IS_SERVER.load(Ordering::Relaxed) {
            unsafe { MiMalloc.alloc(layout) }
        } else {
            unsafe { System.alloc(layout) }
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if IS_SERVER.load(Ordering::Relaxed) {
            unsafe { MiMalloc.alloc_zeroed(layout) }
        } else {
            unsafe { System.alloc_zeroed(layout) }
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if Self::is_ours(block) {
            unsafe { MiMalloc.dealloc(block, layout) }
        } else {
            unsafe { System.dealloc(block, layout) }
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if Self::is_ours(block) {
            unsafe { MiMalloc.realloc(block, layout, size) }
        } else {
            unsafe { System.realloc(block, layout, size) }
        }
    }
}

#[cfg(target_os = "linux")]
pub(crate) use program::forget_start;

/// Elsewhere the system decides alone.
#[cfg(not(target_os = "linux"))]
pub(crate) async fn forget_start() {}

#[cfg(target_os = "linux")]
mod program {
    use std::{env, fs, ops::Range, path::Path, ptr::with_exposed_provenance_mut, time::Duration};

    use rustix::mm::{Advice, madvise};

    /// By then a server has done what it does once.
    const START: Duration = Duration::from_millis(500);

    /// Lets go of the code that only starting has needed, some time after the start.
    ///
    /// Starting goes through half of the program: options, keys, all kinds. Of an idle server, these pages
    /// are half of what is resident (14 of 27 MB). What is needed again comes back from the cache of the
    /// system, some microseconds a page.
    pub(crate) async fn forget_start() {
        tokio::time::sleep(START).await;
        forget_code();
    }

    fn forget_code() {
        let maps = maps();
        if let Ok(program) = env::current_exe() {
            code(&maps, &program).for_each(forget);
        }
    }

    /// The memory of this process.
    #[expect(clippy::disallowed_methods, reason = "the file is the system's, and no source")]
    fn maps() -> String {
        fs::read_to_string("/proc/self/maps").unwrap_or_default()
    }

    fn forget(pages: Range<usize>) {
        let start = with_exposed_provenance_mut(pages.start);
        // SAFETY: these pages can be read and run but not written, so the file of the program has them as
        // they are, and whoever touches one gets it from there again.
        let _ = unsafe { madvise(start, pages.len(), Advice::LinuxDontNeed) };
    }

    /// Where the code of a program is, in what the system says of a process.
    fn code<'a>(maps: &'a str, program: &'a Path) -> impl Iterator<Item = Range<usize>> + 'a {
        maps.lines().filter_map(move |line| {
            let mut words = line.splitn(6, ' ');
            let (start, end) = words.next()?.split_once('-')?;
            let is_code =
                words.next()? == "r-xp" && words.nth(3)?.trim_start() == program.to_str()?;
            let address = |text| usize::from_str_radix(text, 16).ok();
            is_code.then_some(address(start)?..address(end)?)
        })
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn only_the_code_of_the_program_is_found() {
            let maps = "\
55f0a0000000-55f0a0400000 r--p 00000000 fe:00 1234                       /usr/bin/a program
55f0a0400000-55f0a2900000 r-xp 00400000 fe:00 1234                       /usr/bin/a program
55f0a2900000-55f0a2a00000 rw-p 02900000 fe:00 1234                       /usr/bin/a program
7f1000000000-7f1000200000 r-xp 00000000 fe:00 99                         /usr/lib/libc.so.6
7ffd00000000-7ffd00001000 r-xp 00000000 00:00 0                          [vdso]
7ffd00002000-7ffd00003000 r-xp 00000000 00:00 0 
";
            let mut found = code(maps, Path::new("/usr/bin/a program"));
            assert_eq!(found.next(), Some(0x55f0_a040_0000..0x55f0_a290_0000));
            assert_eq!(found.next(), None);
        }

        #[test]
        fn what_is_forgotten_comes_back() {
            forget_code();
            assert!(code(&maps(), &env::current_exe().expect("a path")).next().is_some());
        }
    }
}
