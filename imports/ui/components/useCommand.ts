/** Carries out a command from a form or a button, and remembers how it failed and which field was to blame. */
import { useCallback, useState } from 'react';
import { DashboardError } from '../data/DashboardData';

export interface CommandError {
  readonly message: string;
  /** The invalid field, as the server names it. */
  readonly path: string | undefined;
}

export interface Command {
  readonly isBusy: boolean;
  readonly error: CommandError | undefined;
  /** @param done called with the result if the command succeeds */
  readonly run: <T>(command: () => Promise<T>, done?: (result: T) => void) => void;
  readonly clear: () => void;
}

export function useCommand(): Command {
  const [state, setState] = useState<{ readonly isBusy: boolean; readonly error?: CommandError }>({ isBusy: false });
  const run = useCallback(<T>(command: () => Promise<T>, done?: (result: T) => void): void => {
    setState({ isBusy: true });
    command().then(
      (result) => {
        setState({ isBusy: false });
        done?.(result);
      },
      (thrown: unknown) => setState({ isBusy: false, error: describe(thrown) }),
    );
  }, []);
  const clear = useCallback(() => setState({ isBusy: false }), []);
  return { isBusy: state.isBusy, error: state.error, run, clear };
}

function describe(thrown: unknown): CommandError {
  return {
    message: thrown instanceof Error ? thrown.message : String(thrown),
    path: thrown instanceof DashboardError ? thrown.path : undefined,
  };
}
