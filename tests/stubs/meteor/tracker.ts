/** Tracker on the server, where nothing is reactive. */
export const Tracker = {
  active: false,
  currentComputation: null,
  nonreactive: <Result>(run: () => Result): Result => run(),
  autorun(_run: unknown): never {
    throw new Error('Tracker.autorun is not reactive on the server.');
  },
};
