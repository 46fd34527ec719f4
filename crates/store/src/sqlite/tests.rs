//! The engine check, at its edge.

use super::refuse_old_engine;

#[test]
fn an_engine_with_the_known_fault_is_refused() {
    assert!(refuse_old_engine(3_051_002).is_err());
    assert!(refuse_old_engine(3_051_003).is_ok());
    assert!(refuse_old_engine(rusqlite::version_number()).is_ok());
}
