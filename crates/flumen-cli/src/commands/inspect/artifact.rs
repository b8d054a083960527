//! `flumen inspect artifact`.

use std::{collections::BTreeSet, fmt::Write as _, path::Path};

use clap::Args;
use flumen_object::{ObjectSet, container_images};
use flumen_oci::{
    Reference,
    artifact::{Pulled, pull},
};
use serde::Serialize;

use crate::{
    args::{
        artifact::{CheckArgs, ReadArgs},
        registry::RegistryArgs,
    },
    error::CommandError,
    runtime,
    ui::Ui,
    view::{
        listing,
        printable::{Lines, printable},
        structured::Structured,
    },
};

/// A line of the answer longer than this is no name any more.
const MAX_LINE: usize = 1 << 10;

/// Show an artifact: its digest, who built it when, its objects and their images
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  # All about an artifact
  flumen inspect artifact oci://registry.example.com/org/app:v1.0.0

  # The container images that its objects run
  flumen inspect artifact oci://registry.example.com/org/app:v1.0.0 --container-images")]
pub(super) struct ArtifactArgs {
    /// The artifact, by tag or digest
    #[arg(value_name = "URL")]
    url: Reference,

    /// Only list the container images, each once
    #[arg(long)]
    container_images: bool,

    /// Print it as JSON or YAML
    #[arg(short, long, value_enum, value_name = "FORMAT")]
    output: Option<Structured>,

    #[command(flatten)]
    read: ReadArgs,

    #[command(flatten)]
    check: CheckArgs,

    #[command(flatten)]
    registry: RegistryArgs,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Inspection {
    artifact: String,
    digest: String,
    layout: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    built_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    created: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    checksum: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encryption: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<String>,
    objects: Vec<InspectedObject>,
}

#[derive(Serialize)]
struct InspectedObject {
    id: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    images: Vec<String>,
}

pub(super) fn run(args: &ArtifactArgs, ui: &Ui) -> Result<(), CommandError> {
    let pulled = runtime::block_on(async {
        let repository = args.registry.open(&args.url)?;
        let target = args.check.checked(&repository, &args.url).await?;
        Ok(pull(&repository, &target, &args.read.options()?).await?)
    })?;
    let name = args.url.pinned(&pulled.digest);
    let objects = flumen_build::objects_of(&pulled.yaml, Path::new(&name))?;
    let inspection = Inspection::new(&name, pulled, &objects);
    if args.container_images {
        let images: BTreeSet<&String> =
            inspection.objects.iter().flat_map(|object| &object.images).collect();
        if let Some(format) = args.output {
            return format.print(&images, ui);
        }
        let shown: Vec<String> =
            images.into_iter().map(|image| printable(image, Lines::Escape, MAX_LINE)).collect();
        return ui.data(listing::lines(shown.iter().map(String::as_str)).as_bytes());
    }
    match args.output {
        Some(format) => format.print(&inspection, ui),
        None => ui.data(inspection.text().as_bytes()),
    }
}

impl Inspection {
    fn new(name: &str, pulled: Pulled, objects: &ObjectSet) -> Self {
        let about = pulled.about;
        Self {
            artifact: format!("oci://{name}"),
            digest: pulled.digest.to_string(),
            layout: about.layout,
            built_by: about.built_by,
            created: about.created,
            checksum: about.checksum,
            encryption: about.encryption,
            source: about.source,
            revision: about.revision,
            objects: objects
                .iter()
                .map(|object| InspectedObject {
                    id: object.id().to_string(),
                    images: container_images(object).iter().map(ToString::to_string).collect(),
                })
                .collect(),
        }
    }

    fn text(&self) -> String {
        let fields = [
            ("Artifact", Some(self.artifact.as_str())),
            ("Layout", Some(self.layout)),
            ("Built by", self.built_by.as_deref()),
            ("Created", self.created.as_deref()),
            ("Checksum", self.checksum.as_deref()),
            ("Encryption", self.encryption.as_deref()),
            ("Source", self.source.as_deref()),
            ("Revision", self.revision.as_deref()),
        ];
        let mut text = String::new();
        for (name, value) in fields {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                let value = printable(value, Lines::Escape, MAX_LINE);
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{:<12}{value}", format!("{name}:"));
            }
        }
        text.push_str("Objects:\n");
        for object in &self.objects {
            let _ = writeln!(text, "- {}", printable(&object.id, Lines::Escape, MAX_LINE));
            for image in &object.images {
                let _ = writeln!(text, "  - {}", printable(image, Lines::Escape, MAX_LINE));
            }
        }
        text
    }
}
