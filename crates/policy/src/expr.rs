//! Conditions: a JSON tree of `and`, `or`, `not` and atoms (K1.3), and what it means.

use alloc::{boxed::Box, format, vec::Vec};

use countersign_canon::{Definitions, Issue, Json, NonEmpty, Reader, Wire, canon_codes, choice, nearest};

use crate::{Atom, Context, algebra::Algebra, context::InContext};

/// A condition over leaves, which are atoms in a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expr<Leaf = Atom> {
    /// All of these. A policy gives at least one.
    And(Vec<Self>),
    /// At least one of these. A policy gives at least one.
    Or(Vec<Self>),
    /// Not this.
    Not(Box<Self>),
    /// A leaf.
    Leaf(Leaf),
}

choice! {
    /// How conditions are put together.
    pub enum Operator {
        /// All of them.
        And = "and",
        /// At least one of them.
        Or = "or",
        /// Not this one.
        Not = "not",
    }
}

impl<Leaf> Expr<Leaf> {
    /// What the condition means: the one interpreter, for every algebra.
    ///
    /// Recursion is bounded: a parsed condition is at most as deep as a document may be.
    pub fn evaluate<A: Algebra<Leaf>>(&self, algebra: &mut A) -> A::Bit {
        match self {
            Self::Leaf(leaf) => algebra.leaf(leaf),
            Self::Not(inner) => {
                let inner = inner.evaluate(algebra);
                algebra.not(inner)
            }
            Self::And(parts) => {
                let truth = algebra.constant(true);
                parts.iter().fold(truth, |all, part| {
                    let part = part.evaluate(algebra);
                    algebra.and(all, part)
                })
            }
            Self::Or(parts) => {
                let falsehood = algebra.constant(false);
                parts.iter().fold(falsehood, |any, part| {
                    let part = part.evaluate(algebra);
                    algebra.or(any, part)
                })
            }
        }
    }

    /// The same condition over other leaves.
    pub(crate) fn map<Other>(&self, change: &mut impl FnMut(&Leaf) -> Other) -> Expr<Other> {
        match self {
            Self::Leaf(leaf) => Expr::Leaf(change(leaf)),
            Self::Not(inner) => Expr::Not(Box::new(inner.map(change))),
            Self::And(parts) => Expr::And(parts.iter().map(|part| part.map(change)).collect()),
            Self::Or(parts) => Expr::Or(parts.iter().map(|part| part.map(change)).collect()),
        }
    }

    /// Every leaf, from left to right.
    #[must_use]
    pub fn leaves(&self) -> Vec<&Leaf> {
        match self {
            Self::Leaf(leaf) => Vec::from([leaf]),
            Self::Not(inner) => inner.leaves(),
            Self::And(parts) | Self::Or(parts) => parts.iter().flat_map(Self::leaves).collect(),
        }
    }
}

impl Expr {
    /// Whether the condition holds in this context.
    #[must_use]
    pub fn holds(&self, context: &Context) -> bool {
        self.evaluate(&mut InContext(context))
    }
}

impl Wire for Expr {
    fn read(json: &Json<'_>, reader: &mut Reader) -> Option<Self> {
        let object = reader.object(json)?;
        if object.get("op").is_some() {
            return read_operator(json, reader);
        }
        if object.get("atom").is_some() {
            return Atom::read(json, reader).map(Self::Leaf);
        }
        let keys = object.members().iter().map(|member| member.key.as_ref());
        let meant = keys.filter_map(|key| Some((key, nearest(key, ["op", "atom"])?))).next();
        let issue = Issue::new(canon_codes::WIRE_MISSING_FIELD, "neither an operator nor an atom")
            .with_expected("{\"op\": \"and\"|\"or\", \"args\": [...]}, {\"op\": \"not\", \"arg\": ...} or {\"atom\": ..., \"args\": [...]}");
        reader.refuse(
            json,
            match meant {
                Some((key, meant)) => issue.with_hint(format!("did you mean `{meant}` by `{key}`?")),
                None => issue,
            },
        );
        None
    }

    fn write(&self) -> Json<'static> {
        let many = |operator: Operator, parts: &[Self]| {
            Json::object([
                ("op", Json::from(operator.as_str())),
                ("args", Json::array(parts.iter().map(Wire::write))),
            ])
        };
        match self {
            Self::Leaf(atom) => atom.write(),
            Self::Not(inner) => {
                Json::object([("op", Json::from(Operator::Not.as_str())), ("arg", inner.write())])
            }
            Self::And(parts) => many(Operator::And, parts),
            Self::Or(parts) => many(Operator::Or, parts),
        }
    }

    fn schema(definitions: &mut Definitions) -> Json<'static> {
        definitions.define("PredicateExpr", |definitions| {
            let this = Json::object([("$ref", Json::from("#/$defs/PredicateExpr"))]);
            let parts = Json::object([
                ("type", Json::from("array")),
                ("minItems", Json::from(1_u32)),
                ("items", this.clone()),
            ]);
            let many = Json::object([("enum", Json::array(["and", "or"]))]);
            let not = Json::object([("const", Json::from("not"))]);
            let cases = [
                countersign_canon::closed_object_schema(
                    "All of them, or at least one.",
                    [("op", many, false), ("args", parts, false)],
                ),
                countersign_canon::closed_object_schema(
                    "Not this one.",
                    [("op", not, false), ("arg", this, false)],
                ),
                Atom::schema(definitions),
            ];
            Json::object([("oneOf", Json::array(cases))])
        })
    }
}

fn read_operator(json: &Json<'_>, reader: &mut Reader) -> Option<Expr> {
    match reader.field::<Operator>(json, "op")? {
        operator @ (Operator::And | Operator::Or) => {
            reader.closed_object(json, &["op", "args"])?;
            let parts = reader.field::<NonEmpty<Expr>>(json, "args")?.into_vec();
            Some(if operator == Operator::And { Expr::And(parts) } else { Expr::Or(parts) })
        }
        Operator::Not => {
            reader.closed_object(json, &["op", "arg"])?;
            reader.field::<Expr>(json, "arg").map(|inner| Expr::Not(Box::new(inner)))
        }
    }
}

/// The size of a condition as it is written, also where it is malformed: nodes, and depth with an atom at 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) nodes: usize,
    pub(crate) depth: usize,
}

impl Size {
    /// Recursion is bounded: a parsed document is at most `DEPTH_MAX` deep.
    pub(crate) fn of(json: &Json<'_>) -> Self {
        let many = json.get("op").and(json.get("args")).and_then(Json::as_array).unwrap_or_default();
        let inner = many.iter().chain(json.get("op").and(json.get("arg"))).map(Self::of);
        let inner = inner.fold(Self::default(), |sum, size| Self {
            nodes: sum.nodes.saturating_add(size.nodes),
            depth: sum.depth.max(size.depth),
        });
        Self { nodes: inner.nodes.saturating_add(1), depth: inner.depth.saturating_add(1) }
    }
}
