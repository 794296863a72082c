//! The one place where randomness enters: identities and keys.

use pilotage_core::digest::DigestKey;
use pilotage_core::name::Uid;

/// The operating system gives no random bytes.
#[derive(Debug, thiserror::Error)]
#[error("the operating system gives no random bytes, so nothing new can be named: {0}")]
pub struct NoRandomness(#[from] getrandom::Error);

/// A new uid: a random UUID (RFC 9562, version 4).
///
/// # Errors
/// See [`NoRandomness`].
pub fn draw_uid() -> Result<Uid, NoRandomness> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    let random = u128::from_be_bytes(bytes);
    let version = (random & !(0xf << 76)) | (0x4 << 76);
    Ok(Uid((version & !(0x3 << 62)) | (0x2 << 62)))
}

/// A new key for fingerprints.
///
/// # Errors
/// See [`NoRandomness`].
pub fn draw_key() -> Result<DigestKey, NoRandomness> {
    let mut key = DigestKey::default();
    getrandom::fill(&mut key.0)?;
    Ok(key)
}

/// A number that differs from the last one drawn, as good as surely.
///
/// # Errors
/// See [`NoRandomness`].
pub fn draw_incarnation() -> Result<u32, NoRandomness> {
    Ok(getrandom::u32()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uid_is_a_uuid_of_version_4_and_no_two_are_equal() {
        let (first, second) = (draw_uid().unwrap(), draw_uid().unwrap());
        assert_ne!(first, second);
        let text = first.to_string();
        assert_eq!(&text[14..15], "4");
        assert!("89ab".contains(&text[19..20]), "{text}");
    }
}
