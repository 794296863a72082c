//! What a process has used, as the kernel counts it.

use std::fs;
use std::time::Duration;

/// What a process has used since it was started.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Processor time, its own and the kernel's for it.
    pub processor: Duration,
    /// The most memory that it ever held, in bytes.
    pub peak_memory: u64,
}

/// How many ticks a second has in `/proc`: on every Linux since 2.6.
const TICKS: u32 = 100;

/// What the process of that id has used; none where `/proc` does not say.
pub fn usage(process: u32) -> Option<Usage> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program, in brackets, may hold spaces.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |place: usize| fields.get(place)?.parse::<u32>().ok();
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let peak = status.lines().find_map(|line| {
        let size = line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?;
        size.parse::<u64>().ok()
    })?;
    Some(Usage {
        processor: Duration::from_secs(1) * (ticks(11)? + ticks(12)?) / TICKS,
        peak_memory: peak * 1024,
    })
}
