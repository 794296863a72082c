//! The program `pilotage`.

fn main() {}
