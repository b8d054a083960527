//! A cluster in the background.

use std::{
    ffi::OsString,
    fs::File,
    process::{Command, Stdio},
    time::Duration,
};

use flumen_local::{Home, Record, State};

use crate::{
    args::key_files::read_text,
    error::{CommandError, Failure},
};

/// The log of the process in the background.
const LOG: &str = "log";
const LOOK: Duration = Duration::from_millis(5);
/// Timeout for a process that hangs; usually it is ready after a fraction of a second.
const PATIENCE: Duration = Duration::from_secs(30);

/// Starts a server in the background, and waits until it is ready.
pub(super) async fn start(home: &Home, options: &[OsString]) -> Result<Record, CommandError> {
    let failed =
        |error: std::io::Error| Failure::new(format!("cannot go into the background: {error}"));
    std::fs::create_dir_all(home.path()).map_err(failed)?;
    let log = home.path().join(LOG);
    let file = File::create(&log).map_err(failed)?;
    let mut command = Command::new(std::env::current_exe().map_err(failed)?);
    command.arg("up").arg("--data").arg(home.path()).args(options);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(file);
    // Ctrl-C on this terminal must not stop it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut process = command.spawn().map_err(failed)?;
    let ready = async {
        loop {
            if let State::Running(record) = home.state()? {
                return Ok(record);
            }
            if process.try_wait().map_err(failed)?.is_some() {
                let said = read_text(&log).unwrap_or_default();
                return Err(Failure::new(format!("it did not start: {}", said.trim())).into());
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    match tokio::time::timeout(PATIENCE, ready).await {
        Ok(ready) => ready,
        Err(_) => Err(Failure::new("it does not become ready")
            .hint(format!("`{}` may say why", log.display()))
            .into()),
    }
}
