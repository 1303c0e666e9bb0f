/**
 * Cells of a CSV file that a spreadsheet would execute as a formula (OWASP, "CSV Injection"). The export prefixes them
 * with an apostrophe, which makes them text. The import removes it.
 */

/**
 * Includes full-width forms, which some spreadsheets read like the ASCII character. Leading apostrophes match too: a
 * value whose own apostrophe the import would remove gets another one, so that every round trip is exact.
 */
const formula = /^(?:[\s"']*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|'*[\t\r\n])/;

/** The text of a cell with this value, which no spreadsheet executes. */
export function escapeFormula(value: string): string {
  return formula.test(value) ? `'${value}` : value;
}

/** The value of a cell, whether it was prefixed or not. */
export function unescapeFormula(cell: string): string {
  return cell.startsWith("'") && formula.test(cell.slice(1)) ? cell.slice(1) : cell;
}
