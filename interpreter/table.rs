//! Rows in columns, for a person to read at a glance.

use crate::shown;

/// Returns rows as lines that begin with `indent` blanks: columns as wide as they need, control characters shown. The
/// last cell of a row may be as long as it likes.
pub(crate) fn table(indent: usize, rows: &[Vec<String>]) -> String {
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| shown::line(cell).into_owned()).collect())
        .collect();
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let width = |column: usize| {
        let cells =
            rows.iter().filter(|row| column + 1 < row.len()).filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        text.push_str(&format!("{:indent$}{}", "", line.trim_end()));
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let row = |cells: &[&str]| cells.iter().map(ToString::to_string).collect();
        let rows =
            [row(&["a", "é", "x\n"]), row(&["long", "b", ""]), row(&["c", "as long as it is"])];
        assert_eq!(table(2, &rows), "  a     é  x\\n\n  long  b\n  c     as long as it is\n");
    }
}
