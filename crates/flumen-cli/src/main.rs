use std::process::ExitCode;

fn main() -> ExitCode {
    flumen_cli::run(std::env::args_os())
}
