//! Identities: uids and versions.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The identity of an object or a record for all time.
///
/// Kubernetes makes its uids UUIDs ("Object Names and IDs": standardised as ISO/IEC 9834-8), so sixteen bytes hold
/// one; anything else is not an object of Kubernetes. Applications and models get theirs from the store.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uid(pub u128);

impl Uid {
    /// The first eight hexadecimal digits: what a name can carry of an identity (reference, 0.1 "storage unique id").
    pub fn short(self) -> String {
        let mut text = alloc::format!("{self}");
        text.truncate(8);
        text
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e] = [
            self.0 >> 96,
            (self.0 >> 80) & 0xffff,
            (self.0 >> 64) & 0xffff,
            (self.0 >> 48) & 0xffff,
            self.0 & 0xffff_ffff_ffff,
        ];
        write!(f, "{a:08x}-{b:04x}-{c:04x}-{d:04x}-{e:012x}")
    }
}

impl fmt::Debug for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is no UUID in its canonical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a UUID of the form xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx")]
pub struct NotUuid;

impl FromStr for Uid {
    type Err = NotUuid;

    fn from_str(text: &str) -> Result<Self, NotUuid> {
        if text.len() != 36 {
            return Err(NotUuid);
        }
        let mut value = 0_u128;
        for (at, byte) in text.bytes().enumerate() {
            let digit = match (at, byte) {
                (8 | 13 | 18 | 23, b'-') => continue,
                (8 | 13 | 18 | 23, _) => return Err(NotUuid),
                (_, b'0'..=b'9') => byte.wrapping_sub(b'0'),
                (_, b'a'..=b'f') => byte.wrapping_sub(b'a').wrapping_add(10),
                (_, b'A'..=b'F') => byte.wrapping_sub(b'A').wrapping_add(10),
                _ => return Err(NotUuid),
            };
            value = (value << 4) | u128::from(digit);
        }
        Ok(Uid(value))
    }
}

impl Serialize for Uid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Uid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Uid;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a UUID")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Uid, E> {
                text.parse().map_err(de::Error::custom)
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// The version of a record or of an object of the cluster: a number that rises with every change.
///
/// Kubernetes promises since 1.35 that resource versions of one kind compare as numbers. In JSON it is a text, as
/// there; a number is read too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u64);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Number;
        impl Visitor<'_> for Number {
            type Value = Version;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a version: a whole number, as text")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Version, E> {
                text.parse().map(Version).map_err(de::Error::custom)
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Version, E> {
                Ok(Version(number))
            }
        }
        deserializer.deserialize_any(Number)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_uid_is_read_as_it_is_written(number: u128) {
            let uid = Uid(number);
            prop_assert_eq!(uid.to_string().parse(), Ok(uid));
        }

        #[test]
        fn no_text_breaks_the_reading_of_a_uid(text in ".{0,40}") {
            if let Ok(uid) = text.parse::<Uid>() {
                prop_assert_eq!(uid.to_string(), text.to_ascii_lowercase());
            }
        }
    }
}
