//! Tables: columns padded by two blanks.

/// On which side of its column a cell stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// Rows of cells under headings.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings.
    pub fn new<'a>(columns: impl IntoIterator<Item = &'a str>) -> Self {
        Table {
            columns: columns
                .into_iter()
                .map(|name| (name.to_owned(), Align::Left))
                .collect(),
            rows: Vec::new(),
        }
    }

    /// The same with these columns to the right.
    pub fn right(mut self, names: &[&str]) -> Self {
        for (name, align) in &mut self.columns {
            if names.contains(&name.as_str()) {
                *align = Align::Right;
            }
        }
        self
    }

    /// One more row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table's text, each line with its end. The last column is not padded.
    pub fn render(&self) -> String {
        let headings: Vec<String> = self.columns.iter().map(|(name, _)| name.clone()).collect();
        let width = |at: usize| {
            std::iter::once(&headings)
                .chain(&self.rows)
                .filter_map(|row| row.get(at))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let mut text = String::new();
        for row in std::iter::once(&headings).chain(&self.rows) {
            for (at, ((cell, width), (_, align))) in
                row.iter().zip(&widths).zip(&self.columns).enumerate()
            {
                let last = at + 1 == self.columns.len();
                let padding = " ".repeat(width - cell.chars().count());
                match align {
                    Align::Right => text.push_str(&padding),
                    Align::Left => {}
                }
                text.push_str(cell);
                if last {
                    break;
                }
                if *align == Align::Left {
                    text.push_str(&padding);
                }
                text.push_str("  ");
            }
            text.push('\n');
        }
        text
    }
}
