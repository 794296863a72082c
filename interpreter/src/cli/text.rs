//! Texts as Go writes and reads them, and the natural order of names.

use std::cmp::Ordering;

/// A text in double quotes, with escapes.
pub fn quoted(text: &str) -> String {
    format!("{text:?}")
}

/// A list as Go's `%q` prints it: `["a" "b"]`.
pub fn quoted_list<T: AsRef<str>>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(|item| quoted(item.as_ref())).collect();
    format!("[{}]", items.join(" "))
}

/// The natural order: digits compare as numbers, so `a/2` stands before `a/10`.
pub fn natural(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        let (x, rest_left) = chunk(left);
        let (y, rest_right) = chunk(right);
        if x.is_empty() || y.is_empty() {
            return x.len().cmp(&y.len()).then_with(|| a.cmp(b));
        }
        let number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
        let order = if number(x) && number(y) {
            let (p, q) = (x.trim_start_matches('0'), y.trim_start_matches('0'));
            p.len().cmp(&q.len()).then_with(|| p.cmp(q))
        } else {
            x.cmp(y)
        };
        if order != Ordering::Equal {
            return order;
        }
        (left, right) = (rest_left, rest_right);
    }
}

/// The longest beginning that is all digits or has none.
fn chunk(text: &str) -> (&str, &str) {
    let digit = text.starts_with(|c: char| c.is_ascii_digit());
    let end = text
        .find(|c: char| c.is_ascii_digit() != digit)
        .unwrap_or(text.len());
    text.split_at(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_natural_order() {
        let mut names = ["a/10", "a/2", "b/0", "a", "a/2b", "a/02"];
        names.sort_by(|a, b| natural(a, b));
        assert_eq!(names, ["a", "a/02", "a/2", "a/2b", "a/10", "b/0"]);
    }

    #[test]
    fn lists_are_quoted_as_go_does() {
        assert_eq!(quoted_list(&["a", "b\"c"]), r#"["a" "b\"c"]"#);
    }
}
