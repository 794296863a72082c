//! Files and streams that users name: they may be anything, so no more is read than can be meant.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The most bytes of a value, or of a file of values (Juju's bound of a value).
const LARGEST: u64 = 5 << 20;

/// The text that a stream holds, up to its end.
///
/// # Errors
/// It cannot be read, is no UTF-8, or is larger than 5 MiB.
pub fn text(stream: &mut dyn Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    stream.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(io::Error::other("it is larger than 5 MiB"));
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("it is not UTF-8"))
}

/// The text of a file; also of a pipe that somebody writes to.
///
/// # Errors
/// As [`text`].
pub fn text_of(path: &Path) -> io::Result<String> {
    text(&mut File::open(path)?)
}

/// The bytes of a file that has an end, however large.
///
/// # Errors
/// It cannot be read, or is a device, a pipe or a folder.
pub fn bytes_of_file(path: &Path) -> io::Result<Vec<u8>> {
    regular(path)?;
    std::fs::read(path)
}

/// Makes sure that a path leads to a file that has an end.
///
/// # Errors
/// It is not there, or is a device, a pipe or a folder.
pub fn regular(path: &Path) -> io::Result<()> {
    if std::fs::metadata(path)?.is_file() {
        Ok(())
    } else {
        Err(io::Error::other("it is no file"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_refused() {
        let told = |done: io::Result<String>| done.unwrap_err().to_string();
        assert_eq!(told(text(&mut io::repeat(b'a'))), "it is larger than 5 MiB");
        assert_eq!(told(text(&mut &b"\xff"[..])), "it is not UTF-8");
        assert_eq!(
            told(text_of(Path::new("/dev/zero"))),
            "it is larger than 5 MiB"
        );
        let device = bytes_of_file(Path::new("/dev/zero")).unwrap_err();
        assert_eq!(device.to_string(), "it is no file");
        assert_eq!(text(&mut &b"a: 1"[..]).unwrap(), "a: 1");
    }
}
