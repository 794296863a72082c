//! Charms for the tests, written into a desk's folder.

use super::Desk;

impl Desk {
    /// Writes the charm `ledger-k8s` into `ledger`: one container, one storage, five options.
    pub fn with_ledger(self) -> Self {
        self.write_ledger("ledger", "registry.example/shop/ledger:2.4");
        self
    }

    /// Writes another revision of it.
    pub fn write_ledger(&self, folder: &str, image: &str) {
        self.write(
            &format!("{folder}/metadata.yaml"),
            &format!(
                "name: ledger-k8s\n\
                 summary: Keeps books\n\
                 description: Keeps the books of a shop.\n\
                 assumes: [k8s-api]\n\
                 containers:\n  ledger:\n    resource: ledger-image\n    mounts:\n    - storage: data\n      location: /var/lib/ledger\n\
                 resources:\n  ledger-image:\n    type: oci-image\n    description: The ledger.\n    upstream-source: {image}\n\
                 storage:\n  data:\n    type: filesystem\n    minimum-size: 1G\n"
            ),
        );
        self.write(
            &format!("{folder}/config.yaml"),
            "options:\n  port:\n    type: int\n    default: 5432\n    description: Where it listens.\n  \
             name:\n    type: string\n    description: What it is called.\n  \
             ratio:\n    type: float\n    default: 0.5\n    description: How much.\n  \
             debug:\n    type: boolean\n    default: false\n    description: Whether it says more.\n",
        );
        self.write(
            &format!("{folder}/manifest.yaml"),
            "bases:\n- name: ubuntu\n  channel: 22.04/stable\n  architectures: [amd64]\n",
        );
    }

    /// Writes a charm `other` with an image that nobody gives, in `other`.
    pub fn write_other(&self) {
        self.write(
            "other/metadata.yaml",
            "name: other\nsummary: s\ndescription: d\nassumes: [k8s-api]\n\
             containers:\n  a:\n    resource: a-image\n  b:\n    resource: b-image\n\
             resources:\n  a-image:\n    type: oci-image\n  b-image:\n    type: oci-image\n",
        );
    }
}
