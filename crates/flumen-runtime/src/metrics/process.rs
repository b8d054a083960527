//! Metrics of this process, on Linux.

use std::{
    fs,
    sync::atomic::{AtomicI64, AtomicU64},
    time::{SystemTime, UNIX_EPOCH},
};

use prometheus_client::metrics::{counter::Counter, gauge::Gauge};

use super::Named;

/// The unit in which the system counts the time of processors, the same on all of its machines.
const TICKS_PER_SECOND: f64 = 100.0;

#[derive(Debug)]
pub(super) struct Process {
    cpu: Counter<f64, AtomicU64>,
    resident: Gauge<i64, AtomicI64>,
    reserved: Gauge<i64, AtomicI64>,
}

impl Process {
    pub(super) fn new(new: &mut Named<'_>) -> Self {
        let start: Gauge<f64, AtomicU64> =
            new.family("process_start_time_seconds", "Start time of the controller");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        start.set(now.as_secs_f64());
        Self {
            cpu: new.family("process_cpu_seconds", "Processor time used"),
            resident: new.family("process_resident_memory_bytes", "Resident memory"),
            reserved: new.family("process_virtual_memory_bytes", "Virtual memory"),
        }
    }

    /// Samples all values.
    pub(super) fn sample(&self) {
        let read = |file: &str| fs::read_to_string(format!("/proc/self/{file}")).ok();
        if let Some(used) = read("stat").as_deref().and_then(cpu_seconds) {
            // Concurrent scrapes may arrive here in another order.
            self.cpu.inc_by((used - self.cpu.get()).max(0.0));
        }
        let Some(status) = read("status") else { return };
        for (gauge, field) in [(&self.resident, "VmRSS:"), (&self.reserved, "VmSize:")] {
            if let Some(bytes) = bytes_of(&status, field) {
                gauge.set(bytes);
            }
        }
    }
}

/// The name of the program, which may hold anything, ends with the last parenthesis.
fn cpu_seconds(stat: &str) -> Option<f64> {
    let (_, numbers) = stat.rsplit_once(')')?;
    let mut ticks = numbers.split_whitespace().skip(11).map(str::parse::<f64>);
    Some((ticks.next()?.ok()? + ticks.next()?.ok()?) / TICKS_PER_SECOND)
}

fn bytes_of(status: &str, field: &str) -> Option<i64> {
    let value = status.lines().find_map(|line| line.strip_prefix(field))?;
    value.split_whitespace().next()?.parse::<i64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_are_read() {
        let stat = "7 (a ) b) S 1 7 7 0 -1 4194560 1 0 0 0 250 50 0 0 20 0 9 0 1 2 3";
        assert_eq!(cpu_seconds(stat), Some(3.0));
        assert_eq!(cpu_seconds("7 (a"), None);
        let status = "Name:\ta\nVmSize:\t    2048 kB\nVmRSS:\t      12 kB\n";
        assert_eq!(bytes_of(status, "VmRSS:"), Some(12 << 10));
        assert_eq!(bytes_of(status, "VmHWM:"), None);
    }
}
