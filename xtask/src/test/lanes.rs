//! Steps side by side.
//!
//! A lane is a list of tasks and a number of workers that take them in order. Tasks that compute share one lane
//! with a worker for each processor. Tasks that mostly wait for servers have a lane of their own beside it.

use std::{collections::VecDeque, thread};

use parking_lot::Mutex;
/// Work that runs once, on any thread.
pub(super) type Task<'a> = Box<dyn FnOnce() + Send + 'a>;

pub(super) struct Lane<'a> {
    workers: usize,
    tasks: Mutex<VecDeque<Task<'a>>>,
}

impl<'a> Lane<'a> {
    pub(super) fn new(workers: usize) -> Self {
        Self { workers, tasks: Mutex::default() }
    }

    pub(super) fn add(&mut self, task: impl FnOnce() + Send + 'a) {
        self.tasks.get_mut().push_back(Box::new(task));
    }

    fn take(&self) -> Option<Task<'a>> {
        self.tasks.lock().pop_front()
    }
}

/// Runs all tasks of all lanes to their end.
pub(super) fn run(lanes: &[Lane<'_>]) {
    thread::scope(|scope| {
        for lane in lanes {
            for _ in 0..lane.workers {
                scope.spawn(|| {
                    while let Some(task) = lane.take() {
                        task();
                    }
                });
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn lanes_run_beside_each_other_and_each_in_order() {
        let meeting = Barrier::new(2);
        let order = Mutex::new(Vec::new());
        let [mut first, mut second] = [Lane::new(1), Lane::new(1)];
        for lane in [&mut first, &mut second] {
            // Neither lane passes the barrier alone.
            lane.add(|| {
                meeting.wait();
            });
        }
        for number in 0..3 {
            let order = &order;
            first.add(move || order.lock().push(number));
        }
        run(&[first, second]);
        assert_eq!(order.into_inner(), [0, 1, 2]);
    }
}
