//! Image references: which text names an image that a node can pull.
//!
//! The grammar is that of the OCI distribution specification and of the tools around it:
//! `[host[:port]/]path[:tag][@algorithm:digest]`.

use alloc::string::String;

/// Why a text does not name an image.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not an image reference: {reason}")]
pub struct NotAnImage {
    /// The text.
    pub text: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

/// Whether a text names an image.
///
/// # Errors
///
/// [`NotAnImage`] says which part is wrong.
pub fn check(text: &str) -> Result<(), NotAnImage> {
    problem(text).map_or(Ok(()), |reason| {
        Err(NotAnImage {
            text: text.into(),
            reason,
        })
    })
}

fn problem(text: &str) -> Option<&'static str> {
    /// The longest name, host included, that registries take.
    const LONGEST_NAME: usize = 255;
    if text.is_empty() {
        return Some("it is empty");
    }
    let (rest, digest) = match text.split_once('@') {
        None => (text, None),
        Some((rest, digest)) => (rest, Some(digest)),
    };
    if digest.is_some_and(|digest| !is_digest(digest)) {
        return Some("after \"@\" a digest such as sha256:… is expected");
    }
    // A colon before the last slash belongs to a port.
    let last = rest.rfind('/').map_or(0, |slash| slash.saturating_add(1));
    let (name, tag) = match rest.get(last..).and_then(|end| end.split_once(':')) {
        None => (rest, None),
        Some((end, tag)) => (
            rest.get(..last.saturating_add(end.len())).unwrap_or(rest),
            Some(tag),
        ),
    };
    if tag.is_some_and(|tag| !is_tag(tag)) {
        return Some("after \":\" a tag of letters, digits, \"_\", \".\" and \"-\" is expected");
    }
    if name.len() > LONGEST_NAME {
        return Some("its name is longer than 255 characters");
    }
    let path = match name.split_once('/') {
        Some((host, path)) if host.contains(['.', ':', '[']) || host == "localhost" => {
            if !is_host(host) {
                return Some("before the first \"/\" a host with perhaps a port is expected");
            }
            path
        }
        _ => name,
    };
    if path.split('/').all(is_component) {
        None
    } else {
        Some(
            "a name is made of lower-case letters and digits, separated by \".\", \"_\", \"__\", \"-\" or \"/\"",
        )
    }
}

fn is_digest(text: &str) -> bool {
    let Some((algorithm, hex)) = text.split_once(':') else {
        return false;
    };
    let hexadecimal = hex
        .bytes()
        .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let long_enough = match algorithm {
        "sha256" => hex.len() == 64,
        "sha512" => hex.len() == 128,
        _ => hex.len() >= 32,
    };
    let known_letters =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'_' | b'-');
    hexadecimal
        && long_enough
        && algorithm.starts_with(|first: char| first.is_ascii_alphabetic())
        && algorithm.bytes().all(known_letters)
}

fn is_tag(text: &str) -> bool {
    const LONGEST: usize = 128;
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    text.bytes().next().is_some_and(word)
        && text.len() <= LONGEST
        && text
            .bytes()
            .all(|byte| word(byte) || matches!(byte, b'.' | b'-'))
}

fn is_host(text: &str) -> bool {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((address, port)) => {
                let hexadecimal = address
                    .bytes()
                    .all(|byte| byte.is_ascii_hexdigit() || byte == b':');
                if address.is_empty() || !hexadecimal {
                    return false;
                }
                (None, port)
            }
            None => return false,
        },
        None => match text.find(':') {
            Some(colon) => {
                let (host, port) = text.split_at(colon);
                (Some(host), port)
            }
            None => (Some(text), ""),
        },
    };
    let label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let port_is_good = port.is_empty()
        || port
            .strip_prefix(':')
            .is_some_and(|digits| !digits.starts_with('+') && digits.parse::<u16>().is_ok());
    port_is_good && host.is_none_or(|host| host.split('.').all(label))
}

fn is_component(text: &str) -> bool {
    let alphanumeric = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9');
    let mut bytes = text.bytes();
    let (Some(first), Some(last)) = (text.bytes().next(), bytes.next_back()) else {
        return false;
    };
    let separators_are_known = text
        .split(|letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit())
        .all(|separator| {
            matches!(separator, "" | "." | "_" | "__") || separator.bytes().all(|byte| byte == b'-')
        });
    alphanumeric(first) && alphanumeric(last) && separators_are_known
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn references_as_charms_write_them_are_images() {
        for image in [
            "nginx",
            "tensorflow/serving:1.12.0",
            "docker.io/kubeflowkatib/katib-controller:v0.16.0",
            "172.17.0.2:5000/canonical/charmed-mysql:3b6a4a63971acec3b71a0178cd093014a695ddf7c31d91d56ebb110eec6cdbe1",
            "localhost/image",
            "localhost:32000/image:tag",
            "[fd00::1]:5000/image",
            "ghcr.io/canonical/charmed-postgresql@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
            "ghcr.io/a/b:1@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
            "a__b/c--d/e.f",
        ] {
            assert_eq!(check(image), Ok(()), "{image}");
        }
    }

    #[test]
    fn anything_else_is_not() {
        for text in [
            "",
            " ",
            "nginx ",
            "Nginx",
            "nginx:",
            "nginx:-1",
            "nginx:a b",
            "nginx@sha256:12",
            "nginx@",
            "/nginx",
            "nginx/",
            "a//b",
            "http://docker.io/nginx",
            "docker.io:99999/nginx",
            "example.com:/nginx",
            "{{ image }}",
            "<image>",
            "a___b",
            "a..b",
            "-a",
        ] {
            assert!(check(text).is_err(), "{text:?}");
        }
        assert!(check(&"a/".repeat(200)).is_err());
    }

    proptest! {
        #[test]
        fn checking_is_total(text in ".*") {
            let _ = check(&text);
        }
    }
}
