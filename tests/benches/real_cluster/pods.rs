//! Scheduler and kubelet of a namespace, by a watch: two requests for each pod, and no look at anything again.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use pilotage_tests::control_plane::{Call, Client, ControlPlane, Watches, binding, kind, running};
use serde_json::Value;

/// The player; it ends when it is dropped.
pub(crate) struct Pods {
    ready: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Pods {
    pub(crate) fn start(cluster: &ControlPlane, namespace: &str) -> Pods {
        let (ready, stop) = <(Arc<AtomicUsize>, Arc<AtomicBool>)>::default();
        let client = cluster.client().clone();
        let watches = Watches::start(&client, &["Pod"]).expect("the server lists pods");
        let (counted, stopped, namespace) = (ready.clone(), stop.clone(), namespace.to_owned());
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                let Some(seen) = watches.next(Duration::from_millis(50)) else {
                    continue;
                };
                if seen.event == "ADDED" && seen.object["metadata"]["namespace"] == *namespace {
                    run(&client, &namespace, &seen.object);
                    counted.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        Pods {
            ready,
            stop,
            thread: Some(thread),
        }
    }

    /// How many pods have become ready.
    pub(crate) fn ready(&self) -> usize {
        self.ready.load(Ordering::Relaxed)
    }
}

impl Drop for Pods {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn run(client: &Client, namespace: &str, pod: &Value) {
    let name = pod["metadata"]["name"].as_str().unwrap_or_default();
    let path = kind("Pod").object(namespace, name);
    send(client, "POST", &format!("{path}/binding"), &binding(name));
    send(client, "PATCH", &format!("{path}/status"), &running(pod));
}

fn send(client: &Client, method: &str, path: &str, body: &Value) {
    let call = Call {
        who: "kubelet",
        method,
        path,
        query: &[],
        content_type: match method {
            "PATCH" => "application/merge-patch+json",
            _ => "application/json",
        },
        body: Some(body),
    };
    let answer = client.call(&call).expect("an answer");
    assert!(answer.status < 300, "{path}: {}", answer.body);
}
