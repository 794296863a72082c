//! A plain HTTP client for the API server: one call, one answer.

use std::io::{BufRead, BufReader};
use std::time::Duration;

use serde_json::Value;
use thiserror::Error;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

/// One request.
#[derive(Clone, Debug)]
pub struct Call<'a> {
    /// The user, who is also the field manager of writes; see [`super::USERS`].
    pub who: &'a str,
    /// GET, POST, PUT, PATCH or DELETE.
    pub method: &'a str,
    /// Such as `/api/v1/namespaces/x/pods`.
    pub path: &'a str,
    /// The query, not yet encoded.
    pub query: &'a [(String, String)],
    /// The type of the body; empty if there is none.
    pub content_type: &'a str,
    /// The body.
    pub body: Option<&'a Value>,
}

/// What the server answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The HTTP status code.
    pub status: u16,
    /// The body.
    pub body: Value,
}

impl Answer {
    /// The body, if the status is the one that was expected.
    ///
    /// # Panics
    ///
    /// If it is another.
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.body);
        self.body
    }
}

/// There is no answer.
#[derive(Debug, Error)]
pub enum ClientError {
    /// The server could not be asked.
    #[error("the server does not answer: {0}")]
    Http(#[from] ureq::Error),
    /// The stream broke.
    #[error("the answer breaks off: {0}")]
    Io(#[from] std::io::Error),
    /// What it answered is not JSON.
    #[error("the answer is not JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// Speaks to one server.
#[derive(Clone, Debug)]
pub struct Client {
    agent: ureq::Agent,
    base: String,
}

impl Client {
    /// A client of the server at `base` (`https://127.0.0.1:1`), which shows a certificate out of `pem`.
    pub fn new(base: &str, pem: &str) -> Client {
        let roots: Vec<Certificate<'static>> = parse_pem(pem.as_bytes())
            .filter_map(|item| match item {
                Ok(PemItem::Certificate(certificate)) => Some(certificate),
                _ => None,
            })
            .collect();
        let tls = TlsConfig::builder()
            .root_certs(RootCerts::new_with_certs(&roots))
            .build();
        let config = ureq::Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .allow_non_standard_methods(true)
            .timeout_connect(Some(Duration::from_secs(5)))
            .build();
        Client {
            agent: config.into(),
            base: base.to_owned(),
        }
    }

    /// The server's address.
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Sends one request and reads the whole answer.
    pub fn call(&self, call: &Call<'_>) -> Result<Answer, ClientError> {
        let mut response = self.send(call)?;
        let status = response.status().as_u16();
        let text = response.body_mut().read_to_string()?;
        let body = match serde_json::from_str(&text) {
            Ok(body) => body,
            // Health checks answer in plain text.
            Err(_) if !text.starts_with('{') => Value::String(text),
            Err(error) => return Err(error.into()),
        };
        Ok(Answer { status, body })
    }

    /// Sends one request and hands every line of the answer on as it comes, until the server or `line` ends it.
    pub fn stream(
        &self,
        call: &Call<'_>,
        mut line: impl FnMut(Value) -> bool,
    ) -> Result<u16, ClientError> {
        let response = self.send(call)?;
        let status = response.status().as_u16();
        for text in BufReader::new(response.into_body().into_reader()).lines() {
            if !line(serde_json::from_str(&text?)?) {
                break;
            }
        }
        Ok(status)
    }

    fn send(&self, call: &Call<'_>) -> Result<ureq::http::Response<ureq::Body>, ClientError> {
        let mut uri = format!("{}{}", self.base, call.path);
        for (index, (key, value)) in call.query.iter().enumerate() {
            uri.push(if index == 0 { '?' } else { '&' });
            uri.push_str(&format!("{}={}", encode(key), encode(value)));
        }
        let mut request = ureq::http::Request::builder()
            .method(call.method)
            .uri(uri)
            .header("Accept", "application/json")
            .header("Authorization", format!("Bearer {}", call.who));
        if !call.content_type.is_empty() {
            request = request.header("Content-Type", call.content_type);
        }
        // A DELETE with a body is not in HTTP's books, but in Kubernetes'.
        let response = match call.body {
            Some(body) => self
                .agent
                .run(request.body(body.to_string()).map_err(ureq::Error::from)?)?,
            None => self
                .agent
                .run(request.body(()).map_err(ureq::Error::from)?)?,
        };
        Ok(response)
    }
}

/// Percent-encodes all but the characters that RFC 3986 leaves alone.
fn encode(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                encoded.push(char::from(byte));
            }
            other => encoded.push_str(&format!("%{other:02X}")),
        }
    }
    encoded
}
