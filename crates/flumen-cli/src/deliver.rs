//! One run from an artifact to the cluster, for `apply`, `rollback` and `up`.

use flumen_apply::{
    Deployment, Error, InventoryStore as _, Options, Outcome, PlanFile, Prune, apply, plan,
};
use flumen_object::ObjectSet;

use crate::{
    args::{
        env,
        inventory::Site,
        run::{DryRun, RunArgs},
        source::Delivery,
    },
    error::CommandError,
    ui::Ui,
    view::{refusals, run_report::RunReport},
};

/// What a run needs beside its options.
#[derive(Debug, Default)]
pub(crate) struct Order {
    /// The plan that the run must not exceed.
    pub(crate) plan: Option<PlanFile>,
    /// The number of the deployment that is restored.
    pub(crate) rolled_back_to: Option<u64>,
}

/// Applies the objects of an artifact, and prints one line for each.
pub(crate) async fn deliver(
    delivery: Delivery,
    site: &Site,
    args: &RunArgs,
    order: Order,
    ui: &Ui,
) -> Result<(), CommandError> {
    let options = args.options(site);
    if let Some(file) = &order.plan {
        file.check_subject(delivery.subject(&site.owner, &delivery.digest.to_string()))?;
        let recorded = site.store().load().await?;
        let now = plan(&site.client, delivery.objects.clone(), &site.store(), &options).await?;
        file.check(&now, &recorded)?;
    }
    if args.dry_run == Some(DryRun::Server) {
        return dry_run(delivery.objects, site, &options, ui).await;
    }
    if args.create_namespace {
        site.create_namespace().await?;
    }
    carry_out(delivery, site, options, order.rolled_back_to, ui).await
}

/// Runs without the checks and preparations of [`deliver`].
pub(crate) async fn carry_out(
    delivery: Delivery,
    site: &Site,
    mut options: Options,
    rolled_back_to: Option<u64>,
    ui: &Ui,
) -> Result<(), CommandError> {
    options.deployment = Some(Deployment {
        artifact: delivery.artifact,
        source: delivery.source,
        revision: delivery.revision,
        by: env::author(),
        at: site.now.clone(),
        rolled_back_to,
        ..Deployment::default()
    });
    // After a large prune is confirmed, there is a second run.
    let again = (options.prune == Prune::Guarded && ui.can_ask()).then(|| delivery.objects.clone());
    let outcome = match (run(delivery.objects, site, &options, RunReport::new(ui)).await, again) {
        (Err(Failed::Apply(guarded @ Error::PruneGuarded { .. })), Some(objects)) => {
            if !ui.confirm(&format!("{guarded}. Delete them?")).await {
                return Err(guarded.into());
            }
            options.prune = Prune::Unguarded;
            run(objects, site, &options, RunReport::of_changes(ui)).await
        }
        (outcome, _) => outcome,
    };
    match outcome {
        Ok(outcome) => {
            ui.success(&summary(&outcome, &options));
            Ok(())
        }
        Err(Failed::Apply(error)) => Err(refusals::told(error, ui)),
        Err(Failed::Print(error)) => Err(error),
    }
}

enum Failed {
    Apply(Error),
    Print(CommandError),
}

async fn run(
    objects: ObjectSet,
    site: &Site,
    options: &Options,
    report: RunReport<'_>,
) -> Result<Outcome, Failed> {
    let outcome = apply(&site.client, objects, &site.store(), options, &report).await;
    if outcome.is_err() {
        report.last_words();
    }
    let printed = report.finish();
    let outcome = outcome.map_err(Failed::Apply)?;
    printed.map(|()| outcome).map_err(Failed::Print)
}

/// Prints for each object what would happen to it.
async fn dry_run(
    objects: ObjectSet,
    site: &Site,
    options: &Options,
    ui: &Ui,
) -> Result<(), CommandError> {
    let plan = plan(&site.client, objects, &site.store(), options).await?;
    let report = RunReport::with_suffix(ui, " (server dry run)");
    for object in plan.objects.iter().filter(|object| object.error.is_none()) {
        report.object(&object.id, object.action.as_str());
    }
    report.finish()?;
    refusals::planned(&plan.errors(), ui)
}

fn summary(outcome: &Outcome, options: &Options) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for change in &outcome.changes {
        match counts.iter_mut().find(|(action, _)| *action == change.action.as_str()) {
            Some((_, count)) => *count += 1,
            None => counts.push((change.action.as_str(), 1)),
        }
    }
    let counts: Vec<String> =
        counts.iter().map(|(action, count)| format!("{count} {action}")).collect();
    let counts = if counts.is_empty() { "nothing to apply".to_owned() } else { counts.join(", ") };
    let healthy = if options.wait { ", all healthy" } else { "" };
    format!("{counts}{healthy}")
}
