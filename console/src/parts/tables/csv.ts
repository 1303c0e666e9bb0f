/** Lists as CSV files (RFC 4180), built in the browser. */

/** A list that is longer is cut, and a notice says so. */
export const csvRowsMax = 10_000;

export type CsvValue = string | number | boolean | null | undefined;

/** The columns of a file in their order, each with its value of a row. */
export type CsvColumns<Row> = Readonly<Record<string, (row: Row) => CsvValue>>;

/** Spreadsheets run cells that begin like a formula: an apostrophe makes them text. */
function cell(value: CsvValue): string {
  const text = value === null || value === undefined ? '' : String(value);
  const safe = /^[=+\-@\t]/.test(text) && typeof value !== 'number' ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** @param rows values of one row each, in the order of `header` */
export function toCsv(header: readonly string[], rows: readonly (readonly CsvValue[])[]): string {
  return [header, ...rows].map((row) => row.map(cell).join(',')).join('\r\n');
}

/** Saves a text as a file. */
export function download(name: string, text: string, type = 'text/csv'): void {
  // The byte order mark: without it, spreadsheets read a table in the encoding of the machine.
  const parts = type === 'text/csv' ? ['\uFEFF', text] : [text];
  const url = URL.createObjectURL(new Blob(parts, { type: `${type};charset=utf-8` }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(url), 1000);
}
