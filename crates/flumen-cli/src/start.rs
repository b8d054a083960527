//! The start of the program, called by the C library instead of Rust's own start.
//!
//! Rust's start asks for the bounds of the stack, to name a stack overflow as such. The C library finds them in the list of
//! all mappings, which costs a small build a twentieth of its time. The rest of what it does is done here.
#![expect(unsafe_code, reason = "the C library finds the function by its name")]

use std::{env, ffi::c_int, panic::catch_unwind, process};

use rustix::{
    fs::{Mode, OFlags, open},
    io::{Errno, fcntl_getfd},
    stdio::{stderr, stdin, stdout},
};

/// Exit status of a program that panicked.
const PANICKED: u8 = 101;

#[unsafe(no_mangle)]
extern "C" fn main(_: c_int, _: *const *const u8) -> c_int {
    open_standard_streams();
    // A reader that goes away is an error of the write, not the end of the process.
    // SAFETY: no other thread runs yet, and no handler is involved.
    unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    let status = catch_unwind(|| flumen_cli::run(env::args_os()));
    // Flushes standard output.
    process::exit(status.unwrap_or(PANICKED).into())
}

/// Opens the standard streams that are closed, so that no file gets their numbers and what is printed there.
fn open_standard_streams() {
    for stream in [stdin(), stdout(), stderr()] {
        if fcntl_getfd(stream) == Err(Errno::BADF)
            && let Ok(null) = open("/dev/null", OFlags::RDWR, Mode::empty())
        {
            // The lowest free number is that of the stream.
            std::mem::forget(null);
        }
    }
}
