//! People who have kubectl, and never call `pilotage`.

use pilotage_tests::control_plane::{Call, Kubectl};
use pilotage_tests::patience::until;
use serde_json::{Value, json};

use crate::stage::Stage;

fn model(name: &str) -> Value {
    json!({
        "apiVersion": "pilotage.dev/v1alpha1",
        "kind": "Model",
        "metadata": { "name": name },
        "spec": {},
    })
}

/// An application as a person writes it.
pub fn hello(namespace: &str, scale: u32, image: &str) -> Value {
    json!({
        "apiVersion": "pilotage.dev/v1alpha1",
        "kind": "Application",
        "metadata": { "name": "hello", "namespace": namespace },
        "spec": {
            "scale": scale,
            "charm": {
                "name": "hello",
                "containers": [{ "name": "web", "resource": "web-image", "mounts": [{ "storage": "pages" }] }],
                "resources": [{ "name": "web-image" }],
                "storages": [{ "name": "pages", "location": "/pages" }],
                "options": [{ "name": "greeting" }],
            },
            "resources": { "web-image": { "image": image } },
            "storage": { "pages": { "sizeMiB": 64 } },
        },
    })
}

pub fn with(kubectl: &Kubectl, verb: &str, object: &Value) -> Result<String, String> {
    let output = kubectl.with(verb, object);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if output.status.success() {
        Ok(text(&output.stdout))
    } else {
        Err(text(&output.stderr))
    }
}

/// Waits as a script does.
pub fn wait_ready(kubectl: &Kubectl, what: &str) {
    kubectl.ok(&format!("wait {what} --for=condition=Ready --timeout=60s"));
}

fn images(kubectl: &Kubectl, namespace: &str) -> Vec<String> {
    let pods = kubectl.json(&format!("get pods -n {namespace}"));
    let items = pods["items"].as_array().into_iter().flatten();
    items
        .map(|pod| {
            let image = &pod["spec"]["containers"][0]["image"];
            image.as_str().unwrap_or_default().to_owned()
        })
        .collect()
}

/// A stage on which a provisioner runs and a model waits for applications.
pub fn begin(
    test: &str,
    namespace: &str,
) -> Option<(Stage, Kubectl, pilotage_tests::program::Running)> {
    let stage = Stage::new(test, namespace)?;
    let kubectl = Kubectl::find(test, &stage.cluster, "alice")?;
    let service = stage.desk.start("run");
    until("the custom resources are served", || {
        kubectl.call("get models").status.success().then_some(())
    });
    with(&kubectl, "apply", &model(namespace)).expect("a model");
    wait_ready(&kubectl, &format!("model/{namespace}"));
    Some((stage, kubectl, service))
}

