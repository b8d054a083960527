//! The kinds of Flux, as data.

use self::{
    Cell::{Field, Hashes, ReleaseRevision, SourceName, Suspended},
    Readiness::{Always, AlwaysIfOci, Conditions},
};

/// A kind: its names, and how its objects are shown.
#[derive(Debug)]
pub struct Kind {
    pub kind: &'static str,
    pub group: &'static str,
    pub version: &'static str,
    /// The name in paths.
    pub plural: &'static str,
    /// What sentences call an object of it.
    pub noun: &'static str,
    /// The word before its own in commands, as in `source git`.
    pub family: Option<Family>,
    pub word: &'static str,
    /// Its word after `get`, which is plural for some kinds.
    pub get_word: &'static str,
    pub alias: Option<&'static str>,
    pub control: Control,
    /// Columns of a table between the name and READY.
    pub columns: &'static [Column],
    pub(crate) readiness: Readiness,
    /// Whether hashes in messages are shortened.
    pub(crate) shortens: bool,
    pub(crate) outcome: Outcome,
    pub(crate) reference: Option<Reference>,
}

/// Kinds that share a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    Source,
    Image,
    Artifact,
}

/// What a user can request of the controller of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Control {
    /// Nothing.
    Shown,
    /// To suspend and to resume.
    Suspended,
    /// To reconcile now, too.
    Reconciled,
}

#[derive(Debug)]
pub struct Column {
    pub heading: &'static str,
    pub(crate) cell: Cell,
}

/// Where the text of a cell comes from.
#[derive(Debug)]
pub(crate) enum Cell {
    Field(&'static [&'static str]),
    /// A field whose hashes are shortened.
    Hashes(&'static [&'static str]),
    Suspended,
    /// The version of the chart that a release is made of.
    ReleaseRevision,
    /// Kind, namespace and name of a source, as far as they are given.
    SourceName,
}

/// What READY and MESSAGE show.
#[derive(Debug)]
pub(crate) enum Readiness {
    Conditions,
    /// Ready with this message: no controller writes a status.
    Always(&'static str),
    /// The same for those of type `oci`.
    AlwaysIfOci(&'static str),
}

/// Message about an object after its reconciliation.
#[derive(Debug)]
pub(crate) enum Outcome {
    Revision {
        done: &'static str,
        field: &'static [&'static str],
    },
    ReleaseRevision,
    Message,
    ImageReference,
    Tags,
    Sentence(&'static str),
    /// Objects of the kind are not reconciled.
    Nothing,
}

/// Field that refers to another object.
#[derive(Debug)]
pub(crate) struct Reference {
    pub(crate) field: &'static [&'static str],
    /// The kind, if the field has none.
    pub(crate) kind: Option<&'static str>,
    pub(crate) crosses_namespaces: bool,
}

impl Kind {
    pub(crate) fn api_version(&self) -> String {
        format!("{}/{}", self.group, self.version)
    }

    /// Words of the kind in commands other than `get`, such as `source git`.
    pub fn words(&self) -> String {
        match self.family {
            Some(family) => format!("{} {}", family.word(), self.word),
            None => self.word.to_owned(),
        }
    }

    /// `plural.group`, as in messages of the server.
    pub(crate) fn resource(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }
}

impl Family {
    pub const ALL: [Self; 3] = [Self::Source, Self::Image, Self::Artifact];

    pub const fn word(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Image => "image",
            Self::Artifact => "artifact",
        }
    }

    /// Word of the family after `get`.
    pub const fn get_word(self) -> &'static str {
        match self {
            Self::Source => "sources",
            Self::Image => "images",
            Self::Artifact => "artifacts",
        }
    }
}

/// Returns the kind of this name, in any case.
pub fn by_name(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|kind| kind.kind.eq_ignore_ascii_case(name))
}

const SOURCE: &str = "source.toolkit.fluxcd.io";
const NOTIFICATION: &str = "notification.toolkit.fluxcd.io";
const IMAGE: &str = "image.toolkit.fluxcd.io";

const ARTIFACT_REVISION: &[&str] = &["status", "artifact", "revision"];
const SUSPENDED: Column = Column { heading: "SUSPENDED", cell: Suspended };
const REVISION: Column = Column { heading: "REVISION", cell: Hashes(ARTIFACT_REVISION) };
const FETCHED: Outcome = Outcome::Revision { done: "fetched", field: ARTIFACT_REVISION };

/// A source that has an artifact.
const fn source(kind: &'static str, plural: &'static str, word: &'static str) -> Kind {
    Kind {
        kind,
        group: SOURCE,
        version: "v1",
        plural,
        noun: "",
        family: Some(Family::Source),
        word,
        get_word: word,
        alias: None,
        control: Control::Reconciled,
        columns: &[REVISION, SUSPENDED],
        readiness: Conditions,
        shortens: true,
        outcome: FETCHED,
        reference: None,
    }
}

/// The defaults of all other kinds.
const fn plain(kind: &'static str, group: &'static str, version: &'static str) -> Kind {
    Kind {
        kind,
        group,
        version,
        plural: "",
        noun: "",
        family: None,
        word: "",
        get_word: "",
        alias: None,
        control: Control::Reconciled,
        columns: &[SUSPENDED],
        readiness: Conditions,
        shortens: false,
        outcome: Outcome::Nothing,
        reference: None,
    }
}

