//! Weighs intents against each other and plans one, as data.
#![no_std]
extern crate alloc;
