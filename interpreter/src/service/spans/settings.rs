//! What OpenTelemetry's variables ask for.

use http::{HeaderName, HeaderValue, Uri};

/// Where spans go, as whom, and which of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Where they are sent.
    pub(super) endpoint: Uri,
    /// Headers of each request.
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    /// The name of this service.
    pub(super) service: String,
    /// The part of batches that is told of, in 1/2^32.
    share: u64,
}

/// A variable that cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable}={value}: {why}")]
pub struct Wrong {
    /// Which.
    variable: &'static str,
    /// What it says.
    value: String,
    /// What to write instead.
    why: &'static str,
}

const ALL: u64 = 1 << 32;

impl Settings {
    /// What the variables ask for; nothing, if none asks for spans.
    ///
    /// # Errors
    /// An address, a header or a sampler that cannot be followed.
    pub fn read<'a>(
        variable: impl Fn(&'static str) -> Option<&'a str>,
    ) -> Result<Option<Self>, Wrong> {
        let off = variable("OTEL_SDK_DISABLED")
            .is_some_and(|word| word.eq_ignore_ascii_case("true"))
            || variable("OTEL_TRACES_EXPORTER") == Some("none");
        let (name, address) = match (
            variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"),
            variable("OTEL_EXPORTER_OTLP_ENDPOINT"),
        ) {
            _ if off => return Ok(None),
            (Some(whole), _) => ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", whole.to_owned()),
            (None, Some(base)) => (
                "OTEL_EXPORTER_OTLP_ENDPOINT",
                format!("{}/v1/traces", base.trim_end_matches('/')),
            ),
            (None, None) => return Ok(None),
        };
        let wrong = |variable, value: &str, why| Wrong {
            variable,
            value: value.to_owned(),
            why,
        };
        let endpoint: Option<Uri> = address.parse().ok();
        let endpoint = endpoint
            .filter(|uri| uri.scheme_str() == Some("http") && uri.authority().is_some())
            .ok_or_else(|| {
                wrong(name, &address, "name a collector as http://HOST:PORT, such as http://127.0.0.1:4318; https is not spoken, so let one beside this process pass spans on")
            })?;
        let (name, headers) = match variable("OTEL_EXPORTER_OTLP_TRACES_HEADERS") {
            Some(headers) => ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", headers),
            None => (
                "OTEL_EXPORTER_OTLP_HEADERS",
                variable("OTEL_EXPORTER_OTLP_HEADERS").unwrap_or_default(),
            ),
        };
        // Its values are not repeated: they let somebody in.
        let headers = headers_of(headers).ok_or_else(|| {
            wrong(
                name,
                "…",
                "write NAME=VALUE,NAME=VALUE, with values percent-encoded",
            )
        })?;
        let share = match variable("OTEL_TRACES_SAMPLER") {
            None | Some("always_on" | "parentbased_always_on") => ALL,
            Some("always_off" | "parentbased_always_off") => 0,
            Some("traceidratio" | "parentbased_traceidratio") => {
                let text = variable("OTEL_TRACES_SAMPLER_ARG").unwrap_or("1");
                let ratio = text
                    .parse()
                    .ok()
                    .filter(|ratio| (0.0..=1.0).contains(ratio));
                let ratio: f64 = ratio.ok_or_else(|| {
                    wrong(
                        "OTEL_TRACES_SAMPLER_ARG",
                        text,
                        "write a number from 0 to 1",
                    )
                })?;
                (ratio * ALL as f64) as u64
            }
            Some(other) => {
                return Err(wrong(
                    "OTEL_TRACES_SAMPLER",
                    other,
                    "use always_on, always_off or traceidratio, or the same after parentbased_",
                ));
            }
        };
        Ok(Some(Settings {
            endpoint,
            headers,
            service: variable("OTEL_SERVICE_NAME")
                .unwrap_or("pilotage")
                .to_owned(),
            share,
        }))
    }

    /// Whether a trace is told of, by its id.
    pub(super) fn samples(&self, trace: u128) -> bool {
        // The lowest bits are random in every identity.
        ((trace & u128::from(ALL - 1)) as u64) < self.share
    }
}

fn headers_of(text: &str) -> Option<Vec<(HeaderName, HeaderValue)>> {
    let pairs = text
        .split(',')
        .map(str::trim)
        .filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=')?;
            let name = name.trim().parse().ok()?;
            let value = HeaderValue::from_bytes(&decode(value.trim())?).ok()?;
            Some((name, value))
        })
        .collect()
}

/// Takes percent-encoding off.
fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::new();
    while let Some(byte) = bytes.next() {
        decoded.push(if byte == b'%' {
            let digits = [bytes.next()?, bytes.next()?];
            u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
        } else {
            byte
        });
    }
    Some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&'static str, &'static str)]) -> Result<Option<Settings>, Wrong> {
        Settings::read(|name| {
            pairs
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| *value)
        })
    }

    #[test]
    fn without_an_endpoint_or_when_switched_off_nothing_is_sent() {
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318");
        assert_eq!(read(&[("OTEL_SERVICE_NAME", "p")]), Ok(None));
        assert_eq!(read(&[endpoint, ("OTEL_SDK_DISABLED", "TRUE")]), Ok(None));
        assert_eq!(
            read(&[endpoint, ("OTEL_TRACES_EXPORTER", "none")]),
            Ok(None)
        );
        assert!(read(&[endpoint]).unwrap().is_some());
    }

    #[test]
    fn the_address_of_all_gets_a_path_and_that_of_traces_is_as_it_is() {
        for (name, value, uri) in [
            (
                "OTEL_EXPORTER_OTLP_ENDPOINT",
                "http://c:1/a/",
                "http://c:1/a/v1/traces",
            ),
            (
                "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
                "http://c:1/a",
                "http://c:1/a",
            ),
        ] {
            assert_eq!(read(&[(name, value)]).unwrap().unwrap().endpoint, uri);
        }
    }

    #[test]
    fn what_cannot_be_followed_is_named_with_what_to_write() {
        let endpoint = ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:1");
        for (pair, words) in [
            (
                ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "https://c:1"),
                "http://HOST:PORT",
            ),
            (("OTEL_TRACES_SAMPLER", "some"), "use always_on"),
            (("OTEL_EXPORTER_OTLP_HEADERS", "token:secret"), "NAME=VALUE"),
        ] {
            let said = read(&[endpoint, pair]).unwrap_err().to_string();
            assert!(said.contains(pair.0) && said.contains(words), "{said}");
            assert!(!said.contains("secret"), "{said}");
        }
    }

    #[test]
    fn a_ratio_takes_about_so_many_and_the_ends_take_all_or_none() {
        for (ratio, least, most) in [("0", 0, 0), ("0.25", 200, 300), ("1", 1000, 1000)] {
            let settings = read(&[
                ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:1"),
                ("OTEL_TRACES_SAMPLER", "parentbased_traceidratio"),
                ("OTEL_TRACES_SAMPLER_ARG", ratio),
            ]);
            let settings = settings.unwrap().unwrap();
            // Spread evenly over what is looked at.
            let ids = (0..1000_u128).map(|number| number * (u128::from(ALL) / 1000));
            let taken = ids.filter(|id| settings.samples(*id)).count();
            assert!((least..=most).contains(&taken), "{ratio}: {taken}");
        }
    }

    #[test]
    fn headers_are_decoded() {
        let all = headers_of("a=b%20c, x-y=1").unwrap();
        assert_eq!(all[0].1, "b c");
        assert_eq!(all[1].0, "x-y");
    }
}
