#![cfg_attr(all(target_os = "linux", target_env = "gnu"), no_main)]

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod start;

#[global_allocator]
static ALLOCATOR: flumen_cli::Allocator = flumen_cli::Allocator;

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(flumen_cli::run(std::env::args_os()))
}
