//! Recorded steps: what the core was told, and what it said, a line each, so that it can be asked again.
//!
//! A trace is JSON lines. A segment begins with a [`Header`] and a checkpoint, the whole core at that moment; then
//! comes a line per step. Steps that changed nothing and said nothing are left out. Each line is sealed: it carries a
//! digest of its own bytes, so that an altered line is told from a core that decides differently.
//!
//! [`Replay`] feeds the events to the code at hand, and stops at the first line where it says something else.

mod replay;

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::effect::Effect;
use crate::event::Event;
use crate::provisioner::{Config, Provisioner};
use crate::time::Timestamp;

pub use replay::{Difference, Replay, Stop, digest};

/// The format of the traces that this code writes. Another format is refused, and said so.
pub const FORMAT: u32 = 1;

/// One line of a trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Line {
    /// The first of a segment.
    Header(Header),
    /// The second of a segment: the whole core.
    Checkpoint(Box<Provisioner>),
    /// One step.
    Step(Box<Recorded>),
}

/// What a segment was written by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// See [`FORMAT`].
    pub format: u32,
    /// Name and version of the program.
    pub program: Box<str>,
    /// When the segment was begun.
    pub begun: Timestamp,
    /// What the core was told when it was made.
    pub config: Config,
    /// The sequence of the segment's first step: 0 at the begin of a process.
    pub first: u64,
}

/// One step: its input and everything that came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// Counts the recorded steps of one process, without gaps.
    pub sequence: u64,
    /// When; never earlier than the step before.
    pub at: Timestamp,
    /// What the core was told.
    pub event: Event,
    /// What it said is to be done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
    /// When it wanted to be woken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wake_at: Option<Timestamp>,
    /// Now and then, the digest of the worker that the event concerns, after the step; see [`digest()`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<Digest>,
}

/// What a line's seal begins with, and what stands between the digest and the line itself.
const SEAL: (&str, &str) = (r#"{"sum":""#, r#"","line":"#);

/// Writes a line, sealed, without its line feed.
///
/// # Errors
/// The line cannot be written as JSON.
pub fn seal(line: &impl Serialize) -> Result<String, serde_json::Error> {
    let body = serde_json::to_string(line)?;
    let sum = Digest::of_bytes(body.as_bytes());
    Ok(alloc::format!("{}{sum}{}{body}}}", SEAL.0, SEAL.1))
}

/// What is wrong with a line's text.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// It does not have the form of a sealed line.
    #[error("the line has no seal: it was cut or altered")]
    Unsealed,
    /// It was altered.
    #[error("the line was altered: its digest is {actual}, its seal says {sealed}")]
    Altered {
        /// What the seal says.
        sealed: Digest,
        /// What the bytes give.
        actual: Digest,
    },
    /// It is sealed and yet unreadable: it was written by other code.
    #[error("the line cannot be read by this release: {0}")]
    Unreadable(#[from] serde_json::Error),
}

/// Reads a sealed line.
///
/// # Errors
/// See [`Damage`].
pub fn unseal(text: &str) -> Result<Line, Damage> {
    let (sealed, body) = text
        .strip_prefix(SEAL.0)
        .and_then(|rest| rest.split_once(SEAL.1))
        .ok_or(Damage::Unsealed)?;
    let body = body.strip_suffix('}').ok_or(Damage::Unsealed)?;
    let written: Digest = sealed
        .to_string()
        .try_into()
        .map_err(|_| Damage::Unsealed)?;
    let actual = Digest::of_bytes(body.as_bytes());
    // Compared as text: only one text of a digest is ever written.
    if actual.to_string() != sealed {
        return Err(Damage::Altered {
            sealed: written,
            actual,
        });
    }
    Ok(serde_json::from_str(body)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Source;

    fn line() -> Line {
        Line::Step(Box::new(Recorded {
            sequence: 3,
            at: Timestamp(17),
            event: Event::SourceFailed {
                source: Source::Store,
                reason: "größer".into(),
            },
            effects: Vec::new(),
            wake_at: Some(Timestamp(18)),
            digest: None,
        }))
    }

    #[test]
    fn a_line_is_read_as_it_was_written() {
        assert_eq!(unseal(&seal(&line()).unwrap()).unwrap(), line());
    }

    #[test]
    fn whatever_byte_of_a_line_is_changed_to_whatever_else_is_noticed() {
        let sealed = seal(&line()).unwrap();
        let mut tried = 0;
        for at in 0..sealed.len() {
            for other in 0..=u8::MAX {
                let mut bytes = sealed.clone().into_bytes();
                if bytes[at] == other {
                    continue;
                }
                bytes[at] = other;
                if let Ok(altered) = String::from_utf8(bytes) {
                    assert!(unseal(&altered).is_err(), "{altered}");
                    tried += 1;
                }
            }
        }
        assert!(tried > 100 * sealed.len());
    }
}
