//! Lists that have at least one element.

use alloc::vec::Vec;
use core::ops::Deref;

/// A list with at least one element.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NonEmpty<T>(
    // INVARIANT: not empty.
    Vec<T>,
);

impl<T> NonEmpty<T> {
    /// The list, unless it is empty.
    #[must_use]
    pub fn new(items: Vec<T>) -> Option<Self> {
        (!items.is_empty()).then_some(Self(items))
    }

    /// A list of one.
    #[must_use]
    pub fn of(item: T) -> Self {
        Self(alloc::vec![item])
    }

    /// The elements.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.0
    }
}

impl<T> Deref for NonEmpty<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}
