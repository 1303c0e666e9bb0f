/** Positions in the event log. An event id is a position, and ends with the number of the event. */

/** The position so many events before another one; null if the log is shorter. */
export function positionBefore(position: string, count: number): string | null {
  const begin = position.lastIndexOf('_') + 1;
  const number = Number(position.slice(begin)) - count;
  return number > 0 ? `${position.slice(0, begin)}${number}` : null;
}
