//! `manifests`: what a cluster needs so that Pilotage runs in it.

use serde_json::json;

use super::super::failure::{Done, Failure};
use super::super::grammar::{Command, Opt, Parsed, Scope};
use super::super::output;
use super::super::session::Session;
use crate::cluster::OWN_NAMESPACE;
use crate::install::{Install, Trust};

/// `manifests`
pub const MANIFESTS: Command = Command {
    name: "manifests",
    aliases: &[],
    arguments: "",
    summary: "Prints what a cluster needs so that Pilotage runs in it, for `kubectl apply --server-side --force-conflicts -f -`.",
    details: "Trust is what an application may be given that asks for it: everything, in its namespace or in the cluster.\n\
              Pilotage may then give anybody anything there. Where it may not, a trusted application is refused, and its\n\
              status says so. The image is yours to build and push.",
    scope: Scope::Program,
    formats: &["yaml", "json"],
    options: &[
        Opt::value(
            "trust",
            "none|namespace|cluster",
            "where applications may be trusted (default: none)",
        ),
        Opt::value(
            "namespace",
            "NAME",
            "where Pilotage itself runs (default: pilotage-system)",
        ),
        Opt::value(
            "image",
            "IMAGE",
            "the image that holds the program (default: pilotage:VERSION)",
        ),
    ],
    run,
};

/// The image, if none is named: of this release, from wherever the nodes have it.
pub const IMAGE: &str = concat!("pilotage:", env!("CARGO_PKG_VERSION"));

fn run(session: &mut Session<'_>, parsed: &Parsed) -> Done {
    parsed.no_more_than(0)?;
    let named = parsed.value("trust").unwrap_or("none");
    let trust = Trust::ALL.into_iter().find(|(name, _)| *name == named);
    let Some((_, trust)) = trust else {
        return Err(Failure::usage(format!(
            "there is no trust {named:?}; use none, namespace or cluster"
        )));
    };
    let namespace = parsed.value("namespace").unwrap_or(OWN_NAMESPACE);
    let label = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let fits = (1..=63).contains(&namespace.len()) && namespace.bytes().all(label);
    if !fits || namespace.starts_with('-') || namespace.ends_with('-') {
        return Err(Failure::usage(format!(
            "{namespace:?} is no name of a namespace"
        )));
    }
    let install = Install {
        namespace: namespace.to_owned(),
        image: parsed.value("image").unwrap_or(IMAGE).to_owned(),
        trust,
    };
    let objects = install.objects();
    if session.format() == "json" {
        let list = json!({ "apiVersion": "v1", "kind": "List", "items": objects });
        session.print(&output::json(&list));
    } else {
        for object in &objects {
            session.print(&format!("---\n{}", output::yaml(object)));
        }
    }
    Ok(())
}
