//! The one listener: `/livez`, `/readyz` and `/metrics`, by plain HTTP.
//!
//! It has a thread of its own, so that it can tell of a loop that is stuck.

use std::convert::Infallible;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use http::header::{ALLOW, CONTENT_TYPE};
use http::{Method, Request, Response, StatusCode};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};

use super::metrics;
use crate::monitor::{Check, Monitor};

/// A conversation that takes longer is given up.
const PATIENCE: Duration = Duration::from_secs(10);
const PLAIN: &str = "text/plain; charset=utf-8";

/// Why there is no listener.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// What was named is no address.
    #[error(
        "there is no address {0:?}; name ADDR:PORT, such as 127.0.0.1:8080, [::1]:8080, or :8080 for every address"
    )]
    Address(String),
    /// It cannot be listened on.
    #[error("cannot listen on {address}: {source}; choose another address or port with --listen")]
    Taken {
        /// Where.
        address: SocketAddr,
        /// Why not.
        source: io::Error,
    },
    /// The thread cannot be made.
    #[error("cannot listen: {0}")]
    Thread(io::Error),
}

/// A port that is ours, and not yet served.
pub struct Listener {
    socket: TcpListener,
}

impl Listener {
    /// Takes a port: `ADDR:PORT`, or `:PORT` for every address. Port 0 is any that is free.
    ///
    /// # Errors
    /// See [`ListenError`].
    pub fn bind(text: &str) -> Result<Self, ListenError> {
        let addresses = match text.strip_prefix(':').map(str::parse) {
            // Both kinds of addresses where there are both.
            Some(Ok(port)) => vec![
                SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)),
                SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)),
            ],
            Some(Err(_)) => Vec::new(),
            None => text.parse().into_iter().collect(),
        };
        let mut refused = ListenError::Address(text.to_owned());
        for address in addresses {
            match TcpListener::bind(address) {
                Ok(socket) => return Ok(Listener { socket }),
                Err(source) => {
                    let taken = source.kind() == io::ErrorKind::AddrInUse;
                    refused = ListenError::Taken { address, source };
                    if taken {
                        break;
                    }
                }
            }
        }
        Err(refused)
    }

    /// Where it is.
    ///
    /// # Errors
    /// The system does not tell.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Answers from now on, until the process ends.
    ///
    /// # Errors
    /// The thread cannot be made.
    pub fn serve(self, monitor: Arc<Monitor>) -> Result<(), ListenError> {
        self.socket
            .set_nonblocking(true)
            .map_err(ListenError::Thread)?;
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(ListenError::Thread)?;
        let listener = {
            let _inside = runtime.enter();
            tokio::net::TcpListener::from_std(self.socket).map_err(ListenError::Thread)?
        };
        let thread = thread::Builder::new().name("listen".into());
        let spawned = thread.spawn(move || runtime.block_on(accept(listener, monitor)));
        spawned.map(drop).map_err(ListenError::Thread)
    }
}

async fn accept(listener: tokio::net::TcpListener, monitor: Arc<Monitor>) {
    loop {
        let Ok((connection, _)) = listener.accept().await else {
            // Too many files are open: some will be closed.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let monitor = monitor.clone();
        tokio::spawn(async move {
            let answer = service_fn(|request: Request<_>| {
                let answer = answer(&monitor, request.method(), request.uri());
                std::future::ready(Ok::<_, Infallible>(answer))
            });
            let served = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(PATIENCE)
                .keep_alive(false)
                .serve_connection(TokioIo::new(connection), answer);
            // Who goes away in the middle is not waited for.
            let _ = tokio::time::timeout(PATIENCE, served).await;
        });
    }
}

fn answer(monitor: &Monitor, method: &Method, uri: &http::Uri) -> Response<String> {
    let verbose = uri
        .query()
        .is_some_and(|query| query.split('&').any(|word| word.starts_with("verbose")));
    let (status, kind, text) = match uri.path() {
        _ if method != Method::GET && method != Method::HEAD => {
            (StatusCode::METHOD_NOT_ALLOWED, PLAIN, "GET only\n".into())
        }
        "/livez" => health(&monitor.live(), verbose),
        "/readyz" => health(&monitor.ready(), verbose),
        "/metrics" => (
            StatusCode::OK,
            metrics::CONTENT_TYPE,
            metrics::text(monitor),
        ),
        _ => (
            StatusCode::NOT_FOUND,
            PLAIN,
            "there are /livez, /readyz and /metrics\n".into(),
        ),
    };
    let mut response = Response::builder()
        .status(status)
        .header(CONTENT_TYPE, kind);
    if status == StatusCode::METHOD_NOT_ALLOWED {
        response = response.header(ALLOW, "GET, HEAD");
    }
    response.body(text).unwrap_or_default()
}

/// As Kubernetes' own components say it: `ok`, or what was looked at, a line each.
fn health(checks: &[Check], verbose: bool) -> (StatusCode, &'static str, String) {
    let well = checks.iter().all(|check| check.wrong.is_none());
    if well && !verbose {
        return (StatusCode::OK, PLAIN, "ok\n".into());
    }
    let mut text: String = checks
        .iter()
        .map(|check| match &check.wrong {
            None => format!("[+]{} ok\n", check.name),
            Some(wrong) => format!("[-]{} failed: {wrong}\n", check.name),
        })
        .collect();
    text.push_str(if well { "ok\n" } else { "failed\n" });
    let status = if well {
        StatusCode::OK
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    };
    (status, PLAIN, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_what_cannot_be_listened_on_is_told() {
        let free = Listener::bind("127.0.0.1:0").unwrap();
        let address = free.address().unwrap();
        assert!(address.port() > 0);
        let taken = Listener::bind(&address.to_string())
            .map(|_| ())
            .unwrap_err();
        let said = taken.to_string();
        assert!(
            said.starts_with(&format!("cannot listen on {address}: ")),
            "{said}"
        );
        assert!(
            said.ends_with("choose another address or port with --listen"),
            "{said}"
        );
        assert!(Listener::bind(":0").is_ok());
        for wrong in [
            "",
            "8080",
            "localhost",
            "127.0.0.1",
            ":x",
            ":70000",
            "[::1]",
        ] {
            let said = Listener::bind(wrong).map(|_| ()).unwrap_err().to_string();
            assert!(said.starts_with("there is no address"), "{wrong}: {said}");
        }
    }

    #[test]
    fn health_is_one_word_unless_something_is_wrong_or_more_is_asked_for() {
        let check = |name, wrong: Option<&str>| Check {
            name,
            wrong: wrong.map(str::to_owned),
        };
        let well = [check("loop", None)];
        assert_eq!(health(&well, false), (StatusCode::OK, PLAIN, "ok\n".into()));
        assert_eq!(health(&well, true).2, "[+]loop ok\nok\n");
        let ill = [check("loop", None), check("lease", Some("not ours"))];
        let (status, _, text) = health(&ill, false);
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(text, "[+]loop ok\n[-]lease failed: not ours\nfailed\n");
    }
}
