/**
 * Cells of a CSV file that a spreadsheet would execute as a formula (OWASP, "CSV Injection"). Export puts an apostrophe
 * in front of them, which makes them text, and import removes it.
 */

/**
 * Full-width forms count, as some spreadsheets read them as the plain character. Apostrophes in front count too: so a
 * value that begins with one is prefixed as well where its apostrophe would be removed, and every round trip is exact.
 */
const formula = /^(?:[\s"']*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|'*[\t\r\n])/;

/** A value as the text of a cell that no spreadsheet executes. */
export function toCell(value: string): string {
  return formula.test(value) ? `'${value}` : value;
}

/** The value of a cell, whether it was prefixed or not. */
export function fromCell(cell: string): string {
  return cell.startsWith("'") && formula.test(cell.slice(1)) ? cell.slice(1) : cell;
}
