//! The order of components: what others depend on comes first, what is unrelated goes side by side.
//!
//! A [`Graph`] knows which component depends on which; a [`Walk`] goes through it once. Deploys walk
//! from dependencies to dependants, teardowns the other way. Whoever walks asks what is [`ready`],
//! does it, and reports how it went: behind a failure nothing becomes ready any more.
//!
//! [`ready`]: Walk::ready

use std::collections::{BTreeMap, BTreeSet};

use flumen_expr::nearest;
use thiserror::Error;

use crate::config::Component;

/// Which component depends on which.
#[derive(Clone, Debug)]
pub struct Graph {
    /// In the order of their names.
    nodes: Vec<Node>,
}

#[derive(Clone, Debug)]
struct Node {
    name: String,
    dependencies: Vec<usize>,
    dependants: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum GraphError {
    #[error("component `{component}` depends on `{dependency}`, which is not there")]
    Unknown { component: String, dependency: String, similar: Option<String> },

    /// The chain ends with the component that it begins with.
    #[error("components depend on each other: {}", .0.join(" → "))]
    Cycle(Vec<String>),
}

impl GraphError {
    /// What to try.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { similar: Some(similar), .. } => {
                Some(format!("did you mean `{similar}`?"))
            }
            Self::Unknown { .. } => Some(
                "dependencies are listed, or follow from `.install.components.NAME`".to_owned(),
            ),
            Self::Cycle(_) => Some("remove one of these dependencies".to_owned()),
        }
    }
}

/// Which way a walk goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Dependencies before dependants, as a deploy wants it.
    DependenciesFirst,
    /// Dependants before dependencies, as a teardown wants it.
    DependantsFirst,
}

impl Graph {
    /// Dependencies are named as components are, or as templates know them (`var_name`).
    pub fn new<'a>(
        components: impl IntoIterator<Item = &'a Component>,
    ) -> Result<Self, GraphError> {
        let components: BTreeMap<&str, &Component> =
            components.into_iter().map(|component| (component.name(), component)).collect();
        let mut by_name: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, component) in components.values().enumerate() {
            if !component.config.var_name.is_empty() {
                by_name.insert(&component.config.var_name, index);
            }
        }
        // A name wins over the same `var_name` of another.
        by_name.extend(components.keys().enumerate().map(|(index, name)| (*name, index)));
        let mut graph = Self { nodes: components.keys().map(|name| Node::new(name)).collect() };
        for (index, component) in components.values().enumerate() {
            for dependency in &component.config.dependencies {
                let needed = *by_name.get(dependency.as_str()).ok_or_else(|| {
                    let similar = nearest(dependency, by_name.keys().copied());
                    GraphError::Unknown {
                        component: component.name().to_owned(),
                        dependency: dependency.clone(),
                        similar: similar.map(str::to_owned),
                    }
                })?;
                // A template may refer to its own component.
                if needed != index && !graph.nodes[index].dependencies.contains(&needed) {
                    graph.nodes[index].dependencies.push(needed);
                    graph.nodes[needed].dependants.push(index);
                }
            }
        }
        match graph.cycle() {
            Some(chain) => Err(GraphError::Cycle(chain)),
            None => Ok(graph),
        }
    }

    /// The same components as if none depended on another, for what can be done in any order.
    #[must_use]
    pub fn without_order(&self) -> Self {
        Self { nodes: self.nodes.iter().map(|node| Node::new(&node.name)).collect() }
    }

    /// Goes through the graph, stopping at the components that are `selected`. The others only carry
    /// the order: a dependency of a dependency comes first also when what is between is left out.
    pub fn walk(&self, direction: Direction, selected: &BTreeSet<String>) -> Walk<'_> {
        let steps = self.nodes.iter().map(|node| Step {
            waits_for: node.before(direction).len(),
            state: if selected.contains(&node.name) { State::Waiting } else { State::PassedBy },
        });
        let steps: Vec<Step> = steps.collect();
        let free = (0..steps.len()).filter(|index| steps[*index].waits_for == 0).collect();
        Walk { graph: self, direction, steps, free }
    }

    /// A chain of components that leads back to its beginning.
    fn cycle(&self) -> Option<Vec<String>> {
        let mut waits_for: Vec<usize> =
            self.nodes.iter().map(|node| node.dependencies.len()).collect();
        let mut free: Vec<usize> =
            (0..self.nodes.len()).filter(|index| waits_for[*index] == 0).collect();
        while let Some(index) = free.pop() {
            for dependant in &self.nodes[index].dependants {
                waits_for[*dependant] -= 1;
                if waits_for[*dependant] == 0 {
                    free.push(*dependant);
                }
            }
        }
        // What still waits depends on something that waits too, so this comes back to where it was.
        let mut at = waits_for.iter().position(|count| *count > 0)?;
        let mut way = Vec::new();
        let mut seen = vec![false; self.nodes.len()];
        while !std::mem::replace(&mut seen[at], true) {
            way.push(at);
            let next = self.nodes[at].dependencies.iter().find(|needed| waits_for[**needed] > 0);
            at = *next?;
        }
        let start = way.iter().position(|visited| *visited == at)?;
        let chain = way[start..].iter().chain([&at]);
        Some(chain.map(|index| self.nodes[*index].name.clone()).collect())
    }
}

