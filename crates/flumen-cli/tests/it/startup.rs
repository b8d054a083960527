//! The cost of starting the binary: pointers that the loader adjusts, and instructions up to the first result.
//!
//! Every command pays it. The budgets are those of the binary that tests are run with, which is not optimised; they
//! leave a quarter above the measured counts. A change that exceeds one does work at start-up that it could do later.

use std::{fs, process::Command};

use flumen_testkit::{skip, tool};

use crate::{Scratch, binary};

/// Entries of the tables of dynamic relocations. Linked at a fixed address, only imported symbols remain.
const RELOCATIONS: u64 = 300;
const VERSION_INSTRUCTIONS: u64 = 1_000_000;
const BUILD_INSTRUCTIONS: u64 = 3_100_000;

/// Tags of the dynamic section that give the sizes of its relocation tables, and the size of an entry.
const TABLES: [(u64, u64); 3] = [
    (8, 24), // DT_RELASZ
    (2, 24), // DT_PLTRELSZ
    (35, 8), // DT_RELRSZ; an entry stands for up to 63 relocations
];

#[test]
#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
fn the_loader_adjusts_few_pointers() {
    let count = relocations(&fs::read(binary()).expect("the binary reads"));
    let count = count.expect("the binary has a dynamic section");
    assert!(count <= RELOCATIONS, "{count} relocations, {RELOCATIONS} are allowed");
}

/// Reads the dynamic section of a 64-bit little-endian ELF file.
fn relocations(elf: &[u8]) -> Option<u64> {
    let number = |at: usize, bytes: usize| -> Option<u64> {
        let slice = elf.get(at..at.checked_add(bytes)?)?;
        Some(slice.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
    };
    let place = |at: usize, bytes: usize| usize::try_from(number(at, bytes)?).ok();
    let (headers, size, count) = (place(32, 8)?, place(54, 2)?, place(56, 2)?);
    let dynamic =
        (0..count).map(|index| headers + index * size).find(|at| number(*at, 4) == Some(2))?;
    let (start, length) = (place(dynamic + 8, 8)?, place(dynamic + 32, 8)?);
    let entries = (start..start + length).step_by(16);
    let sizes = entries.filter_map(|at| {
        let (_, entry) = TABLES.into_iter().find(|(tag, _)| number(at, 8) == Some(*tag))?;
        Some(number(at + 8, 8)? / entry)
    });
    Some(sizes.sum())
}

#[test]
fn a_start_takes_few_instructions() {
    let Some(valgrind) = tool("valgrind") else {
        return skip("instructions at start-up", "valgrind is not installed");
    };
    let scratch = Scratch::new();
    for (arguments, budget) in
        [(&["version"][..], VERSION_INSTRUCTIONS), (&["build", "both"], BUILD_INSTRUCTIONS)]
    {
        let mut command = Command::new(&valgrind);
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        command.arg(binary()).args(arguments).current_dir(scratch.path());
        let output = command.output().expect("valgrind starts");
        let report = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {report}");
        let count = report.lines().find_map(|line| line.split_once("Collected : "));
        let count: u64 = count.and_then(|(_, count)| count.trim().parse().ok()).expect("a count");
        assert!(count <= budget, "{arguments:?}: {count} instructions, {budget} are allowed");
    }
}

#[test]
#[cfg(unix)]
fn closed_streams_do_not_fail_a_command() {
    for streams in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"] {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("exec \"$0\" version {streams}")]).arg(binary());
        let status = command.status().expect("it starts");
        assert!(status.success(), "{streams}: {status}");
    }
}
