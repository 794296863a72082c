//! The whole life of the main job.

use pilotage_tests::life::life;

use crate::stage::Stage;

#[test]
fn a_whole_life_with_its_state_in_the_cluster_leaves_nothing() {
    let Some(stage) = Stage::new("a_whole_life_with_its_state", "within") else {
        return;
    };
    let service = stage.desk.start("run");
    life(&stage.desk, &stage.cluster, "within", &|| {});
    let (_, words, well) = service.stop();
    assert!(well, "{words}");
    assert!(!words.contains("WARNING"), "{words}");
    for kind in ["models", "applications", "storages"] {
        assert_eq!(stage.names(kind), Vec::<String>::new(), "{kind}");
    }
    assert!(stage.desk.ok("replay").contains("no difference"));
}
