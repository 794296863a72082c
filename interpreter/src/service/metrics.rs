//! What a process has done, as Prometheus reads it (text format 0.0.4), under the names that controller-runtime uses
//! wherever they mean something here.
//!
//! | metric | here |
//! |---|---|
//! | `controller_runtime_reconcile_total` | batches: what one aspect of one application asked for; `success`: all was done, `error`: it stopped at a refusal or for want of an answer |
//! | `controller_runtime_reconcile_errors_total` | the second of those |
//! | `controller_runtime_reconcile_time_seconds` | how long batches took, waiting for their turn included |
//! | `controller_runtime_active_workers` | batches that run now |
//! | `controller_runtime_max_concurrent_reconciles` | how many *requests* to the cluster may be in flight; batches are not bounded |
//! | `workqueue_depth{name="events"}` | events that wait for the core |
//! | `workqueue_depth{name="batches"}` | batches that wait for an earlier one of the same application |
//! | `workqueue_adds_total{name="events"}` | events that the core took |
//! | `workqueue_work_duration_seconds{name="events"}` | how long the core took for one, its trace included |
//! | `workqueue_longest_running_processor_seconds{name="events"}` | for how long it has been at the present one, or overdue; near zero while the loop turns |
//! | `rest_client_requests_total` | requests to the API server, watches and the lease's included, when their answer began; code `<error>`: there was none |
//! | `leader_election_master_status` | 1 while this process may act by its lease; absent where there is none |

use std::fmt::Write as _;

use crate::monitor::{Histogram, Monitor};

/// The type of the text.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The one controller that there is.
const CONTROLLER: &[(&str, &str)] = &[("controller", "pilotage")];
const EVENTS: &[(&str, &str)] = &[("name", "events"), ("controller", "pilotage")];
const BATCHES: &[(&str, &str)] = &[("name", "batches"), ("controller", "pilotage")];

/// Everything, as text.
pub fn text(monitor: &Monitor) -> String {
    let counts = monitor.counts();
    let mut page = Page::default();

    let total = counts.batches_done + counts.batches_stopped;
    page.family(
        "controller_runtime_reconcile_total",
        "counter",
        "Batches of effects, by how they ended",
    );
    for (result, number) in [
        ("success", counts.batches_done),
        ("error", counts.batches_stopped),
    ] {
        let labels = [CONTROLLER[0], ("result", result)];
        page.sample("controller_runtime_reconcile_total", &labels, number as f64);
    }
    page.one(
        "controller_runtime_reconcile_errors_total",
        "counter",
        "Batches that stopped at a refusal or for want of an answer",
        CONTROLLER,
        counts.batches_stopped as f64,
    );
    debug_assert_eq!(total, counts.batch_time.count());
    page.histogram(
        "controller_runtime_reconcile_time_seconds",
        "How long batches took",
        CONTROLLER,
        &counts.batch_time,
    );
    page.one(
        "controller_runtime_active_workers",
        "gauge",
        "Batches that run",
        CONTROLLER,
        counts.batches_running as f64,
    );
    page.one(
        "controller_runtime_max_concurrent_reconciles",
        "gauge",
        "Requests to the cluster that may be in flight at once",
        CONTROLLER,
        monitor.in_flight() as f64,
    );

    page.family(
        "workqueue_depth",
        "gauge",
        "Events that wait for the core, batches that wait for an earlier one",
    );
    page.sample("workqueue_depth", EVENTS, counts.events_waiting as f64);
    page.sample("workqueue_depth", BATCHES, counts.batches_waiting as f64);
    page.one(
        "workqueue_adds_total",
        "counter",
        "Events that the core took",
        EVENTS,
        counts.step_time.count() as f64,
    );
    page.histogram(
        "workqueue_work_duration_seconds",
        "How long the core took for an event",
        EVENTS,
        &counts.step_time,
    );
    page.one(
        "workqueue_longest_running_processor_seconds",
        "gauge",
        "For how long the core has been at one event, or overdue",
        EVENTS,
        monitor.pulse.overdue().as_secs_f64(),
    );

    if let Some(requests) = monitor.requests() {
        let name = "rest_client_requests_total";
        page.family(
            name,
            "counter",
            "Requests to the API server, by HTTP status, method and host",
        );
        for (code, method, number) in requests.all() {
            let code = code.map_or("<error>".to_owned(), |code| code.to_string());
            let labels = [
                ("code", &*code),
                ("host", requests.host()),
                ("method", &method),
            ];
            page.sample(name, &labels, number as f64);
        }
    }
    if let Some((lease, leads)) = monitor.leads() {
        page.one(
            "leader_election_master_status",
            "gauge",
            "Whether this process leads",
            &[("name", &lease)],
            f64::from(u8::from(leads)),
        );
    }
    process(&mut page, monitor);
    page.text
}

