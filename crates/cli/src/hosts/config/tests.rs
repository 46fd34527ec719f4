//! The settings that nobody has touched.

use super::*;

#[test]
fn what_init_writes_is_known_without_reading_it() {
    assert_eq!(Config::load(STANDARD.as_bytes()).unwrap(), Config::read(STANDARD.as_bytes()).unwrap());
}
