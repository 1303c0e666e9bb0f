/** Lists as CSV files (RFC 4180), built in the browser. */

/** A list that is longer is cut, and a notice says so. */
export const csvRowsMax = 10_000;

export type CsvValue = string | number | boolean | null | undefined;

/** The columns of a file in their order, each with its value of a row. */
export type CsvColumns<Row> = Readonly<Record<string, (row: Row) => CsvValue>>;

/**
 * Spreadsheets run cells that begin like a formula: an apostrophe makes them text. The rule is that of the export
 * (`src/catalogue-import/cells.ts`), and a test compares them.
 */
const formula = /^(?:[\s"']*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20]|'*[\t\r\n])/;

function cell(value: CsvValue): string {
  const text = value === null || value === undefined ? '' : String(value);
  const safe = formula.test(text) && typeof value !== 'number' ? `'${text}` : text;
  return /[",\r\n]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** @param rows values of one row each, in the order of `header` */
export function toCsv(header: readonly string[], rows: readonly (readonly CsvValue[])[]): string {
  return [header, ...rows].map((row) => row.map(cell).join(',')).join('\r\n');
}
