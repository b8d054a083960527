use std::process::ExitCode;

/// Why this one is in the workspace's manifest.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    flumen_cli::run(std::env::args_os())
}