/// What every process tells of itself.
fn process(page: &mut Page, monitor: &Monitor) {
    page.one(
        "process_start_time_seconds",
        "gauge",
        "When the process began, in seconds since 1970",
        &[],
        monitor.since.0 as f64 / 1000.0,
    );
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    page.one(
        "process_cpu_seconds_total",
        "counter",
        "Processor time that the process used",
        &[],
        used.tv_sec as f64 + used.tv_nsec as f64 / 1e9,
    );
    if let Some(kilobytes) = resident() {
        page.one(
            "process_resident_memory_bytes",
            "gauge",
            "Memory of the process",
            &[],
            kilobytes as f64 * 1024.0,
        );
    }
}

/// The memory of this process in units of 1,024 bytes, where the system tells it.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.text, "# HELP {name} {help}.\n# TYPE {name} {kind}");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        self.text.push_str(name);
        for (at, (label, text)) in labels.iter().enumerate() {
            let open = if at == 0 { '{' } else { ',' };
            let _ = write!(self.text, "{open}{label}=\"{}\"", escaped(text));
        }
        if !labels.is_empty() {
            self.text.push('}');
        }
        let _ = writeln!(self.text, " {value}");
    }

    fn one(&mut self, name: &str, kind: &str, help: &str, labels: &[(&str, &str)], value: f64) {
        self.family(name, kind, help);
        self.sample(name, labels, value);
    }

    fn histogram(&mut self, name: &str, help: &str, labels: &[(&str, &str)], of: &Histogram) {
        self.family(name, "histogram", help);
        let bucket = format!("{name}_bucket");
        let mut under = |bound: &str, number: u64| {
            let labels = [labels, &[("le", bound)]].concat();
            self.sample(&bucket, &labels, number as f64);
        };
        for (bound, number) in of.cumulative() {
            under(&bound.to_string(), number);
        }
        under("+Inf", of.count());
        self.sample(&format!("{name}_sum"), labels, of.sum());
        self.sample(&format!("{name}_count"), labels, of.count() as f64);
    }
}

/// A label's value: three characters are written otherwise.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::Requests;
    use std::sync::Arc;

    /// All that does not differ from one process to the next.
    fn steady(text: &str) -> String {
        let lines = text.lines().filter(|line| !line.starts_with("process_"));
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn what_was_counted_is_told_under_the_usual_names() {
        let monitor = Arc::new(Monitor::default());
        let requests = Arc::new(Requests::to("https://10.0.0.1:443/"));
        requests.count("GET", Some(200));
        requests.count("GET", Some(200));
        requests.count("PATCH", None);
        monitor.count_requests(requests);
        monitor.stepped(std::time::Duration::from_micros(5));
        let running = monitor.batch();
        drop(monitor.batch());
        insta::assert_snapshot!(steady(&text(&monitor)));
        running.ended(true);
        monitor.batch().ended(false);
        let counts = monitor.counts();
        assert_eq!((counts.batches_done, counts.batches_stopped), (1, 1));
        assert_eq!((counts.batches_running, counts.batch_time.count()), (0, 2));
    }

    #[test]
    fn a_label_is_written_so_that_it_ends_where_it_should() {
        assert_eq!(escaped("a\"b\\c\nd"), r#"a\"b\\c\nd"#);
    }
}
