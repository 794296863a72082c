//! The table of `status` (command line, section 4).

use std::collections::BTreeMap;

use super::super::output::Table;
use super::super::text::natural;
use super::view::{ApplicationView, Shown, StatusView, StorageView, UnitView};

/// Which parts the table shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sections {
    /// Storage too.
    pub storage: bool,
}

/// Colours of status words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paint(pub bool);

impl Paint {
    /// Colours the status words of a finished line; padding has been counted before.
    fn line(self, line: &str) -> String {
        if !self.0 {
            return line.to_owned();
        }
        const COLOURS: [(&str, &str); 10] = [
            ("error", "31"),
            ("failed", "31"),
            ("lost", "31"),
            ("blocked", "33"),
            ("waiting", "33"),
            ("maintenance", "33"),
            ("allocating", "33"),
            ("executing", "33"),
            ("active", "32"),
            ("idle", "32"),
        ];
        let mut painted = String::new();
        for (at, part) in line.split("  ").enumerate() {
            if at > 0 {
                painted.push_str("  ");
            }
            let word = part.trim();
            match COLOURS.iter().find(|(name, _)| *name == word) {
                Some((_, colour)) => {
                    let coloured = format!("\u{1b}[{colour}m{word}\u{1b}[0m");
                    painted.push_str(&part.replacen(word, &coloured, 1));
                }
                None => painted.push_str(part),
            }
        }
        painted
    }
}

/// The whole table.
pub fn tabular(view: &StatusView, sections: Sections, paint: Paint) -> String {
    let mut parts = vec![header(view)];
    if !view.applications.is_empty() {
        parts.push(applications(view));
        let units = units(view);
        if !units.is_empty() {
            parts.push(units);
        }
    }
    if sections.storage && !view.storage.storage.is_empty() {
        parts.push(storage(&view.storage, "Storage Unit", true));
    }
    let text = parts.join("\n");
    let lines: Vec<String> = text.lines().map(|line| paint.line(line)).collect();
    format!("{}\n", lines.join("\n"))
}

fn header(view: &StatusView) -> String {
    let message = match &view.model.model_status {
        Shown::Read(status) => &status.message,
        Shown::Damaged { status_error } => status_error,
    };
    let mut columns = vec![
        "Model",
        "Controller",
        "Cloud/Region",
        "Version",
        "Timestamp",
    ];
    let mut cells = vec![
        view.model.name.clone(),
        view.model.controller.clone(),
        view.model.cloud.clone(),
        view.model.version.to_owned(),
        view.controller.timestamp.clone(),
    ];
    if !message.is_empty() {
        columns.push("Notes");
        cells.push(message.clone());
    }
    let mut table = Table::new(columns);
    table.row(cells);
    table.render()
}

fn applications(view: &StatusView) -> String {
    let mut table = Table::new([
        "App", "Version", "Status", "Scale", "Charm", "Channel", "Rev", "Address", "Exposed",
        "Message",
    ])
    .right(&["Scale", "Rev"]);
    let mut names: Vec<&String> = view.applications.keys().collect();
    names.sort_by(|a, b| natural(a, b));
    for name in names {
        let application = match &view.applications[name] {
            Shown::Read(application) => application,
            Shown::Damaged { status_error } => {
                let mut cells = [const { String::new() }; 10];
                cells[0].clone_from(name);
                cells[2] = "error".into();
                cells[9] = cut(status_error);
                table.row(cells);
                continue;
            }
        };
        table.row([
            name.clone(),
            application
                .version
                .as_deref()
                .map(short_version)
                .unwrap_or_default(),
            application.application_status.current.clone(),
            scale(application),
            application.charm_name.clone(),
            String::new(),
            application.charm_rev.to_string(),
            application.address.clone().unwrap_or_default(),
            if application.exposed { "yes" } else { "no" }.into(),
            cut(&application.application_status.message),
        ]);
    }
    table.render()
}

/// `ready/wanted`, or one number when they are equal.
fn scale(application: &ApplicationView) -> String {
    let ready = application
        .units
        .values()
        .filter(|unit| {
            matches!(
                unit.juju_status.current.as_str(),
                "idle" | "executing" | "running"
            ) && unit.workload_status.current != "terminated"
        })
        .count();
    let wanted = application.scale as usize;
    if ready == wanted {
        wanted.to_string()
    } else {
        format!("{ready}/{wanted}")
    }
}

