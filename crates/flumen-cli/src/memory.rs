//! How much memory the allocator reserves at the start, and what a server gives back.

use libmimalloc_sys::{
    mi_option_max_warnings, mi_option_set, mi_option_t, mi_option_use_numa_nodes,
};

/// How long the allocator keeps freed pages. The crate names its neighbours only.
const PURGE_DELAY: mi_option_t = mi_option_use_numa_nodes - 1;

/// Gives freed pages back to the system at once.
///
/// The allocator keeps them for a second and looks at the clock when it is asked for more, so a server that
/// falls idle after a large answer would keep them for good. With 10,000 objects, after a list of half of
/// them, that is 197 MB against 27 MB; requests take the same time.
#[expect(unsafe_code, reason = "the allocator has no safe interface for its options")]
pub(crate) fn return_at_once() {
    // SAFETY: sets one of the numbers that the allocator reads its behaviour from. Any value is valid, and
    // threads that read it meanwhile see the old one or the new one.
    unsafe { mi_option_set(PURGE_DELAY, 0) }
}

/// The size of the first arena, in KiB. The crate names its neighbours only.
#[cfg(target_os = "linux")]
const ARENA_RESERVE: mi_option_t = mi_option_max_warnings + 3;

/// Makes the allocator start with an arena of 32 MiB instead of 1 GiB; it reserves larger ones when it needs them.
///
/// The tables of the larger one are 40 pages that a small build writes and never uses: an eighth of its time. The
/// option counts at the first allocation, which comes before `main`, so the loader runs this.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "the allocator has no safe interface for its options")]
#[used]
#[unsafe(link_section = ".init_array")]
static RESERVE_LITTLE: extern "C" fn() = {
    extern "C" fn reserve_little() {
        // SAFETY: sets one of the numbers that the allocator reads its behaviour from. Any value is valid, and no
        // other thread runs yet.
        unsafe { mi_option_set(ARENA_RESERVE, 32 << 10) }
    }
    reserve_little
};

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

    #[expect(unsafe_code, reason = "advice about memory has no safe interface")]
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
