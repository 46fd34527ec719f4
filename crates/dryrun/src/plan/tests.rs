//! What must hold for every plan: small cases by hand, generated ones, and every place of a result changed.

mod cases;
mod generated;
mod mutation;
mod properties;
