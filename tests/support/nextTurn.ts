/** That of the system, whatever a test does with time. */
const { setImmediate } = globalThis;

/** Resolves in the next turn of the event loop, after what has arrived on sockets in this one. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
