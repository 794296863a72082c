//! The lines of an answer, as they come.

use ::kube::client::Body;
use http_body_util::BodyExt;

/// An answer that is read line by line.
pub(crate) struct Lines {
    body: Body,
    buffer: Vec<u8>,
    /// What was not given out yet begins here.
    begin: usize,
    /// From `begin` to here there is no end of a line.
    looked: usize,
}

impl Lines {
    pub(crate) fn new(body: Body) -> Self {
        Lines {
            body,
            buffer: Vec::new(),
            begin: 0,
            looked: 0,
        }
    }

    /// The next line; none when the answer has ended. What follows the last end of a line is none: it was cut off.
    /// Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Result<Option<&[u8]>, ::kube::Error> {
        loop {
            let news = &self.buffer[self.looked..];
            if let Some(length) = news.iter().position(|byte| *byte == b'\n') {
                let (begin, end) = (self.begin, self.looked + length);
                self.begin = end + 1;
                self.looked = self.begin;
                return Ok(Some(&self.buffer[begin..end]));
            }
            self.buffer.drain(..self.begin);
            self.begin = 0;
            self.looked = self.buffer.len();
            match self.body.frame().await.transpose()? {
                Some(frame) => {
                    if let Some(data) = frame.data_ref() {
                        self.buffer.extend_from_slice(data);
                    }
                }
                None => return Ok(None),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whole_lines_are_given_out_and_what_was_cut_off_is_not() {
        let mut lines = Lines::new(Body::from(b"first\n\nthird\ncut o".to_vec()));
        let mut read = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            read.push(String::from_utf8(line.to_vec()).unwrap());
        }
        assert_eq!(read, ["first", "", "third"]);
    }
}
