/** Saves files that the browser makes. */

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