fn units(view: &StatusView) -> String {
    let mut units: Vec<(&String, &UnitView)> = view.units().collect();
    if units.is_empty() {
        return String::new();
    }
    units.sort_by(|a, b| natural(a.0, b.0));
    let mut table = Table::new(["Unit", "Workload", "Agent", "Address", "Ports", "Message"]);
    for (name, unit) in units {
        table.row([
            format!("{name}{}", if unit.leader { "*" } else { "" }),
            unit.workload_status.current.clone(),
            unit.juju_status.current.clone(),
            unit.address.clone().unwrap_or_default(),
            ports(&unit.open_ports),
            cut(&unit_message(unit)),
        ]);
    }
    table.render()
}

/// The workload's message; an executing agent's before it; the agent's alone while it is allocating and the workload has
/// nothing to say.
fn unit_message(unit: &UnitView) -> String {
    let (workload, agent) = (&unit.workload_status.message, &unit.juju_status.message);
    match unit.juju_status.current.as_str() {
        "executing" if !agent.is_empty() => format!("({agent}) {workload}").trim_end().to_owned(),
        "allocating" if workload.is_empty() => agent.clone(),
        _ => workload.clone(),
    }
}

/// Storage as rows; `status --storage` shows the mount point, `storage` does not.
pub fn storage(view: &StorageView, unit_heading: &str, mount_points: bool) -> String {
    let pools = view
        .filesystems
        .values()
        .any(|filesystem| filesystem.pool.is_some());
    let mut columns = vec![unit_heading, "Storage ID", "Type"];
    if pools {
        columns.push("Pool");
    }
    if mount_points {
        columns.push("Mountpoint");
    }
    columns.extend(["Size", "Status", "Message"]);
    let mut table = Table::new(columns);
    let mut rows: Vec<(String, &String)> = view
        .storage
        .iter()
        .map(|(id, entry)| {
            let unit = entry
                .attachments
                .as_ref()
                .and_then(|attachments| attachments.units.keys().next())
                .cloned()
                .unwrap_or_default();
            (unit, id)
        })
        .collect();
    rows.sort_by(|a, b| natural(&a.0, &b.0).then_with(|| natural(a.1, b.1)));
    for (unit, id) in rows {
        let entry = &view.storage[id];
        let filesystem = view
            .filesystems
            .values()
            .find(|filesystem| filesystem.storage == *id);
        let mut cells = vec![unit.clone(), id.clone(), entry.kind.to_owned()];
        if pools {
            let pool = filesystem.and_then(|filesystem| filesystem.pool.clone());
            cells.push(pool.unwrap_or_default());
        }
        if mount_points {
            let mount = filesystem
                .and_then(|filesystem| filesystem.attachments.as_ref())
                .and_then(|attachments| attachments.containers.get(&unit))
                .map(|mount| mount.mount_point.clone());
            cells.push(mount.unwrap_or_default());
        }
        cells.push(size(filesystem.map_or(0, |filesystem| filesystem.size)));
        cells.push(entry.status.current.clone());
        cells.push(cut(&entry.status.message));
        table.row(cells);
    }
    table.render()
}

/// Filesystems as rows.
pub fn filesystems(view: &StorageView) -> String {
    let mut table = Table::new([
        "Unit",
        "Storage ID",
        "ID",
        "Provider ID",
        "Mountpoint",
        "Size",
        "State",
        "Message",
    ]);
    for (id, filesystem) in sorted(&view.filesystems) {
        let mount = filesystem
            .attachments
            .as_ref()
            .and_then(|attachments| attachments.containers.iter().next());
        table.row([
            mount.map(|(unit, _)| unit.clone()).unwrap_or_default(),
            filesystem.storage.clone(),
            id.clone(),
            filesystem.provider_id.clone().unwrap_or_default(),
            mount
                .map(|(_, mount)| mount.mount_point.clone())
                .unwrap_or_default(),
            size(filesystem.size),
            filesystem.status.current.clone(),
            cut(&filesystem.status.message),
        ]);
    }
    table.render()
}

/// Volumes as rows.
pub fn volumes(view: &StorageView) -> String {
    let mut table = Table::new([
        "Unit",
        "Storage ID",
        "ID",
        "Provider ID",
        "Size",
        "State",
        "Message",
    ]);
    for (id, volume) in sorted(&view.volumes) {
        let unit = volume
            .attachments
            .as_ref()
            .and_then(|attachments| attachments.units.keys().next());
        table.row([
            unit.cloned().unwrap_or_default(),
            volume.storage.clone(),
            id.clone(),
            volume.provider_id.clone().unwrap_or_default(),
            size(volume.size),
            volume.status.current.clone(),
            cut(&volume.status.message),
        ]);
    }
    table.render()
}

fn sorted<T>(things: &BTreeMap<String, T>) -> Vec<(&String, &T)> {
    let mut things: Vec<(&String, &T)> = things.iter().collect();
    things.sort_by(|a, b| natural(a.0, b.0));
    things
}

