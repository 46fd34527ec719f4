//! Says which rules a file breaks, given its path and bytes.
#![no_std]
extern crate alloc;
