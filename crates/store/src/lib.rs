//! Keeps events and approvals so that nothing is lost or used twice.
