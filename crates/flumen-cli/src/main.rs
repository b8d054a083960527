use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: flumen_cli::Allocator = flumen_cli::Allocator;

fn main() -> ExitCode {
    flumen_cli::run(std::env::args_os())
}
