//! Fields and who owns them: server-side apply (Kubernetes: "Server-Side Apply").
//!
//! A [`FieldSet`] names fields of an object; [`Managers`] says which manager owns which. Writes are told apart by comparing
//! the object before and after (`compare`); an apply is merged (`merge`) and what its manager stops naming is pruned.

mod clean;
mod compare;
mod element;
mod managers;
mod merge;
mod set;

pub(crate) use self::clean::{check, clean, forget_empty, zero};
pub(crate) use self::compare::{Comparison, compare, named};
pub use self::element::{Element, Name, Scalar};
pub(crate) use self::managers::Writer;
pub use self::managers::{Manager, Managers, Operation};
pub(crate) use self::merge::{merge, prune};
pub use self::set::FieldSet;
