/**
 * Resolves in a turn of the event loop in which no other long piece of work begins: however many wait, each lets the
 * connections of others be served before the next one continues. Work that has begun goes first, so that little of it
 * is in progress, and in memory, at a time.
 * @param stage `first` if nothing has been done yet
 */
export function ownTurn(stage: 'first' | 'next' = 'next'): Promise<void> {
  return new Promise((resolve) => {
    if (!isScheduled) setImmediate(next);
    isScheduled = true;
    (stage === 'first' ? unbegun : begun).push(resolve);
  });
}

const begun: (() => void)[] = [];
const unbegun: (() => void)[] = [];

/** Milliseconds that others have at most between two pieces of work. */
const MAX_REST = 5;

let isScheduled = false;

/** Others have as much time as the piece took, since what they wait for takes several turns of the event loop. */
function next(): void {
  const startedAt = performance.now();
  // It runs after all that the resolved promise causes in this turn.
  setImmediate(() => {
    isScheduled = begun.length + unbegun.length > 0;
    if (isScheduled) setTimeout(next, Math.min(MAX_REST, performance.now() - startedAt));
  });
  const resolve = begun.shift() ?? unbegun.shift();
  resolve?.();
}
