//! The kinds that this controller reconciles or observes. A new kind is one entry here, and its own files.

use std::sync::Arc;

use flumen_api::{ExternalArtifact, GitRepository, Kustomization, OciRepository};
use flumen_runtime::{Family, KindInfo, Manager, Pool};

use crate::{
    kustomize::{Kustomizations, Kustomize},
    source::{SourceReconciler, Sources},
};

/// Flux's finalizer.
const FINALIZER: &str = "finalizers.fluxcd.io";

const SOURCE: Family = Family {
    controller: "source-controller",
    finalizer: FINALIZER,
    status_manager: "gotk-source-controller",
    pool: Pool::Fetch,
};
const KUSTOMIZE: Family = Family {
    controller: "kustomize-controller",
    finalizer: FINALIZER,
    status_manager: "gotk-kustomize-controller",
    pool: Pool::Work,
};

pub static GIT_REPOSITORY: KindInfo = KindInfo::new::<GitRepository>(SOURCE);
pub static OCI_REPOSITORY: KindInfo = KindInfo::new::<OciRepository>(SOURCE);
pub static EXTERNAL_ARTIFACT: KindInfo = KindInfo::new::<ExternalArtifact>(SOURCE);
pub static KUSTOMIZATION: KindInfo = KindInfo::new::<Kustomization>(KUSTOMIZE);

/// The kinds that are reconciled, in the order in which their Leases are acquired.
pub(crate) static RECONCILED: [&KindInfo; 3] = [&GIT_REPOSITORY, &OCI_REPOSITORY, &KUSTOMIZATION];

/// The kinds that are reconciled or observed.
pub(crate) static SUPPORTED: [&KindInfo; 4] =
    [&GIT_REPOSITORY, &OCI_REPOSITORY, &EXTERNAL_ARTIFACT, &KUSTOMIZATION];

pub(crate) fn register(manager: &mut Manager, sources: &Arc<Sources>, kustomize: &Arc<Kustomize>) {
    manager.reconcile(SourceReconciler::<GitRepository>::new(&GIT_REPOSITORY, sources));
    manager.reconcile(SourceReconciler::<OciRepository>::new(&OCI_REPOSITORY, sources));
    manager.observe::<ExternalArtifact>(&EXTERNAL_ARTIFACT);
    manager.reconcile(Kustomizations::new(kustomize));
}
