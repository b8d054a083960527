//! What the controller logs: a line for each outcome, with the names that readers of Flux's logs know.

use std::fmt::{self, Debug};

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use serde_json::{Map, Value};
use tracing::{
    Event, Level, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::{
    Layer as _,
    filter::{LevelFilter, Targets},
    fmt::{FmtContext, FormatEvent, FormatFields, MakeWriter, format::Writer},
    layer::SubscriberExt as _,
    registry::LookupSpan,
    util::SubscriberInitExt as _,
};

#[derive(Debug, Args)]
#[command(next_help_heading = "Logs")]
pub(super) struct LogArgs {
    /// How much is logged
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log_level: Verbosity,

    /// How a line of the log is written
    #[arg(long, value_name = "ENCODING", default_value = "json")]
    log_encoding: Encoding,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Verbosity {
    Trace,
    Debug,
    Info,
    Error,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Encoding {
    Json,
    Console,
}

impl LogArgs {
    /// From here on logs go to stderr.
    pub(super) fn log_to_stderr(&self) {
        // Somebody may log already; there is nothing to be done about that.
        let _ = self.subscriber(std::io::stderr).try_init();
    }

    fn subscriber(
        &self,
        writer: impl for<'w> MakeWriter<'w> + Send + Sync + 'static,
    ) -> impl Subscriber + Send + Sync + for<'s> LookupSpan<'s> {
        let level = match self.log_level {
            Verbosity::Trace => LevelFilter::TRACE,
            Verbosity::Debug => LevelFilter::DEBUG,
            Verbosity::Info => LevelFilter::INFO,
            Verbosity::Error => LevelFilter::ERROR,
        };
        // Libraries would log requests with all that is in them.
        let filter =
            Targets::new().with_default(level.min(LevelFilter::WARN)).with_target("flumen", level);
        let layer = tracing_subscriber::fmt::layer()
            .with_writer(writer)
            .event_format(self.log_encoding)
            .with_filter(filter);
        tracing_subscriber::registry().with(layer)
    }
}

impl<S: Subscriber + for<'s> LookupSpan<'s>, N: for<'w> FormatFields<'w> + 'static>
    FormatEvent<S, N> for Encoding
{
    fn format_event(
        &self,
        _: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut fields = Fields::default();
        event.record(&mut fields);
        let time = Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
        let level = event.metadata().level();
        match self {
            Self::Json => {
                let mut line = Map::new();
                line.insert("level".to_owned(), lower_case(*level).into());
                line.insert("ts".to_owned(), time.into());
                line.insert("msg".to_owned(), fields.message.into());
                line.extend(fields.others);
                writeln!(writer, "{}", Value::Object(line))
            }
            Self::Console => {
                write!(writer, "{time}\t{level}\t{}", fields.message)?;
                if !fields.others.is_empty() {
                    write!(writer, "\t{}", Value::Object(fields.others))?;
                }
                writer.write_char('\n')
            }
        }
    }
}

const fn lower_case(level: Level) -> &'static str {
    match level {
        Level::ERROR => "error",
        Level::WARN => "warn",
        Level::INFO => "info",
        Level::DEBUG => "debug",
        Level::TRACE => "trace",
    }
}

/// What an event says.
#[derive(Default)]
struct Fields {
    message: String,
    others: Map<String, Value>,
}

impl Fields {
    fn insert(&mut self, field: &Field, value: Value) {
        match (field.name(), value) {
            ("message", Value::String(text)) => self.message = text,
            // `flux logs` filters by these.
            ("object", Value::String(text)) => {
                let mut parts = text.splitn(3, '/');
                for name in ["controllerKind", "namespace", "name"] {
                    if let Some(part) = parts.next() {
                        self.others.insert(name.to_owned(), part.into());
                    }
                }
            }
            (name, value) => {
                self.others.insert(name.to_owned(), value);
            }
        }
    }
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.insert(field, format!("{value:?}").into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.insert(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.insert(field, value.into());
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.insert(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.insert(field, value.into());
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("unharmed").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What is written of one outcome and of what is less important.
    fn written(log_level: Verbosity, log_encoding: Encoding) -> String {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = LogArgs { log_level, log_encoding }.subscriber(move || writer.clone());
        tracing::subscriber::with_default(subscriber, || {
            tracing::error!(target: "flumen_controller", object = "Kustomization/apps/web", error = "a\nb", tries = 2, "failed");
            tracing::debug!(target: "flumen_controller", "looks");
            tracing::info!(target: "some_library", "request with everything in it");
        });
        let bytes = lines.0.lock().expect("unharmed").clone();
        String::from_utf8(bytes).expect("text")
    }

    #[test]
    fn lines_are_those_that_readers_of_flux_know() {
        let text = written(Verbosity::Info, Encoding::Json);
        let mut line: Map<String, Value> = serde_json::from_str(&text).expect("one line of JSON");
        let time = line.remove("ts").expect("a time");
        assert!(time.as_str().is_some_and(|time| time.ends_with('Z')), "{time}");
        let expected = serde_json::json!({
            "level": "error",
            "msg": "failed",
            "controllerKind": "Kustomization",
            "namespace": "apps",
            "name": "web",
            "error": "a\nb",
            "tries": 2,
        });
        assert_eq!(Value::Object(line), expected);

        let text = written(Verbosity::Error, Encoding::Console);
        let columns: Vec<&str> = text.trim_end().split('\t').collect();
        assert_eq!(columns[1..3], ["ERROR", "failed"]);
        assert!(columns[3].contains(r#""error":"a\nb""#), "{text}");
    }

    #[test]
    fn levels_decide_what_is_written_and_libraries_keep_quiet() {
        assert_eq!(written(Verbosity::Info, Encoding::Json).lines().count(), 1);
        let everything = written(Verbosity::Trace, Encoding::Console);
        assert_eq!(everything.lines().count(), 2, "{everything}");
    }
}
