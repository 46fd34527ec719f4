//! What a condition is evaluated over: plain truth at run time, a circuit when something is proved about a policy.

/// A boolean algebra with a meaning for every leaf of a condition.
///
/// The meaning of a policy is written once, over this trait: with truth values it decides, with the wires of a
/// circuit it becomes a formula. So there is no second encoder that could drift from the evaluator.
pub trait Algebra<Leaf> {
    /// A truth value, or a stand-in for one.
    type Bit: Copy;

    /// The value that is always `truth`.
    fn constant(&mut self, truth: bool) -> Self::Bit;

    /// What a leaf means.
    fn leaf(&mut self, leaf: &Leaf) -> Self::Bit;

    /// Whether it is not so.
    fn not(&mut self, bit: Self::Bit) -> Self::Bit;

    /// Whether both are so.
    fn and(&mut self, left: Self::Bit, right: Self::Bit) -> Self::Bit;

    /// Whether one of the two is so.
    fn or(&mut self, left: Self::Bit, right: Self::Bit) -> Self::Bit {
        let (left, right) = (self.not(left), self.not(right));
        let neither = self.and(left, right);
        self.not(neither)
    }
}
