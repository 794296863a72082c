//! Names that applications and models may have (command line, 1.7 and 1.8).

use super::Denial;

/// Checks an application's name against `^[a-z][a-z0-9]*(-[a-z0-9]*[a-z][a-z0-9]*)*$`. Whether the names derived from
/// it fit Kubernetes' limits and are free is another check, which needs the charm and the model's other applications.
///
/// # Errors
/// [`Denial::ApplicationName`], with what is wrong in the original's words.
pub fn check_application_name(name: &str) -> Result<(), Denial> {
    let refuse = |because: Option<alloc::string::String>| {
        Err(Denial::ApplicationName {
            name: name.into(),
            because: because.map(Into::into),
        })
    };
    for letter in name.chars() {
        match letter {
            'a'..='z' | '0'..='9' | '-' => {}
            'A'..='Z' => return refuse(Some("unexpected uppercase character".into())),
            other => return refuse(Some(alloc::format!("unexpected character {other}"))),
        }
    }
    if !name.starts_with(|letter: char| letter.is_ascii_lowercase()) {
        return refuse(None);
    }
    let mut parts = name.split('-').skip(1).peekable();
    while let Some(part) = parts.next() {
        if part.bytes().any(|byte| byte.is_ascii_lowercase()) {
            continue;
        }
        return match parts.peek() {
            None if !part.is_empty() => {
                refuse(Some("unexpected number(s) found after last hyphen".into()))
            }
            _ => refuse(None),
        };
    }
    Ok(())
}

/// Checks a model's name: `^[a-z0-9]+[a-z0-9-]*$`, and a namespace can have it (Kubernetes: "Object Names and IDs", a
/// DNS label of at most 63 characters that ends with a letter or digit).
///
/// # Errors
/// [`Denial::ModelName`].
pub fn check_model_name(name: &str) -> Result<(), Denial> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let refuse = |because: &'static str| {
        Err(Denial::ModelName {
            name: name.into(),
            because,
        })
    };
    if !name.bytes().all(|byte| plain(byte) || byte == b'-')
        || !name.bytes().next().is_some_and(plain)
    {
        return refuse("model names may only contain lowercase letters, digits and hyphens");
    }
    if name.len() > 63 {
        return refuse("a model is a namespace of the same name, which has at most 63 characters");
    }
    if name.ends_with('-') {
        return refuse("a model is a namespace of the same name, which does not end with a hyphen");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn application_names_are_refused_in_the_words_of_the_original() {
        for good in [
            "a",
            "ledger",
            "ledger-k8s",
            "a1-b2",
            "a-1b",
            "x--a".trim_end_matches("--a"),
        ] {
            assert_eq!(check_application_name(good), Ok(()), "{good}");
        }
        let texts = [
            (
                "Ledger",
                "invalid application name \"Ledger\", unexpected uppercase character",
            ),
            (
                "a_b",
                "invalid application name \"a_b\", unexpected character _",
            ),
            (
                "ledger-1",
                "invalid application name \"ledger-1\", unexpected number(s) found after last hyphen",
            ),
            ("ledger-1-a", "invalid application name \"ledger-1-a\""),
            ("ledger-", "invalid application name \"ledger-\""),
            ("1a", "invalid application name \"1a\""),
            ("", "invalid application name \"\""),
        ];
        for (name, text) in texts {
            let denial = check_application_name(name).map_err(|denial| denial.to_string());
            assert_eq!(denial, Err(text.to_string()));
        }
    }

    #[test]
    fn a_model_has_a_name_that_a_namespace_can_have() {
        assert_eq!(check_model_name("shop-2"), Ok(()));
        for bad in ["", "Shop", "-shop", "shop-", "sh_op", &"s".repeat(64)] {
            assert!(check_model_name(bad).is_err(), "{bad}");
        }
    }
}
