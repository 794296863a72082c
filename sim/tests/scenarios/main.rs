//! The situations that broke other systems, by their numbers, each played in a whole world in several orders of what is
//! ready. What concerns records alone stands in `tests/records`, what concerns the files of charms beside their reader.

mod cluster;
mod damage;
mod deploy;
mod failure;
mod refresh;
mod refusal;
mod removal;
mod scaling;
mod stage;
mod status;
mod storage;
mod watches;
