/** Cancels an active run, and shows why if that fails. */
import { useCallback } from 'react';
import { useData } from '../data/DataContext';
import { useAction } from '../components/useAction';

export function CancelButton({ executionId }: { readonly executionId: string }) {
  const { commands } = useData();
  const cancel = useAction(useCallback(() => commands.cancelRun(executionId), [commands, executionId]));
  return (
    <>
      {cancel.error !== undefined && (
        <span className="form-error" role="alert">
          {cancel.error}
        </span>
      )}
      <button type="button" className="button button-danger" onClick={() => cancel.run()} disabled={cancel.isBusy}>
        {cancel.isBusy ? 'Cancelling…' : 'Cancel run'}
      </button>
    </>
  );
}