/// A message of at most 120 characters, on one line.
pub fn cut(message: &str) -> String {
    const LONGEST: usize = 120;
    let message = message.replace('\n', " ");
    if message.chars().count() <= LONGEST {
        return message;
    }
    let kept: String = message.chars().take(LONGEST - 3).collect();
    format!("{kept}...")
}

/// MiB as people read them: `512 MiB`, `1.0 GiB`, `10 GiB`; nothing for 0.
pub fn size(mib: u64) -> String {
    if mib == 0 {
        return String::new();
    }
    let mut number = mib as f64;
    let mut unit = "MiB";
    for next in ["GiB", "TiB", "PiB", "EiB"] {
        if number < 1024.0 {
            break;
        }
        number /= 1024.0;
        unit = next;
    }
    if number < 10.0 {
        format!("{number:.1} {unit}")
    } else {
        format!("{number:.0} {unit}")
    }
}

/// Ports by protocol, neighbours joined: `80,1555-1557/TCP 53/UDP`.
pub fn ports(open: &[String]) -> String {
    let mut protocols: Vec<(&str, Vec<u32>)> = Vec::new();
    for port in open {
        let (number, protocol) = port.split_once('/').unwrap_or((port, "TCP"));
        let Ok(number) = number.parse() else { continue };
        match protocols.iter_mut().find(|(name, _)| *name == protocol) {
            Some((_, numbers)) => numbers.push(number),
            None => protocols.push((protocol, vec![number])),
        }
    }
    let mut groups = Vec::new();
    for (protocol, mut numbers) in protocols {
        numbers.sort_unstable();
        numbers.dedup();
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for number in numbers {
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == number => *last = number,
                _ => ranges.push((number, number)),
            }
        }
        let ranges: Vec<String> = ranges
            .into_iter()
            .map(|(first, last)| {
                if first == last {
                    first.to_string()
                } else {
                    format!("{first}-{last}")
                }
            })
            .collect();
        groups.push(format!("{}/{protocol}", ranges.join(",")));
    }
    groups.join(" ")
}

/// A workload's version as the table shows it: the first line, at most 30 wide. An image loses its registry, its digest
/// is cut to 7, a long path becomes `.../name:tag`.
pub fn short_version(version: &str) -> String {
    const WIDEST: usize = 30;
    let line = version.lines().next().unwrap_or("");
    let mut image = line;
    if let Some((first, rest)) = line.split_once('/')
        && (first.contains('.') || first.contains(':') || first == "localhost")
    {
        image = rest;
    }
    let mut shown = match image.split_once("@sha256:") {
        Some((name, digest)) => format!("{name}@{}", digest.chars().take(7).collect::<String>()),
        None => image.to_owned(),
    };
    if shown.chars().count() > WIDEST
        && let Some((_, name)) = shown.rsplit_once('/')
    {
        shown = format!(".../{name}");
    }
    if shown.chars().count() > WIDEST {
        let kept: String = shown.chars().take(WIDEST - 3).collect();
        shown = format!("{kept}...");
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_in_iec_units() {
        let sizes: Vec<String> = [0, 5, 512, 1024, 10 * 1024, 1536, 2 * 1024 * 1024]
            .into_iter()
            .map(size)
            .collect();
        assert_eq!(
            sizes,
            [
                "", "5.0 MiB", "512 MiB", "1.0 GiB", "10 GiB", "1.5 GiB", "2.0 TiB"
            ]
        );
    }

    #[test]
    fn ports_are_grouped_by_protocol_and_neighbours_joined() {
        let open = ["80/TCP", "1556/TCP", "1555/TCP", "53/UDP", "1557/TCP"].map(String::from);
        assert_eq!(ports(&open), "80,1555-1557/TCP 53/UDP");
        assert_eq!(ports(&[]), "");
    }

    #[test]
    fn a_version_fits_its_column() {
        assert_eq!(
            short_version("registry.example/shop/ledger:2.4"),
            "shop/ledger:2.4"
        );
        assert_eq!(short_version("ubuntu/postgres:14"), "ubuntu/postgres:14");
        assert_eq!(
            short_version(
                "ghcr.io/canonical/charmed-postgresql@sha256:0123456789abcdef0123456789abcdef"
            ),
            ".../charmed-postgresql@0123456"
        );
        assert_eq!(short_version("14.2\nsecond line"), "14.2");
    }

    #[test]
    fn a_long_message_is_cut_at_120_characters() {
        let message = cut(&"x".repeat(200));
        assert_eq!(message.chars().count(), 120);
        assert!(message.ends_with("..."));
    }
}
