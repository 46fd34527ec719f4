//! Gathers facts, asks the kernel, records the answer, serves it.
