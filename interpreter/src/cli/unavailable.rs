//! Commands of Juju that Pilotage does not have: each is answered at once, whatever its options (command line, 2.9).

use super::failure::Failure;
use super::session::{Streams, say_failure};

/// Names by the reason why there is no such command. What waits for a later release has no reason.
const NAMES: &[(Option<&str>, &[&str])] = &[
    (
        Some("it makes no relations"),
        &[
            "integrate",
            "relate",
            "add-relation",
            "remove-relation",
            "suspend-relation",
            "resume-relation",
            "offer",
            "offers",
            "list-offers",
            "show-offer",
            "find-offers",
            "remove-offer",
            "consume",
            "remove-saas",
            "bind",
            "expose",
            "unexpose",
        ],
    ),
    (
        Some("it runs nothing inside units"),
        &[
            "run",
            "exec",
            "actions",
            "list-actions",
            "show-action",
            "operations",
            "list-operations",
            "show-operation",
            "show-task",
            "cancel-task",
            "ssh",
            "scp",
            "debug-hooks",
            "debug-hook",
            "debug-code",
            "resolved",
            "resolve",
            "payloads",
            "list-payloads",
        ],
    ),
    (
        Some("it keeps no secrets"),
        &[
            "secrets",
            "list-secrets",
            "add-secret",
            "show-secret",
            "update-secret",
            "remove-secret",
            "grant-secret",
            "revoke-secret",
            "add-secret-backend",
            "secret-backends",
            "list-secret-backends",
            "show-secret-backend",
            "update-secret-backend",
            "remove-secret-backend",
            "model-secret-backend",
        ],
    ),
    (
        Some("there is no controller"),
        &[
            "bootstrap",
            "controllers",
            "list-controllers",
            "show-controller",
            "controller-config",
            "destroy-controller",
            "kill-controller",
            "register",
            "unregister",
            "login",
            "logout",
            "whoami",
            "enable-ha",
            "migrate",
            "upgrade-controller",
            "upgrade-model",
            "create-backup",
            "download-backup",
            "dashboard",
            "users",
            "list-users",
            "add-user",
            "show-user",
            "remove-user",
            "enable-user",
            "disable-user",
            "change-user-password",
            "grant",
            "revoke",
            "model-defaults",
            "model-default",
            "disable-command",
            "enable-command",
            "disabled-commands",
            "list-disabled-commands",
        ],
    ),
    (
        Some("the cluster is the one of your kubeconfig"),
        &[
            "clouds",
            "list-clouds",
            "add-cloud",
            "update-cloud",
            "remove-cloud",
            "show-cloud",
            "regions",
            "list-regions",
            "add-k8s",
            "update-k8s",
            "remove-k8s",
            "credentials",
            "list-credentials",
            "add-credential",
            "autoload-credentials",
            "default-credential",
            "default-region",
            "remove-credential",
            "set-credential",
            "show-credential",
            "show-credentials",
            "update-credential",
            "grant-cloud",
            "revoke-cloud",
            "update-public-clouds",
        ],
    ),
    (
        Some("there are no machines"),
        &[
            "machines",
            "list-machines",
            "add-machine",
            "remove-machine",
            "show-machine",
            "retry-provisioning",
            "ssh-keys",
            "list-ssh-keys",
            "add-ssh-key",
            "remove-ssh-key",
            "import-ssh-key",
            "spaces",
            "list-spaces",
            "add-space",
            "show-space",
            "reload-spaces",
            "rename-space",
            "remove-space",
            "move-to-space",
            "subnets",
            "list-subnets",
            "add-subnet",
            "firewall-rules",
            "list-firewall-rules",
            "set-firewall-rule",
            "upgrade-machine",
            "set-application-base",
            "sync-agent-binary",
        ],
    ),
    (
        Some("charms are local files"),
        &["find", "info", "download", "charm-resources"],
    ),
    (
        None,
        &[
            "export-bundle",
            "diff-bundle",
            "import-filesystem",
            "show-status-log",
            "debug-log",
            "show-storage",
            "remove-storage",
            "attach-storage",
            "detach-storage",
            "add-storage",
            "create-storage-pool",
            "storage-pools",
            "list-storage-pools",
            "update-storage-pool",
            "remove-storage-pool",
            "simulate",
            "explore",
        ],
    ),
];

/// All names.
pub fn names() -> impl Iterator<Item = &'static str> {
    NAMES.iter().flat_map(|(_, names)| names.iter().copied())
}

/// Why there is no such command: in one line, without its `ERROR`. Nothing for a name that nobody knows.
pub fn reason(name: &str) -> Option<String> {
    let (why, _) = NAMES.iter().find(|(_, names)| names.contains(&name))?;
    Some(match why {
        Some(why) if name == "run" => {
            format!(
                "\"run\" with arguments is not available: Pilotage provisions applications; {why}"
            )
        }
        Some(why) => {
            format!("\"{name}\" is not available: Pilotage provisions applications; {why}")
        }
        None => format!("\"{name}\" is not available yet"),
    })
}

/// Answers a call of such a command, and gives the exit code.
pub fn answer(name: &str, words: &[String], streams: &mut Streams<'_>) -> u8 {
    let text = reason(name).unwrap_or_default();
    if words.iter().any(|word| word == "--help" || word == "-h") {
        let _ = writeln!(streams.out, "{text}");
        return 0;
    }
    let structured = |format: &str| matches!(format, "json" | "yaml");
    let asks_for_data = words
        .windows(2)
        .any(|pair| pair[0] == "--format" && structured(&pair[1]))
        || words
            .iter()
            .any(|word| word.strip_prefix("--format=").is_some_and(structured));
    if asks_for_data {
        let _ = writeln!(streams.out, "{{}}");
    }
    say_failure(streams, &Failure::failed(text));
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_answer_holds_a_word_to_which_jubilant_gives_a_meaning() {
        for name in names() {
            let text = reason(name).expect("a reason for every name");
            for word in ["timed out", "(not found)", "task failed"] {
                assert!(!text.contains(word), "{text}");
            }
        }
    }

    #[test]
    fn no_name_is_listed_twice_and_none_is_a_command_of_ours_save_run() {
        let mut all: Vec<&str> = names().collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        for name in all {
            assert!(
                name == "run" || super::super::catalogue::find(name).is_none(),
                "{name} is a command"
            );
        }
    }
}
