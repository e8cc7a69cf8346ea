/**
 * Resolves in a turn of the event loop in which no other long piece of work begins: however many wait, each lets the
 * connections of others be served before the next one continues. Work that has begun goes first, so that little of it
 * is in progress, and in memory, at a time.
 * @param stage `first` if nothing has been done yet
 */
export function ownTurn(stage: 'first' | 'next' = 'next'): Promise<void> {
  return new Promise((resolve) => {
    if (begun.length + unbegun.length === 0) setImmediate(next);
    (stage === 'first' ? unbegun : begun).push(resolve);
  });
}

const begun: (() => void)[] = [];
const unbegun: (() => void)[] = [];

/** `setImmediate` runs everything that was scheduled before in one turn, and what is scheduled here in the next. */
function next(): void {
  const resolve = begun.shift() ?? unbegun.shift();
  if (begun.length + unbegun.length > 0) setImmediate(next);
  resolve?.();
}
