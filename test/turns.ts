/** Turns of the event loop, to see what lets others run in between. */
export interface TurnCounter extends Disposable {
  readonly turn: number;
}

/** Counts turns until it is disposed. */
export function countTurns(): TurnCounter {
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn += 1;
    if (!isOver) {
      setImmediate(count);
    }
  };
  count();
  return {
    get turn() {
      return turn;
    },
    [Symbol.dispose]() {
      isOver = true;
    },
  };
}
