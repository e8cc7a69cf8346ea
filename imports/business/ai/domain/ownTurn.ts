/**
 * Resolves in a turn of the event loop in which no other long piece of work begins: however many wait, each lets the
 * connections of others be served before the next one continues.
 */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(next);
  });
}

const waiting: (() => void)[] = [];

/** `setImmediate` runs everything that was scheduled before in one turn, and what is scheduled here in the next. */
function next(): void {
  const resolve = waiting.shift();
  if (waiting.length > 0) setImmediate(next);
  resolve?.();
}
