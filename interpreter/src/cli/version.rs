//! Whose command line this is (command line, 3.5).

pub use pilotage_core::charm::assumes::JUJU_VERSION;

/// The agent version text: `major.minor.patch-release-arch`, without a hyphen inside the last two.
pub fn full() -> String {
    format!("{JUJU_VERSION}-{}-{}", release(), architecture())
}

fn release() -> &'static str {
    let ubuntu = std::fs::read_to_string("/etc/os-release")
        .is_ok_and(|text| text.lines().any(|line| line == "ID=ubuntu"));
    if ubuntu { "ubuntu" } else { "genericlinux" }
}

fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "powerpc64" => "ppc64el",
        other => other,
    }
}