#[test]
fn a_whole_life_by_kubectl_alone() {
    let Some((stage, kubectl, service)) = begin("a_whole_life_by_kubectl", "hands") else {
        return;
    };
    let applied = with(&kubectl, "apply", &hello("hands", 2, "nginx:1"));
    assert_eq!(
        applied.as_deref(),
        Ok("application.pilotage.dev/hello created\n")
    );
    wait_ready(&kubectl, "app/hello -n hands");
    assert_eq!(images(&kubectl, "hands"), ["nginx:1", "nginx:1"]);

    // What it is called, and what is shown of it.
    let shown = kubectl.ok("get app -n hands");
    let mut lines = shown
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(
        lines.next().as_deref(),
        Some(&["NAME", "STATUS", "UNITS", "CHARM", "READY", "AGE"][..])
    );
    let line = lines.next().expect("an application");
    assert_eq!(
        line[..5],
        ["hello", "active", "2/2", "hello", "True"],
        "{shown}"
    );
    assert!(kubectl.ok("get pilotage -n hands").contains("hello"));
    let described = kubectl.ok("describe application hello -n hands");
    assert!(described.contains("Observed Generation:"), "{described}");
    assert!(
        kubectl
            .ok("explain application.spec.scale")
            .contains("Units wanted")
    );

    // Pilotage's own commands show the same.
    stage.desk.ok("switch hands");
    let status = stage.desk.status();
    assert_eq!(status["applications"]["hello"]["scale"], 2, "{status:#}");

    // A new image: ready is said of it only when every pod has it.
    with(
        &kubectl,
        "apply --server-side --force-conflicts",
        &hello("hands", 2, "nginx:2"),
    )
    .expect("a new image");
    wait_ready(&kubectl, "app/hello -n hands");
    assert_eq!(images(&kubectl, "hands"), ["nginx:2", "nginx:2"]);

    // The scale subresource, as kubectl and an autoscaler write it.
    kubectl.ok("scale app/hello -n hands --replicas=3");
    wait_ready(&kubectl, "app/hello -n hands");
    assert_eq!(images(&kubectl, "hands").len(), 3);
    let path = "/apis/pilotage.dev/v1alpha1/namespaces/hands/applications/hello/scale";
    let scale = |method, body: Option<&Value>| {
        let call = Call {
            who: "operator",
            method,
            path,
            query: &[],
            content_type: "application/json",
            body,
        };
        let answer = stage.cluster.client().call(&call);
        answer.expect("the server answers").expect(200)
    };
    let mut now = scale("GET", None);
    assert_eq!(now["status"]["replicas"], 3);
    let selector = now["status"]["selector"].as_str().expect("a selector");
    let selected = kubectl.json(&format!("get pods -n hands --selector={selector}"));
    assert_eq!(selected["items"].as_array().map(Vec::len), Some(3));
    now["spec"]["replicas"] = json!(1);
    scale("PUT", Some(&now));
    wait_ready(&kubectl, "app/hello -n hands");
    assert_eq!(images(&kubectl, "hands").len(), 1);

    // And the other way round: what is written through Pilotage is seen by kubectl.
    stage.desk.ok("config hello greeting=moin");
    wait_ready(&kubectl, "app/hello -n hands");
    let object = kubectl.json("get app/hello -n hands");
    assert_eq!(object["spec"]["config"], json!({ "greeting": "moin" }));

    // It goes, and leaves its storage, which goes by itself.
    kubectl.ok("delete app/hello -n hands --timeout=60s");
    assert_eq!(images(&kubectl, "hands"), Vec::<String>::new());
    let claims = || {
        kubectl.json("get pvc -n hands")["items"]
            .as_array()
            .map_or(0, Vec::len)
    };
    assert_eq!(claims(), 3);
    let storages = stage.names("storages");
    assert_eq!(storages, ["hands-0", "hands-1", "hands-2"]);
    kubectl.ok("delete storages --all --timeout=60s");
    assert_eq!(claims(), 0);
    kubectl.ok("delete model hands --timeout=60s");
    let gone = kubectl.fails("get namespace hands");
    assert!(gone.contains("not found"), "{gone}");
    let (_, words, well) = service.stop();
    assert!(well && !words.contains("WARNING"), "{words}");
}