/// All kinds, in the order in which `get all` shows them.
pub static KINDS: [Kind; 15] = [
    Kind { noun: "source oci", ..source("OCIRepository", "ocirepositories", "oci") },
    Kind { noun: "source bucket", ..source("Bucket", "buckets", "bucket") },
    Kind { noun: "source git", ..source("GitRepository", "gitrepositories", "git") },
    Kind {
        noun: "source helm",
        readiness: AlwaysIfOci("Helm repository is Ready"),
        ..source("HelmRepository", "helmrepositories", "helm")
    },
    Kind {
        noun: "source chart",
        // A version has no hash.
        columns: &[Column { heading: "REVISION", cell: Field(ARTIFACT_REVISION) }, SUSPENDED],
        reference: Some(Reference {
            field: &["spec", "sourceRef"],
            kind: None,
            crosses_namespaces: true,
        }),
        ..source("HelmChart", "helmcharts", "chart")
    },
    Kind {
        noun: "source external-artifact",
        control: Control::Shown,
        columns: &[REVISION, Column { heading: "SOURCE", cell: SourceName }],
        outcome: Outcome::Nothing,
        ..source("ExternalArtifact", "externalartifacts", "external")
    },
    Kind {
        plural: "imagerepositories",
        noun: "image repository",
        family: Some(Family::Image),
        word: "repository",
        get_word: "repository",
        columns: &[
            Column { heading: "LAST SCAN", cell: Field(&["status", "lastScanResult", "scanTime"]) },
            SUSPENDED,
        ],
        outcome: Outcome::Tags,
        ..plain("ImageRepository", IMAGE, "v1")
    },
    Kind {
        plural: "imagepolicies",
        noun: "image policy",
        family: Some(Family::Image),
        word: "policy",
        get_word: "policy",
        columns: &[
            Column { heading: "IMAGE", cell: Field(&["status", "latestRef", "name"]) },
            Column { heading: "TAG", cell: Field(&["status", "latestRef", "tag"]) },
        ],
        outcome: Outcome::ImageReference,
        reference: Some(Reference {
            field: &["spec", "imageRepositoryRef"],
            kind: Some("ImageRepository"),
            crosses_namespaces: true,
        }),
        ..plain("ImagePolicy", IMAGE, "v1")
    },
    Kind {
        plural: "imageupdateautomations",
        noun: "image update automation",
        family: Some(Family::Image),
        word: "update",
        get_word: "update",
        columns: &[
            Column { heading: "LAST RUN", cell: Field(&["status", "lastAutomationRunTime"]) },
            SUSPENDED,
        ],
        outcome: Outcome::Message,
        ..plain("ImageUpdateAutomation", IMAGE, "v1")
    },
    Kind {
        plural: "helmreleases",
        noun: "helmrelease",
        word: "helmrelease",
        get_word: "helmreleases",
        alias: Some("hr"),
        columns: &[Column { heading: "REVISION", cell: ReleaseRevision }, SUSPENDED],
        outcome: Outcome::ReleaseRevision,
        reference: Some(Reference {
            field: &["spec", "chart", "spec", "sourceRef"],
            kind: None,
            crosses_namespaces: true,
        }),
        ..plain("HelmRelease", "helm.toolkit.fluxcd.io", "v2")
    },
    Kind {
        plural: "kustomizations",
        noun: "kustomization",
        word: "kustomization",
        get_word: "kustomizations",
        alias: Some("ks"),
        columns: &[
            Column { heading: "REVISION", cell: Hashes(&["status", "lastAppliedRevision"]) },
            SUSPENDED,
        ],
        shortens: true,
        outcome: Outcome::Revision { done: "applied", field: &["status", "lastAppliedRevision"] },
        reference: Some(Reference {
            field: &["spec", "sourceRef"],
            kind: None,
            crosses_namespaces: true,
        }),
        ..plain("Kustomization", "kustomize.toolkit.fluxcd.io", "v1")
    },
    Kind {
        plural: "receivers",
        noun: "receiver",
        word: "receiver",
        get_word: "receivers",
        outcome: Outcome::Sentence("Receiver reconciliation completed"),
        ..plain("Receiver", NOTIFICATION, "v1")
    },
    Kind {
        plural: "providers",
        noun: "alert provider",
        word: "alert-provider",
        get_word: "alert-providers",
        control: Control::Suspended,
        columns: &[],
        readiness: Always("Provider is Ready"),
        outcome: Outcome::Sentence("Provider reconciliation completed"),
        ..plain("Provider", NOTIFICATION, "v1beta3")
    },
    Kind {
        plural: "alerts",
        noun: "alert",
        word: "alert",
        get_word: "alerts",
        control: Control::Suspended,
        readiness: Always("Alert is Ready"),
        outcome: Outcome::Sentence("Alert reconciliation completed"),
        reference: Some(Reference {
            field: &["spec", "providerRef"],
            kind: Some("Provider"),
            crosses_namespaces: false,
        }),
        ..plain("Alert", NOTIFICATION, "v1beta3")
    },
    Kind {
        plural: "artifactgenerators",
        noun: "artifactgenerator",
        family: Some(Family::Artifact),
        word: "generator",
        get_word: "generators",
        control: Control::Shown,
        ..plain("ArtifactGenerator", "source.extensions.fluxcd.io", "v1beta1")
    },
];
