//! Servers that answer badly, or not at all.

use std::time::Duration;

use flumen_apply::Prune;
use flumen_testkit::{Fault, FaultPlan, KubeCluster, KubeRequest, PATIENCE};

use crate::fixture::{Fixture, config_map};

fn many(from: usize, to: usize) -> String {
    (from..to).map(|number| config_map(&format!("c{number:03}"), "1")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_bad_answer_in_five_is_survived_at_three_times_the_calls() {
    let Some(mut fixture) = Fixture::new().await else { return };
    fixture.options.prune = Prune::Guarded;
    fixture.options.owner.name = "calm".to_owned();
    fixture.applied(&many(0, 100)).await;
    fixture.applied(&many(10, 110)).await;
    let calm = fixture.proxy.requests().len();

    for seed in [1, 2, 3] {
        let mut fixture = Fixture::new().await.expect("it was there a moment ago");
        fixture.options.prune = Prune::Guarded;
        let plan = FaultPlan { seed, percent: 20, faults: Fault::ALL.to_vec() };
        fixture.proxy.inject(plan, |_| true);
        // A run may give up; the next one goes on from what is there.
        for yaml in [many(0, 100), many(10, 110)] {
            let mut runs = 0;
            while let Err(error) = fixture.apply(&yaml).await {
                runs += 1;
                assert!(runs < 5, "seed {seed}: no end in sight: {error}");
            }
        }
        fixture.proxy.heal();
        let calls = fixture.proxy.requests().len();
        assert!(calls <= 3 * calm, "seed {seed}: {calls} calls instead of {calm}");
        let expected: Vec<String> = (10..110).map(|number| format!("c{number:03}")).collect();
        assert_eq!(fixture.owned("configmaps"), expected.join(" "), "seed {seed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_restarts_is_waited_for() {
    let Some(cluster) = KubeCluster::start() else { return };
    let cluster: &'static KubeCluster = Box::leak(Box::new(cluster));
    let fixture = Fixture::on(cluster).await;
    let yaml = many(0, 300);
    let (outcome, ()) = tokio::join!(fixture.apply(&yaml), async {
        let begun = async {
            while fixture.proxy.count(KubeRequest::is_write) < 20 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, begun).await.expect("the run writes");
        tokio::task::block_in_place(|| cluster.restart_apiserver());
    });
    // What a run cannot finish, the next one does.
    if outcome.is_err() {
        fixture.applied(&yaml).await;
    }
    assert_eq!(fixture.owned("configmaps").split(' ').count(), 300);
}
