//! Makes what is generated and checks what lints cannot.

fn main() {}
