//! The scale of an object: how many of something there are and shall be.

use flumen_fields::{FieldError, Path, go};
use serde_json::{Map, Value, json};

/// Where replicas are in an object: paths.
#[derive(Clone, Debug)]
pub struct Scale {
    spec: String,
    status: String,
    selector: Option<String>,
}

/// Why an object has no scale.
#[derive(Debug, thiserror::Error)]
pub enum ScaleError {
    #[error("the spec replicas field {0:?} does not exist")]
    Missing(String),
    #[error("{0}")]
    Unfit(String),
}

/// The names on a path such as `.spec.replicas`.
fn steps(path: &str) -> impl Iterator<Item = &str> {
    path.strip_prefix('.').unwrap_or(path).split('.')
}

impl Scale {
    /// Replicas that nobody has set.
    pub const UNSET: i64 = i32::MIN as i64;

    pub(crate) fn read(scale: &Value) -> Option<Self> {
        let text = |key: &str| scale[key].as_str().map(str::to_owned);
        Some(Self {
            spec: text("specReplicasPath")?,
            status: text("statusReplicasPath")?,
            selector: text("labelSelectorPath").filter(|path| !path.is_empty()),
        })
    }

    /// The names of the fields down to the replicas that are wanted.
    pub fn replicas_path(&self) -> Vec<&str> {
        steps(&self.spec).collect()
    }

    /// What is wrong with the numbers in an object.
    pub(crate) fn check(&self, object: &Value, with_spec: bool) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let paths = [(with_spec, &self.spec), (true, &self.status)];
        for (_, path) in paths.into_iter().filter(|(is_checked, _)| *is_checked) {
            let place = Path::new(path);
            match number(object, path) {
                Err(problem) => errors.push(FieldError::invalid(&place, 0, problem)),
                Ok(Some(replicas)) if replicas < 0 => {
                    let detail = "should be a non-negative integer";
                    errors.push(FieldError::invalid(&place, replicas, detail));
                }
                Ok(Some(replicas)) if replicas > i32::MAX.into() => {
                    let detail = format!("should be less than or equal to {}", i32::MAX);
                    errors.push(FieldError::invalid(&place, replicas, detail));
                }
                Ok(_) => {}
            }
        }
        if let Some(path) = &self.selector
            && let Err(problem) = selector(object, path)
        {
            errors.push(FieldError::invalid(&Path::new(path), "", problem));
        }
        errors
    }

    /// The scale of an object, without managed fields.
    pub fn of(&self, object: &Value) -> Result<Value, ScaleError> {
        let spec = number(object, &self.spec).map_err(ScaleError::Unfit)?;
        let spec = spec.ok_or_else(|| ScaleError::Missing(self.spec.clone()))?;
        self.with_replicas(object, spec)
    }

    /// The same for one that is about to change: where no replicas are wanted yet, they are [`Self::UNSET`].
    pub fn of_changing(&self, object: &Value) -> Result<Value, ScaleError> {
        let spec = number(object, &self.spec).map_err(ScaleError::Unfit)?;
        self.with_replicas(object, spec.unwrap_or(Self::UNSET))
    }

    fn with_replicas(&self, object: &Value, spec: i64) -> Result<Value, ScaleError> {
        let status = number(object, &self.status).map_err(ScaleError::Unfit)?.unwrap_or(0);
        let selector = match &self.selector {
            Some(path) => selector(object, path).map_err(ScaleError::Unfit)?,
            None => None,
        };
        let fields = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"];
        let metadata: Map<String, Value> = fields
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), object["metadata"].get(name)?.clone())))
            .collect();
        let mut status = Map::from_iter([("replicas".to_owned(), status.into())]);
        status.extend(
            selector.filter(|it| !it.is_empty()).map(|it| ("selector".to_owned(), it.into())),
        );
        let mut spec_fields = Map::new();
        if spec != 0 {
            spec_fields.insert("replicas".to_owned(), spec.into());
        }
        Ok(json!({
            "apiVersion": "autoscaling/v1",
            "kind": "Scale",
            "metadata": metadata,
            "spec": spec_fields,
            "status": status,
        }))
    }

    /// Writes the replicas that a scale wants into its object.
    pub fn set(&self, object: &mut Value, replicas: i64) {
        let mut names: Vec<_> = steps(&self.spec).collect();
        let Some(last) = names.pop() else { return };
        let mut value = object;
        for name in names {
            let Value::Object(map) = value else { return };
            value = map.entry(name).or_insert_with(|| Map::new().into());
        }
        if let Value::Object(map) = value {
            map.insert(last.to_owned(), replicas.into());
        }
    }
}

/// What is at a path, where everything on the way is an object.
fn find<'a>(object: &'a Value, path: &str) -> Result<Option<&'a Value>, String> {
    let mut value = object;
    let mut way = String::new();
    for name in steps(path) {
        way.push('.');
        way.push_str(name);
        match value {
            Value::Null => return Ok(None),
            Value::Object(map) => match map.get(name) {
                Some(inner) => value = inner,
                None => return Ok(None),
            },
            other => return Err(unfit(&way, other, "map[string]interface{}")),
        }
    }
    Ok(Some(value))
}

fn number(object: &Value, path: &str) -> Result<Option<i64>, String> {
    match find(object, path)? {
        None => Ok(None),
        Some(value) => value.as_i64().map(Some).ok_or_else(|| unfit(path, value, "int64")),
    }
}

fn selector(object: &Value, path: &str) -> Result<Option<String>, String> {
    match find(object, path)? {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(value) => Err(unfit(path, value, "string")),
    }
}

fn unfit(path: &str, value: &Value, expected: &str) -> String {
    let path = if path.starts_with('.') { path.to_owned() } else { format!(".{path}") };
    let found = go::type_name(value);
    format!(
        "{path} accessor error: {} is of the type {found}, expected {expected}",
        go::plain(value)
    )
}
