//! What a process answers at the address of `run --listen`.

use ureq::Agent;

use crate::program::Running;

/// Where a process listens, as it says.
///
/// # Panics
/// If there is none.
pub fn address(process: &mut Running) -> String {
    process.until_it_says("listening on http://");
    let said = process.said();
    let line = said
        .lines()
        .find_map(|line| line.strip_prefix("listening on "));
    line.expect("an address").to_owned()
}

/// Status and text of a page.
///
/// # Panics
/// If there is none.
pub fn page(address: &str, path: &str) -> (u16, String) {
    let agent: Agent = Agent::config_builder()
        .http_status_as_error(false)
        .build()
        .into();
    let mut answer = agent
        .get(format!("{address}{path}"))
        .call()
        .expect("it answers");
    let text = answer.body_mut().read_to_string().expect("text");
    (answer.status().as_u16(), text)
}

/// The value of a metric, named with its labels.
///
/// # Panics
/// If there is none.
pub fn metric(text: &str, name: &str) -> f64 {
    let value = text.lines().find_map(|line| {
        let (known, value) = line.rsplit_once(' ')?;
        (known == name).then_some(value)
    });
    value.expect(name).parse().expect("a number")
}
