//! Sets of fields: who owns what, what changed, what is to be left out.

use std::{cmp::Ordering, fmt};

use crate::Element;

/// A set of places in an object, as a tree. A place is in the set if its node is a member; that a
/// node has children says nothing of itself.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct FieldSet {
    /// Ordered by element. Every node is a member or has children.
    nodes: Vec<Node>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) element: Element,
    pub(crate) member: bool,
    pub(crate) children: FieldSet,
}

impl FieldSet {
    pub const EMPTY: &'static Self = &Self { nodes: Vec::new() };

    pub const fn new() -> Self {
        Self { nodes: Vec::new() }
    }

    /// A set of places that are given by names of fields.
    pub fn of_paths<'a>(paths: impl IntoIterator<Item = &'a [&'a str]>) -> Self {
        let mut set = Self::new();
        for path in paths {
            if let Some((last, parents)) = path.split_last() {
                let mut at = &mut set;
                for name in parents {
                    at = &mut at.node(Element::field(name)).children;
                }
                at.node(Element::field(last)).member = true;
            }
        }
        set
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Whether the field at the end of these names is in the set.
    pub fn has_path(&self, path: &[&str]) -> bool {
        let mut set = self;
        let mut member = false;
        for name in path {
            let Some(node) = set.get(&Element::field(name)) else { return false };
            member = node.member;
            set = &node.children;
        }
        member
    }

    /// What is in either.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        if self.is_empty() {
            return other.clone();
        }
        if other.is_empty() {
            return self.clone();
        }
        self.combine(other, |pair| match pair {
            Pair::Left(node) | Pair::Right(node) => Some(node.clone()),
            Pair::Both(a, b) => Some(Node {
                element: a.element.clone(),
                member: a.member || b.member,
                children: a.children.union(&b.children),
            }),
        })
    }

    /// What is in both.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        if self.is_empty() || other.is_empty() {
            return Self::new();
        }
        self.combine(other, |pair| match pair {
            Pair::Left(_) | Pair::Right(_) => None,
            Pair::Both(a, b) => Node {
                element: a.element.clone(),
                member: a.member && b.member,
                children: a.children.intersection(&b.children),
            }
            .kept(),
        })
    }

    /// What is in this set and not in the other.
    #[must_use]
    pub fn difference(self, other: &Self) -> Self {
        self.subtract(other, false)
    }

    /// What is left without the places of the other set and everything below them.
    #[must_use]
    pub fn without_below(self, other: &Self) -> Self {
        self.subtract(other, true)
    }

    fn subtract(mut self, other: &Self, with_below: bool) -> Self {
        let mut others = other.nodes.iter().peekable();
        self.nodes.retain_mut(|node| {
            while others.next_if(|other| other.element < node.element).is_some() {}
            let Some(other) = others.next_if(|other| other.element == node.element) else {
                return true;
            };
            if other.member && with_below {
                return false;
            }
            node.member &= !other.member;
            node.children =
                std::mem::take(&mut node.children).subtract(&other.children, with_below);
            node.member || !node.children.is_empty()
        });
        self
    }

    /// Whether nothing of this set is missing in the other.
    pub fn is_subset(&self, other: &Self) -> bool {
        let mut rest = other.nodes.iter();
        self.nodes.iter().all(|a| {
            let b = rest.by_ref().find(|b| b.element >= a.element);
            b.is_some_and(|b| {
                b.element == a.element
                    && (b.member || !a.member)
                    && a.children.is_subset(&b.children)
            })
        })
    }

    /// Every place, parents before children.
    pub(crate) fn each(&self, mut visit: impl FnMut(&[Element])) {
        self.walk(&mut Vec::new(), &mut visit);
    }

    fn walk(&self, path: &mut Vec<Element>, visit: &mut impl FnMut(&[Element])) {
        for node in &self.nodes {
            if node.member {
                path.push(node.element.clone());
                visit(path);
                path.pop();
            }
        }
        for node in &self.nodes {
            if !node.children.is_empty() {
                path.push(node.element.clone());
                node.children.walk(path, visit);
                path.pop();
            }
        }
    }

    pub(crate) fn into_nodes(self) -> Vec<Node> {
        self.nodes
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(crate) fn get(&self, element: &Element) -> Option<&Node> {
        self.find(|own| own.cmp(element))
    }

    /// The node of a field, without making an element of its name.
    pub(crate) fn get_field(&self, name: &str) -> Option<&Node> {
        self.find(|own| match own {
            Element::Field(own) => (**own).cmp(name),
            _ => Ordering::Greater,
        })
    }

    fn find(&self, order: impl Fn(&Element) -> Ordering) -> Option<&Node> {
        let found = self.nodes.binary_search_by(|node| order(&node.element));
        found.ok().map(|place| &self.nodes[place])
    }

    /// The node of an element, which is made if need be. The caller makes it a member or gives it
    /// children.
    fn node(&mut self, element: Element) -> &mut Node {
        let place = match self.nodes.binary_search_by(|node| node.element.cmp(&element)) {
            Ok(place) => place,
            Err(place) => {
                let node = Node { element, member: false, children: Self::new() };
                self.nodes.insert(place, node);
                place
            }
        };
        &mut self.nodes[place]
    }

    /// Adds a node with an element that comes after all others; nodes without content are left out.
    pub(crate) fn push(&mut self, element: Element, member: bool, children: Self) {
        if member || !children.is_empty() {
            self.nodes.push(Node { element, member, children });
        }
    }

    /// Makes a set of nodes in any order. Of nodes with the same element all members and children are
    /// kept.
    pub(crate) fn of_nodes(mut nodes: Vec<Node>) -> Self {
        if nodes.is_sorted_by(|a, b| a.element < b.element) {
            return Self { nodes };
        }
        nodes.sort_by(|a, b| a.element.cmp(&b.element));
        let mut set = Self { nodes: Vec::with_capacity(nodes.len()) };
        for node in nodes {
            match set.nodes.last_mut().filter(|last| last.element == node.element) {
                Some(last) => {
                    last.member |= node.member;
                    last.children = last.children.union(&node.children);
                }
                None => set.nodes.push(node),
            }
        }
        set
    }

    fn combine(&self, other: &Self, keep: impl Fn(Pair<'_>) -> Option<Node>) -> Self {
        let (mut left, mut right) = (self.nodes.iter().peekable(), other.nodes.iter().peekable());
        let mut nodes = Vec::with_capacity(self.nodes.len());
        loop {
            let pair = match (left.peek(), right.peek()) {
                (None, None) => return Self { nodes },
                (Some(a), None) => Pair::Left(a),
                (None, Some(b)) => Pair::Right(b),
                (Some(a), Some(b)) => match a.element.cmp(&b.element) {
                    Ordering::Less => Pair::Left(a),
                    Ordering::Greater => Pair::Right(b),
                    Ordering::Equal => Pair::Both(a, b),
                },
            };
            nodes.extend(keep(pair));
            if !matches!(pair, Pair::Right(_)) {
                left.next();
            }
            if !matches!(pair, Pair::Left(_)) {
                right.next();
            }
        }
    }
}

/// Nodes of two sets with one element.
#[derive(Clone, Copy)]
enum Pair<'a> {
    Left(&'a Node),
    Right(&'a Node),
    Both(&'a Node, &'a Node),
}

impl Node {
    /// The node, unless it says nothing.
    pub(crate) fn kept(self) -> Option<Self> {
        (self.member || !self.children.is_empty()).then_some(self)
    }
}

/// One place a line.
impl fmt::Debug for FieldSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = f.debug_set();
        self.each(|path| {
            lines.entry(&format_args!("{}", Shown(path)));
        });
        lines.finish()
    }
}

/// A place as messages name it: `.spec.containers[name="app"].image`.
pub(crate) struct Shown<'a>(pub(crate) &'a [Element]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|element| element.fmt(f))
    }
}