impl Node {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), dependencies: Vec::new(), dependants: Vec::new() }
    }

    /// What comes before this one.
    fn before(&self, direction: Direction) -> &[usize] {
        match direction {
            Direction::DependenciesFirst => &self.dependencies,
            Direction::DependantsFirst => &self.dependants,
        }
    }

    fn behind(&self, direction: Direction) -> &[usize] {
        match direction {
            Direction::DependenciesFirst => &self.dependants,
            Direction::DependantsFirst => &self.dependencies,
        }
    }
}

/// One way through a graph.
#[derive(Debug)]
pub struct Walk<'a> {
    graph: &'a Graph,
    direction: Direction,
    steps: Vec<Step>,
    /// What nothing holds up any more, until it is handed out.
    free: Vec<usize>,
}

#[derive(Debug)]
struct Step {
    waits_for: usize,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nobody asked for it.
    PassedBy,
    Waiting,
    /// Handed out by [`Walk::ready`].
    Begun,
    /// Something before it failed.
    Blocked,
    Done,
}

impl<'a> Walk<'a> {
    /// The components that nothing holds up any more, in the order of their names. Each is handed out
    /// once.
    pub fn ready(&mut self) -> Vec<&'a str> {
        let mut ready = Vec::new();
        while let Some(index) = self.free.pop() {
            match self.steps[index].state {
                State::Waiting => {
                    self.steps[index].state = State::Begun;
                    ready.push(index);
                }
                State::PassedBy => {
                    self.steps[index].state = State::Done;
                    self.release(index);
                }
                State::Begun | State::Blocked | State::Done => {}
            }
        }
        ready.sort_unstable();
        ready.into_iter().map(|index| self.graph.nodes[index].name.as_str()).collect()
    }

    /// Reports that a component is done, so that others can follow.
    pub fn succeed(&mut self, name: &str) {
        if let Some(index) = self.begun(name) {
            self.steps[index].state = State::Done;
            self.release(index);
        }
    }

    /// Reports that a component failed. Returns those that will not be handed out because of it.
    pub fn fail(&mut self, name: &str) -> Vec<&'a str> {
        let Some(index) = self.begun(name) else { return Vec::new() };
        self.steps[index].state = State::Done;
        let mut blocked = BTreeSet::new();
        let mut open = vec![index];
        while let Some(index) = open.pop() {
            for behind in self.graph.nodes[index].behind(self.direction) {
                let step = &mut self.steps[*behind];
                match step.state {
                    State::Waiting => drop(blocked.insert(*behind)),
                    State::PassedBy => {}
                    State::Begun | State::Blocked | State::Done => continue,
                }
                step.state = State::Blocked;
                open.push(*behind);
            }
        }
        blocked.into_iter().map(|index| self.graph.nodes[index].name.as_str()).collect()
    }

    /// Lets go of what waits for a component.
    fn release(&mut self, index: usize) {
        for behind in self.graph.nodes[index].behind(self.direction) {
            let step = &mut self.steps[*behind];
            step.waits_for -= 1;
            if step.waits_for == 0 {
                self.free.push(*behind);
            }
        }
    }

    fn begun(&self, name: &str) -> Option<usize> {
        let found = self.graph.nodes.binary_search_by(|node| node.name.as_str().cmp(name)).ok()?;
        (self.steps[found].state == State::Begun).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::config::Components;

    /// Components with dependencies, written `web: db, cache`.
    fn components(lines: &[&str]) -> Components {
        let dir = tempfile::tempdir().expect("scratch directory");
        for line in lines {
            let (name, needs) = line.split_once(':').expect("a colon");
            let needs: Vec<String> = needs
                .split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty())
                .map(|name| format!("\"{name}\""))
                .collect();
            let text = format!(
                "name = \"{name}\"\nvar_name = \"var_{name}\"\ntype = \"kubernetes_manifest\"\n\
                 namespace = \"x\"\nmanifest = \"a: b\"\ndependencies = [{}]\n",
                needs.join(", ")
            );
            fs::write(dir.path().join(format!("{name}.toml")), text).expect("file");
        }
        Components::load(dir.path()).expect("directory")
    }

    fn graph(lines: &[&str]) -> Result<Graph, GraphError> {
        Graph::new(components(lines).components.values())
    }

    fn selected(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    /// What is handed out together, round by round, if everything succeeds.
    fn rounds(lines: &[&str], direction: Direction, names: &[&str]) -> Vec<String> {
        let graph = graph(lines).expect("a graph");
        let mut walk = graph.walk(direction, &selected(names));
        let mut rounds = Vec::new();
        loop {
            let ready = walk.ready();
            if ready.is_empty() {
                return rounds;
            }
            for name in &ready {
                walk.succeed(name);
            }
            rounds.push(ready.join(" "));
        }
    }

    const SHOP: [&str; 5] = ["db:", "cache:", "api: db, cache", "web: api", "docs:"];

    #[test]
    fn dependencies_come_first_and_the_unrelated_side_by_side() {
        let all = ["db", "cache", "api", "web", "docs"];
        let down = rounds(&SHOP, Direction::DependenciesFirst, &all);
        assert_eq!(down, ["cache db docs", "api", "web"]);
        let up = rounds(&SHOP, Direction::DependantsFirst, &all);
        assert_eq!(up, ["docs web", "api", "cache db"]);
    }

    #[test]
    fn without_order_all_are_ready() {
        let graph = graph(&SHOP).expect("a graph").without_order();
        let mut walk = graph.walk(Direction::DependenciesFirst, &selected(&["db", "web"]));
        assert_eq!(walk.ready(), ["db", "web"]);
    }

    #[test]
    fn what_is_left_out_still_carries_the_order() {
        let names = ["db", "web", "docs"];
        assert_eq!(rounds(&SHOP, Direction::DependenciesFirst, &names), ["db docs", "web"]);
        assert_eq!(rounds(&SHOP, Direction::DependantsFirst, &names), ["docs web", "db"]);
    }

    #[test]
    fn templates_may_name_a_component_by_its_variable() {
        let lines = ["a: var_b, b", "b: var_b"];
        assert_eq!(rounds(&lines, Direction::DependenciesFirst, &["a", "b"]), ["b", "a"]);
    }

    #[test]
    fn nothing_follows_a_failure() {
        let graph = graph(&SHOP).expect("a graph");
        let mut walk = graph.walk(Direction::DependenciesFirst, &selected(&["db", "cache", "web"]));
        assert_eq!(walk.ready(), ["cache", "db"]);
        assert_eq!(walk.fail("db"), ["web"]);
        walk.succeed("cache");
        assert!(walk.ready().is_empty());
        assert!(walk.fail("cache").is_empty(), "it is done already");
    }

    #[test]
    fn cycles_are_shown_as_a_chain() {
        let error = graph(&["a: b", "b: c", "c: b", "d: a"]).expect_err("a cycle");
        assert_eq!(error.to_string(), "components depend on each other: b → c → b");
    }

    #[test]
    fn unknown_dependencies_are_named() {
        let error = graph(&["web: databse", "database:"]).expect_err("unknown");
        assert_eq!(error.to_string(), "component `web` depends on `databse`, which is not there");
        assert_eq!(error.hint().as_deref(), Some("did you mean `database`?"));
    }
}
