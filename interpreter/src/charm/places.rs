//! Places: how a mistake finds its file, line and column again.

use std::fmt;

use pilotage_core::charm::document::Place;
use pilotage_core::charm::{Mistake, Severity};

/// The places of all files of one reading. Core carries their numbers; only this table knows what they stand for.
#[derive(Clone, Debug, Default)]
pub struct Places {
    files: Vec<String>,
    places: Vec<(usize, u32, u32)>,
}

impl Places {
    /// Names the file that the next places are in.
    pub fn begin(&mut self, file: impl Into<String>) {
        self.files.push(file.into());
    }

    /// Adds a place in the file named last. Lines and columns count from 1.
    pub fn add(&mut self, line: u32, column: u32) -> Place {
        let place = u32::try_from(self.places.len()).unwrap_or(u32::MAX);
        self.places
            .push((self.files.len().saturating_sub(1), line, column));
        Place(place)
    }

    /// The file that a place is in.
    pub fn file(&self, place: Place) -> Option<&str> {
        let at = usize::try_from(place.0).ok()?;
        let (file, ..) = self.places.get(at)?;
        self.files.get(*file).map(String::as_str)
    }

    /// Line and column of a place, both from 1.
    pub fn position(&self, place: Place) -> Option<(u32, u32)> {
        let at = usize::try_from(place.0).ok()?;
        let (_, line, column) = self.places.get(at)?;
        Some((*line, *column))
    }

    /// Shows a mistake where it stands.
    pub fn locate(&self, mistake: Mistake) -> Located {
        let at = usize::try_from(mistake.place.0).unwrap_or(usize::MAX);
        let (file, line, column) = self.places.get(at).copied().unwrap_or_default();
        Located {
            file: self.files.get(file).cloned().unwrap_or_default(),
            line,
            column,
            path: mistake.path,
            problem: mistake.problem,
            advice: mistake.advice,
            severity: mistake.severity,
        }
    }
}

/// A mistake with file, line and column.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Located {
    /// The file, as the user can open it; inside an archive, behind the archive's name.
    pub file: String,
    /// Line, from 1; 0 where a mistake is about the file as a whole.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// The keys that lead there, as `containers.web`; empty for the file as a whole.
    pub path: String,
    /// What is wrong.
    pub problem: String,
    /// What to do about it.
    pub advice: String,
    /// Whether it is refused.
    pub severity: Severity,
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file)?;
        if self.line > 0 {
            write!(f, "{}:{}:", self.line, self.column)?;
        }
        if self.severity == Severity::Warning {
            write!(f, " warning:")?;
        }
        if !self.path.is_empty() {
            write!(f, " {}:", self.path)?;
        }
        write!(f, " {}", self.problem)?;
        if !self.advice.is_empty() {
            write!(f, "\n  {}", self.advice)?;
        }
        Ok(())
    }
}
