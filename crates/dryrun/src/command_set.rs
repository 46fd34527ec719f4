//! A set of an intent's commands, by position.

/// A set of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct CommandSet(
    // LIMIT: an intent has at most 80 commands, so that a set of them is one number.
    u128,
);

impl CommandSet {
    pub(crate) const NONE: Self = Self(0);

    fn bit(command: usize) -> u128 {
        u32::try_from(command).ok().and_then(|shift| 1_u128.checked_shl(shift)).unwrap_or(0)
    }

    pub(crate) fn insert(&mut self, command: usize) {
        self.0 |= Self::bit(command);
    }

    pub(crate) fn contains(self, command: usize) -> bool {
        self.0 & Self::bit(command) != 0
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) const fn both(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    pub(crate) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The commands before this one.
    pub(crate) fn before(self, command: usize) -> Self {
        Self(self.0 & Self::bit(command).wrapping_sub(1))
    }

    /// The commands, in order.
    pub(crate) fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        core::iter::from_fn(move || {
            let command = usize::try_from(rest.trailing_zeros()).ok().filter(|_| rest != 0)?;
            rest &= rest.wrapping_sub(1);
            Some(command)
        })
    }
}

impl FromIterator<usize> for CommandSet {
    fn from_iter<T: IntoIterator<Item = usize>>(commands: T) -> Self {
        let mut set = Self::default();
        commands.into_iter().for_each(|command| set.insert(command));
        set
    }
}
