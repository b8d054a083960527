//! Lists of objects of a kind.

use flumen_expr::LabelSelector;
use flumen_kube::ListOptions;
use flumen_yaml::Node;

use crate::{
    Error, Row, Site,
    kinds::{Kind, Readiness},
    object::{Conditions, text_at},
    site::named,
};

/// Which objects of a kind are listed.
#[derive(Debug)]
pub struct Selection<'a> {
    /// `None` for all namespaces.
    namespace: Option<&'a str>,
    name: Option<&'a str>,
    field_selector: Option<String>,
    labels: Option<&'a str>,
    status: Option<StatusSelector<'a>>,
}

impl<'a> Selection<'a> {
    /// All objects of a namespace, or of all namespaces.
    pub const fn all(namespace: Option<&'a str>) -> Self {
        Self { namespace, name: None, field_selector: None, labels: None, status: None }
    }

    /// Only objects with this name.
    #[must_use]
    pub fn named(self, name: Option<&'a str>) -> Self {
        Self { name, field_selector: name.map(named), ..self }
    }

    /// Only objects with these labels, in the notation of the Kubernetes API.
    pub fn labelled(self, labels: Option<&'a str>) -> Result<Self, Error> {
        if let Some(selector) = labels {
            LabelSelector::parse_query(selector)
                .map_err(|reason| Error::LabelSelector { selector: selector.to_owned(), reason })?;
        }
        Ok(Self { labels, ..self })
    }

    /// Only objects with a condition: `type=status` or `type!=status`.
    pub fn with_status(self, status: Option<&'a str>) -> Result<Self, Error> {
        Ok(Self { status: status.map(StatusSelector::parse).transpose()?, ..self })
    }

    /// What the server is asked for: everything but the condition.
    pub fn options(&self) -> ListOptions<'_> {
        ListOptions {
            namespace: self.namespace,
            label_selector: self.labels,
            field_selector: self.field_selector.as_deref(),
        }
    }

    /// Returns the rows of the objects that have the condition.
    pub fn rows(&self, kind: &Kind, objects: &[Node]) -> Vec<Row> {
        let is_selected = |object: &&Node| {
            self.status.as_ref().is_none_or(|selector| selector.selects(kind, object))
        };
        objects.iter().filter(is_selected).map(|object| Row::of(kind, object)).collect()
    }

    fn nothing(&self, kind: &Kind) -> Error {
        let place = self.namespace.map_or_else(|| "any".to_owned(), |name| format!("{name:?}"));
        Error::NothingFound { kind: kind.kind, name: self.name.map(str::to_owned), place }
    }
}

impl Site {
    /// Returns the rows of a kind; a list without objects is an error.
    pub async fn rows(&self, kind: &Kind, selection: &Selection<'_>) -> Result<Vec<Row>, Error> {
        let resource = self.resource(kind).await?;
        let objects = self.list(&resource, selection.options()).await?;
        if objects.is_empty() {
            return Err(selection.nothing(kind));
        }
        Ok(selection.rows(kind, &objects))
    }

    /// Returns the rows of one kind of many, which may have no objects and need not be installed. Without objects, a
    /// selection by name is an error.
    pub async fn rows_if_any(
        &self,
        kind: &Kind,
        selection: &Selection<'_>,
    ) -> Result<Vec<Row>, Error> {
        let Some(resource) = self.served(kind).await? else { return Ok(Vec::new()) };
        let objects = self.list(&resource, selection.options()).await?;
        if objects.is_empty() && selection.name.is_some() {
            return Err(selection.nothing(kind));
        }
        Ok(selection.rows(kind, &objects))
    }
}

/// `type=status` or `type!=status`. An object without the condition is only selected by the second.
#[derive(Debug)]
struct StatusSelector<'a> {
    condition: &'a str,
    status: &'a str,
    is_negated: bool,
}

impl<'a> StatusSelector<'a> {
    fn parse(text: &'a str) -> Result<Self, Error> {
        let negated = text.split_once("!=").map(|parts| (parts, true));
        let parts = negated.or_else(|| text.split_once('=').map(|parts| (parts, false)));
        let ((condition, status), is_negated) =
            parts.ok_or_else(|| Error::StatusSelector(text.to_owned()))?;
        Ok(Self { condition, status, is_negated })
    }

    fn selects(&self, kind: &Kind, object: &Node) -> bool {
        let is_status = |status: &str| status.eq_ignore_ascii_case(self.status);
        let matches = if matches!(kind.readiness, Readiness::Always(_)) {
            self.condition.eq_ignore_ascii_case("ready") && is_status("true")
        } else {
            let condition = Conditions::of(object).find(self.condition);
            condition.is_some_and(|condition| is_status(text_at(condition, &["status"])))
        };
        matches != self.is_negated
    }
}
