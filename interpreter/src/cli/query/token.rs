//! From letters to words of a query.

use super::QueryError;

/// A word of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A name; hyphens belong to it.
    Name(String),
    /// A text in quotes.
    Text(String),
    /// A whole number.
    Number(i64),
    /// A sign.
    Sign(&'static str),
    /// Nothing follows.
    End,
}

const SIGNS: [&str; 14] = [
    "==", "!=", "<=", ">=", "&&", "||", "=>", "<", ">", "(", ")", ",", ".", ";",
];

/// Splits a query into words, each with the number of letters before it.
///
/// # Errors
/// A letter that begins no word, a text without its end, a number that is too large.
pub fn tokens(query: &str) -> Result<Vec<(usize, Token)>, QueryError> {
    let letters: Vec<char> = query.chars().collect();
    let fail = |at: usize, problem: String| QueryError {
        query: query.into(),
        at,
        problem,
    };
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&letter) = letters.get(at) {
        let begin = at;
        let run = |from: usize, belongs: fn(char) -> bool| -> usize {
            letters[from..]
                .iter()
                .position(|letter| !belongs(*letter))
                .map_or(letters.len(), |length| from + length)
        };
        if letter.is_whitespace() {
            at += 1;
            continue;
        } else if letter.is_ascii_alphabetic() || letter == '_' {
            at = run(at, |letter| {
                letter.is_ascii_alphanumeric() || letter == '-' || letter == '_'
            });
            tokens.push((begin, Token::Name(letters[begin..at].iter().collect())));
        } else if letter.is_ascii_digit()
            || (letter == '-' && letters.get(at + 1).is_some_and(char::is_ascii_digit))
        {
            at = run(at + 1, |letter| letter.is_ascii_digit());
            let text: String = letters[begin..at].iter().collect();
            let number = text
                .parse()
                .map_err(|_| fail(begin, format!("the number {text} is too large")))?;
            tokens.push((begin, Token::Number(number)));
        } else if letter == '"' || letter == '\'' {
            let end = letters[at + 1..]
                .iter()
                .position(|other| *other == letter)
                .ok_or_else(|| fail(begin, "the text has no end".into()))?;
            let text = letters[at + 1..at + 1 + end].iter().collect();
            tokens.push((begin, Token::Text(text)));
            at += end + 2;
        } else {
            let sign = SIGNS
                .into_iter()
                .find(|sign| {
                    sign.chars()
                        .enumerate()
                        .all(|(offset, part)| letters.get(at + offset) == Some(&part))
                })
                .ok_or_else(|| fail(begin, format!("unexpected \"{letter}\"")))?;
            at += sign.chars().count();
            tokens.push((begin, Token::Sign(sign)));
        }
    }
    tokens.push((letters.len(), Token::End));
    Ok(tokens)
}
