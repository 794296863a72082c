//! Starting and stopping the three programs.

use std::io;
use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;
use thiserror::Error;

use super::process::Process;
use super::{Call, Client, Programs, audit};

/// Everybody who may speak to the API server; a user's token is the name, and each may do everything.
pub const USERS: &[&str] = &[
    "pilotage",
    "alice",
    "operator",
    "scheduler",
    "kubelet",
    "provisioner",
    "recorder",
    "kube-controller-manager",
    "counted",
    "restarted",
    "bare",
    "within",
];

/// Somebody whom the API server knows, and who may do nothing. The token is the name.
pub const STRANGER: &str = "stranger";

/// The same, for a test that gives rights to somebody.
pub const NEWCOMER: &str = "newcomer";

/// The controllers that run: those whose doings a provisioner sees.
const CONTROLLERS: &[&str] = &[
    "namespace-controller",
    "serviceaccount-controller",
    "garbage-collector-controller",
    "statefulset-controller",
    "deployment-controller",
    "replicaset-controller",
    "daemonset-controller",
    "persistentvolume-binder-controller",
    "persistentvolumeclaim-protection-controller",
    "persistentvolume-protection-controller",
    "horizontal-pod-autoscaler-controller",
];

/// The control plane could not be started.
#[derive(Debug, Error)]
pub enum StartError {
    /// A file or a process could not be made.
    #[error("the control plane could not be started: {0}")]
    Io(#[from] io::Error),
    /// The keys could not be made.
    #[error("no key or certificate for the control plane: {0}")]
    Keys(#[from] rcgen::Error),
    /// A program ended, or was not ready within a minute.
    #[error("{program} did not become ready; its last words:\n{words}")]
    NotReady {
        /// Which.
        program: &'static str,
        /// The end of its log.
        words: String,
    },
}

/// The three programs, on free loopback ports; all of it is gone when it is dropped.
#[derive(Debug)]
pub struct ControlPlane {
    // Fields are dropped in this order: an API server that loses etcd first hangs in its shutdown.
    controllers: Process,
    api_server: Process,
    etcd: Process,
    client: Client,
    etcd_client: Client,
    programs: Programs,
    api_arguments: Vec<String>,
    folder: TempDir,
}

impl ControlPlane {
    /// Starts all three and waits until the API server is ready.
    pub fn start(programs: &Programs) -> Result<ControlPlane, StartError> {
        let folder = tempfile::Builder::new()
            .prefix("pilotage-control-plane-")
            .tempdir()?;
        let at = |name: &str| folder.path().join(name).display().to_string();
        let (etcd_port, peer_port, api_port) = (free_port()?, free_port()?, free_port()?);
        let certificate = write_keys(folder.path())?;
        let local = |port: u16| format!("http://127.0.0.1:{port}");

        let etcd = Process::start(
            &programs.path("etcd"),
            &flags(&[
                ("data-dir", at("etcd")),
                ("unsafe-no-fsync", "true".into()),
                ("listen-client-urls", local(etcd_port)),
                ("advertise-client-urls", local(etcd_port)),
                ("listen-peer-urls", local(peer_port)),
                ("initial-advertise-peer-urls", local(peer_port)),
                ("initial-cluster", format!("default={}", local(peer_port))),
                ("log-level", "error".into()),
            ]),
            folder.path().join("etcd.log"),
        )?;
        let mut api_arguments = flags(&[
            ("etcd-servers", local(etcd_port)),
            ("bind-address", "127.0.0.1".into()),
            ("advertise-address", "127.0.0.1".into()),
            ("secure-port", api_port.to_string()),
            ("tls-cert-file", at("server.crt")),
            ("tls-private-key-file", at("key.pem")),
            ("token-auth-file", at("tokens.csv")),
            ("authorization-mode", "RBAC".into()),
            (
                "service-account-issuer",
                "https://kubernetes.default.svc".into(),
            ),
            ("service-account-key-file", at("public.pem")),
            ("service-account-signing-key-file", at("key.pem")),
            ("service-cluster-ip-range", "10.0.0.0/16".into()),
            // The address of the service `kubernetes` may not be a loopback address.
            ("endpoint-reconciler-type", "none".into()),
        ]);
        api_arguments.extend(flags(&audit::flags(folder.path())?));
        let api_server = start_api_server(programs, &api_arguments, folder.path())?;
        let base = format!("https://127.0.0.1:{api_port}");
        let client = Client::new(&base, &certificate);
        let mut etcd = etcd;
        let mut api_server = api_server;
        wait_until_ready(&client, &mut api_server, &mut etcd)?;

        std::fs::write(
            folder.path().join("kubeconfig"),
            kubeconfig(&base, &at("server.crt"), "kube-controller-manager"),
        )?;
        let controllers = start_controllers(programs, folder.path())?;
        let etcd_client = Client::new(&local(etcd_port), "");
        let programs = programs.clone();
        Ok(ControlPlane {
            controllers,
            api_server,
            etcd,
            client,
            etcd_client,
            programs,
            api_arguments,
            folder,
        })
    }

    /// The programs that it is made of.
    pub fn programs(&self) -> &Programs {
        &self.programs
    }

    /// A client of the API server.
    pub fn client(&self) -> &Client {
        &self.client
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A file that gives `kubectl` and other clients the address and a user who may do everything.
    pub fn kubeconfig(&self) -> std::path::PathBuf {
        self.folder.path().join("kubeconfig")
    }

    /// The text of a kubeconfig with the context `local`: one of [`USERS`], [`STRANGER`] or [`NEWCOMER`], by the server at an address
    /// (the API server's own, if none is given).
    pub fn kubeconfig_of(&self, user: &str, server: Option<&str>) -> String {
        let certificate = self.certificate();
        let server = server.unwrap_or_else(|| self.client.base());
        kubeconfig(server, &certificate.display().to_string(), user)
    }

    /// The process of the API server.
    pub fn api_server(&self) -> u32 {
        self.api_server.id()
    }

    /// The file with the certificate that the API server shows.
    pub fn certificate(&self) -> std::path::PathBuf {
        self.folder.path().join("server.crt")
    }

    /// Whether all three programs run.
    pub fn runs(&mut self) -> bool {
        self.controllers.runs() && self.api_server.runs() && self.etcd.runs()
    }

    /// Forgets every version before `version`, as etcd's compaction does from time to time.
    pub fn compact(&self, version: u64) -> Result<(), super::ClientError> {
        let body = json!({ "revision": version.to_string(), "physical": true });
        self.etcd_client.call(&Call {
            who: "",
            method: "POST",
            path: "/v3/kv/compaction",
            query: &[],
            content_type: "application/json",
            body: Some(&body),
        })?;
        Ok(())
    }

    /// Stops the API server and starts it again on the same port: its memory of past versions is gone, watches end.
    pub fn restart_api_server(&mut self) -> Result<(), StartError> {
        // Killed before the successor starts, or the port is taken.
        self.stop_api_server();
        self.start_api_server()
    }

    /// Stops the API server.
    pub fn stop_api_server(&mut self) {
        self.api_server.kill();
    }

    /// Ends the controllers and starts them again: they know nothing, and wait for nothing.
    pub fn restart_controllers(&mut self) -> Result<(), StartError> {
        self.controllers.kill();
        self.controllers = start_controllers(&self.programs, self.folder.path())?;
        Ok(())
    }

    /// Starts the API server that was stopped, on the same port.
    pub fn start_api_server(&mut self) -> Result<(), StartError> {
        self.api_server =
            start_api_server(&self.programs, &self.api_arguments, self.folder.path())?;
        wait_until_ready(&self.client, &mut self.api_server, &mut self.etcd)
    }
}

fn start_api_server(
    programs: &Programs,
    arguments: &[String],
    folder: &Path,
) -> io::Result<Process> {
    Process::start(
        &programs.path("kube-apiserver"),
        arguments,
        folder.join("kube-apiserver.log"),
    )
}

fn start_controllers(programs: &Programs, folder: &Path) -> io::Result<Process> {
    let at = |name: &str| folder.join(name).display().to_string();
    Process::start(
        &programs.path("kube-controller-manager"),
        &flags(&[
            ("kubeconfig", at("kubeconfig")),
            ("service-account-private-key-file", at("key.pem")),
            ("use-service-account-credentials", "false".into()),
            ("leader-elect", "false".into()),
            ("secure-port", "0".into()),
            ("controllers", CONTROLLERS.join(",")),
            ("pvclaimbinder-sync-period", "1s".into()),
            ("horizontal-pod-autoscaler-sync-period", "1s".into()),
            ("kube-api-qps", "1000".into()),
            ("kube-api-burst", "1000".into()),
        ]),
        folder.join("kube-controller-manager.log"),
    )
}

fn wait_until_ready(
    client: &Client,
    api_server: &mut Process,
    etcd: &mut Process,
) -> Result<(), StartError> {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        let ready = client.call(&Call {
            who: "recorder",
            method: "GET",
            path: "/readyz",
            query: &[],
            content_type: "",
            body: None,
        });
        if matches!(ready, Ok(answer) if answer.status == 200) {
            return Ok(());
        }
        if !etcd.runs() {
            return Err(StartError::NotReady {
                program: "etcd",
                words: etcd.last_words(),
            });
        }
        if !api_server.runs() || Instant::now() > end {
            let words = api_server.last_words();
            return Err(StartError::NotReady {
                program: "kube-apiserver",
                words,
            });
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// One key for the server and for service accounts, its certificate, and the tokens. Returns the certificate.
fn write_keys(folder: &Path) -> Result<String, StartError> {
    let names = ["127.0.0.1".to_owned(), "localhost".to_owned()];
    let made = rcgen::generate_simple_self_signed(names)?;
    let certificate = made.cert.pem();
    std::fs::write(folder.join("server.crt"), &certificate)?;
    std::fs::write(folder.join("key.pem"), made.signing_key.serialize_pem())?;
    std::fs::write(folder.join("public.pem"), made.signing_key.public_key_pem())?;
    let mut tokens: String = USERS
        .iter()
        .map(|user| format!("{user},{user},{user},\"system:masters\"\n"))
        .collect();
    for nobody in [STRANGER, NEWCOMER] {
        tokens.push_str(&format!("{nobody},{nobody},{nobody}\n"));
    }
    std::fs::write(folder.join("tokens.csv"), tokens)?;
    Ok(certificate)
}

fn kubeconfig(server: &str, certificate: &str, user: &str) -> String {
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{ "name": "local", "cluster": { "server": server, "certificate-authority": certificate } }],
        "users": [{ "name": "local", "user": { "token": user } }],
        "contexts": [{ "name": "local", "context": { "cluster": "local", "user": "local" } }],
        "current-context": "local",
    })
    .to_string()
}

fn flags(pairs: &[(&str, String)]) -> Vec<String> {
    pairs
        .iter()
        .map(|(name, value)| format!("--{name}={value}"))
        .collect()
}

fn free_port() -> io::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}
