use std::sync::Mutex;

use tokio::sync::Notify;

use super::*;

/// A time limit that no test reaches.
const NEVER: Duration = Duration::from_hours(1);

/// Remembers what it hears.
#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Heard {
    fn say(&self, line: String) {
        self.0.lock().expect("no panic holds it").push(line);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().expect("no panic holds it"))
    }
}

impl Observer for Heard {
    fn status(&self, status: Status) {
        self.say(status.to_string());
    }

    fn log(&self, line: &str) {
        self.say(line.to_owned());
    }
}

/// What a step does in a test.
#[derive(Clone, Copy, PartialEq)]
enum Act {
    Fail,
    Panic,
    Hang,
}

struct Script<'a> {
    act: Option<(Step, Act)>,
    steps: Vec<Step>,
    was_shut_down: bool,
    hanging: &'a Notify,
}

impl Handler for Script<'_> {
    async fn perform(&mut self, step: Step) -> Result<(), Error> {
        self.steps.push(step);
        match self.act.filter(|(at, _)| *at == step) {
            None => Ok(()),
            Some((_, Act::Fail)) => Err(Error::UnsupportedSource("x".to_owned())),
            Some((_, Act::Panic)) => panic!("out of {}", "luck"),
            Some((_, Act::Hang)) => {
                self.hanging.notify_one();
                std::future::pending().await
            }
        }
    }

    fn shut_down(&mut self) {
        self.was_shut_down = true;
    }
}

struct Outcome {
    result: Result<(), Ended>,
    steps: Vec<Step>,
    heard: Vec<String>,
    was_shut_down: bool,
}

/// Runs a job one of whose steps does as told; a hanging one is cancelled.
async fn run_script(act: Option<(Step, Act)>, timeout: Duration) -> Outcome {
    let (heard, cancel, hanging) = (Heard::default(), CancellationToken::new(), Notify::new());
    let mut script = Script { act, steps: Vec::new(), was_shut_down: false, hanging: &hanging };
    let result = {
        let job = run(&mut script, timeout, &cancel, &heard);
        tokio::pin!(job);
        tokio::select! {
            result = &mut job => result,
            () = hanging.notified(), if timeout == NEVER => {
                cancel.cancel();
                job.await
            }
        }
    };
    Outcome {
        result,
        steps: script.steps,
        heard: heard.take(),
        was_shut_down: script.was_shut_down,
    }
}

#[tokio::test]
async fn steps_follow_each_other() {
    let outcome = run_script(None, NEVER).await;
    outcome.result.expect("finished");
    let expected = [Step::WORK.as_slice(), &[Step::Cleanup]].concat();
    assert_eq!(outcome.steps, expected);
    assert_eq!(outcome.heard, ["initializing", "in-progress", "cleaning-up", "finished"]);
    assert!(!outcome.was_shut_down);
}

#[tokio::test]
async fn cleanup_follows_whichever_step_fails() {
    for (index, step) in Step::WORK.into_iter().enumerate() {
        let outcome = run_script(Some((step, Act::Fail)), NEVER).await;
        let ended = outcome.result.expect_err("failed");
        assert_eq!(ended.to_string(), "unsupported source type: x");
        assert_eq!(outcome.steps, [&Step::WORK[..=index], &[Step::Cleanup]].concat());
        assert_eq!(outcome.heard.last().map(String::as_str), Some("failed"));
        assert!(outcome.was_shut_down);
    }
}

#[tokio::test]
async fn a_panic_is_a_failure() {
    let outcome = run_script(Some((Step::Execute, Act::Panic)), NEVER).await;
    let ended = outcome.result.expect_err("failed");
    assert_eq!(ended.to_string(), "the job panicked: out of luck");
    assert_eq!(ended.status(), Status::Failed);
    assert_eq!(outcome.steps.last(), Some(&Step::Cleanup));
}

#[tokio::test]
async fn a_cancelled_job_cleans_up() {
    let outcome = run_script(Some((Step::Execute, Act::Hang)), NEVER).await;
    assert_eq!(outcome.result.expect_err("cancelled").status(), Status::Cancelled);
    assert_eq!(outcome.steps.last(), Some(&Step::Cleanup));
    assert_eq!(outcome.heard, ["initializing", "in-progress", "cleaning-up", "cancelled"]);
    assert!(outcome.was_shut_down);
}

#[tokio::test(start_paused = true)]
async fn a_job_that_takes_too_long_is_timed_out() {
    let outcome = run_script(Some((Step::Fetch, Act::Hang)), Duration::from_millis(5)).await;
    let ended = outcome.result.expect_err("timed out");
    assert_eq!(ended.status(), Status::TimedOut);
    assert_eq!(ended.to_string(), "the job took longer than 5ms");
    assert_eq!(outcome.heard, ["initializing", "cleaning-up", "timed-out"]);
}

#[tokio::test]
async fn a_failing_cleanup_is_told_and_changes_nothing() {
    let outcome = run_script(Some((Step::Cleanup, Act::Fail)), NEVER).await;
    outcome.result.expect("the work was done");
    assert_eq!(outcome.heard[3], "cleanup failed: unsupported source type: x");
}
