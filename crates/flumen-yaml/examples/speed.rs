//! How fast files are read into trees: `cargo run --release -p flumen-yaml --example speed -- FILE…`
//!
//! Prints the best of several rounds over all files, in MB/s. Trees are dropped outside of the clock.
#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "measures files with a clock")]

use std::time::{Duration, Instant};

use flumen_yaml::{Budget, decode, read};

const ROUNDS: usize = 15;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let budget = Budget::default();
    let mut texts = Vec::new();
    for path in std::env::args().skip(1) {
        texts.push(decode(&std::fs::read(path)?)?);
    }
    let bytes: usize = texts.iter().map(|text| text.len()).sum();
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let trees: Result<Vec<_>, _> = texts.iter().map(|text| read(text, 1, &budget)).collect();
        best = best.min(start.elapsed());
        drop(trees?);
    }
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let rate = bytes as f64 / 1e6 / best.as_secs_f64();
    println!("{bytes} bytes in {} files, {best:?}, {rate:.0} MB/s", texts.len());
    Ok(())
}
