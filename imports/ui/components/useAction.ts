/** Runs a command from a button and tracks whether it is in flight and how it failed. */
import { useCallback, useState } from 'react';

export interface Action<Args extends readonly unknown[]> {
  readonly isBusy: boolean;
  readonly error: string | undefined;
  readonly run: (...args: Args) => void;
}

export function useAction<Args extends readonly unknown[]>(command: (...args: Args) => Promise<unknown>): Action<Args> {
  const [state, setState] = useState<{ readonly isBusy: boolean; readonly error?: string }>({ isBusy: false });
  const run = useCallback(
    (...args: Args): void => {
      setState({ isBusy: true });
      command(...args).then(
        () => setState({ isBusy: false }),
        (thrown: unknown) =>
          setState({ isBusy: false, error: thrown instanceof Error ? thrown.message : String(thrown) }),
      );
    },
    [command],
  );
  return { isBusy: state.isBusy, error: state.error, run };
}
