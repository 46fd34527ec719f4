//! Effects as a set, and which of them change something.

use crate::wire::Effect;

impl Effect {
    /// Whether it changes something: everything but reading and talking.
    #[must_use]
    pub const fn is_write_like(self) -> bool {
        match self {
            Self::Read | Self::Network => false,
            Self::Write
            | Self::Create
            | Self::Delete
            | Self::Deploy
            | Self::Rollback
            | Self::Data
            | Self::Security => true,
        }
    }

    /// Whether two of its sort must never be settled by who came last.
    #[must_use]
    pub const fn is_exclusive(self) -> bool {
        match self {
            Self::Delete | Self::Deploy | Self::Rollback | Self::Data | Self::Security => true,
            Self::Read | Self::Network | Self::Write | Self::Create => false,
        }
    }

    const fn bit(self) -> u16 {
        match self {
            Self::Read => 1,
            Self::Write => 1 << 1,
            Self::Create => 1 << 2,
            Self::Delete => 1 << 3,
            Self::Network => 1 << 4,
            Self::Deploy => 1 << 5,
            Self::Rollback => 1 << 6,
            Self::Data => 1 << 7,
            Self::Security => 1 << 8,
        }
    }
}

/// A set of effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EffectSet(u16);

impl EffectSet {
    /// The effects in it, in the order of the vocabulary.
    pub fn iter(self) -> impl Iterator<Item = Effect> {
        Effect::ALL.iter().copied().filter(move |effect| self.contains(*effect))
    }

    /// Whether this effect is in it.
    #[must_use]
    pub const fn contains(self, effect: Effect) -> bool {
        self.0 & effect.bit() != 0
    }

    /// Whether something in it changes something.
    #[must_use]
    pub fn is_write_like(self) -> bool {
        self.iter().any(Effect::is_write_like)
    }

    /// Whether something in it must never be settled by who came last.
    #[must_use]
    pub fn is_exclusive(self) -> bool {
        self.iter().any(Effect::is_exclusive)
    }
}

impl FromIterator<Effect> for EffectSet {
    fn from_iter<T: IntoIterator<Item = Effect>>(effects: T) -> Self {
        Self(effects.into_iter().fold(0, |bits, effect| bits | effect.bit()))
    }
}
