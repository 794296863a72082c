//! What holds for the API server whatever it is asked.

mod bodies;
mod counters;
mod histories;