#[test]
fn what_is_wrong_is_refused_at_once_or_said_in_a_condition() {
    let Some((_stage, kubectl, service)) = begin("what_is_wrong_is_refused", "wrong") else {
        return;
    };
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut object = hello("wrong", 1, "nginx:1");
        change(&mut object);
        with(&kubectl, "apply", &object).expect_err("it is refused")
    };
    for (words, change) in [
        (
            "should be greater than or equal to 0",
            &(|object: &mut Value| object["spec"]["scale"] = json!(-1)) as &dyn Fn(&mut Value),
        ),
        ("unknown field \"spec.skale\"", &|object| {
            object["spec"]["skale"] = json!(3);
        }),
        (
            "an application's settings are: juju-application-path",
            &|object| {
                object["spec"]["settings"] = json!({ "colour": "blue" });
            },
        ),
        ("an application's name has lower-case letters", &|object| {
            object["metadata"]["name"] = json!("hello-1");
        }),
        ("spec.charm: Required value", &|object| {
            object["spec"] = json!({ "scale": 1 });
        }),
        ("a resource is an image or a file", &|object| {
            object["spec"]["resources"]["web-image"] = json!({});
        }),
    ] {
        let said = refused(change);
        assert!(said.contains(words), "{words}: {said}");
    }
    let bad = with(&kubectl, "apply", &model("a.b")).expect_err("no model's name");
    assert!(
        bad.contains("a model is a namespace of the same name"),
        "{bad}"
    );

    // What only the rules can see.
    let condition = |words: &str| {
        until(words, || {
            let object = kubectl.json("get app/hello -n wrong");
            let conditions = object["status"]["conditions"].as_array()?.clone();
            let accepted = conditions
                .into_iter()
                .find(|one| one["type"] == "Accepted")?;
            let seen = accepted["observedGeneration"] == object["metadata"]["generation"];
            let said = accepted["message"].as_str()?.contains(words);
            (seen && said).then_some((accepted["status"].clone(), object))
        })
    };
    let mut object = hello("wrong", 1, "nginx:1");
    object["spec"]["config"] = json!({ "colour": "blue" });
    with(&kubectl, "apply", &object).expect("the server takes it");
    let (status, seen) = condition("unknown option \"colour\"");
    assert_eq!(status, "False");
    assert_eq!(images(&kubectl, "wrong"), Vec::<String>::new());
    // Nothing was made of it, so nothing holds it.
    assert_eq!(seen["metadata"]["finalizers"], Value::Null);
    // It is said once: nothing writes it again and again.
    std::thread::sleep(std::time::Duration::from_millis(500));
    let later = kubectl.json("get app/hello -n wrong");
    assert_eq!(
        later["metadata"]["resourceVersion"],
        seen["metadata"]["resourceVersion"]
    );
    let good = hello("wrong", 1, "nginx:1");
    with(&kubectl, "apply", &good).expect("the server takes it");
    wait_ready(&kubectl, "app/hello -n wrong");

    // One that runs goes on as it was.
    with(&kubectl, "apply", &object).expect("the server takes it");
    condition("unknown option \"colour\"");
    assert_eq!(images(&kubectl, "wrong"), ["nginx:1"]);
    object["spec"]["config"] = json!({});
    object["spec"]["scale"] = json!(10_000);
    with(&kubectl, "apply", &object).expect("the server takes it");
    condition("10000 units are too many");
    assert_eq!(images(&kubectl, "wrong"), ["nginx:1"]);
    object["spec"]["scale"] = json!(1);
    object["spec"]["storage"]["pages"]["sizeMiB"] = json!(128);
    with(&kubectl, "apply", &object).expect("the server takes it");
    condition("claims");
    with(&kubectl, "apply", &good).expect("the server takes it");
    let (status, _) = condition("");
    assert_eq!(status, "True");

    // A removal is not taken back.
    kubectl.ok("patch app/hello -n wrong --type=merge -p {\"spec\":{\"removal\":{\"destroyStorage\":true}}}");
    let back =
        kubectl.call("patch app/hello -n wrong --type=merge -p {\"spec\":{\"removal\":null}}");
    let said = String::from_utf8_lossy(&back.stderr).into_owned();
    assert!(
        said.contains("a removal cannot be taken back") || said.contains("not found"),
        "{said}"
    );
    kubectl.ok("wait app/hello -n wrong --for=delete --timeout=60s");
    let claims = kubectl.json("get pvc -n wrong");
    assert_eq!(claims["items"], json!([]));
    kubectl.ok("delete model wrong --timeout=60s");
    let (_, words, well) = service.stop();
    assert!(well, "{words}");
}

#[test]
fn deleting_a_namespace_ends_and_takes_everything_in_it() {
    let Some((stage, kubectl, service)) = begin("deleting_a_namespace", "emptied") else {
        return;
    };
    with(&kubectl, "apply", &hello("emptied", 2, "nginx:1")).expect("an application");
    wait_ready(&kubectl, "app/hello -n emptied");
    let before = kubectl.json("get namespace emptied");
    kubectl.ok("delete namespace emptied --timeout=60s");
    assert_eq!(stage.names("applications"), Vec::<String>::new());
    // The model is there until it is deleted, too; its namespace comes back with nothing in it.
    until("the namespace is there again", || {
        let output = kubectl.call("get namespace emptied --output json");
        let now: Value = serde_json::from_slice(&output.stdout).ok()?;
        (now["metadata"]["uid"] != before["metadata"]["uid"]).then_some(())
    });
    assert_eq!(images(&kubectl, "emptied"), Vec::<String>::new());
    // Records of storages stay where a claim was still going when its application was gone.
    for storage in stage.names("storages") {
        kubectl.ok(&format!("delete storage {storage} --timeout=60s"));
    }
    kubectl.ok("delete model emptied --timeout=60s");
    assert_eq!(stage.names("storages"), Vec::<String>::new());
    let (_, words, well) = service.stop();
    assert!(well, "{words}");
}
