/** The number in a text that is an id, as in URLs and in what a person writes. */
export function readId(text: string | null | undefined): number | undefined {
  return /^[1-9]\d{0,14}$/.test(text ?? '') ? Number(text) : undefined;
}
