/** Cancels an active run, and shows why if that fails. */
import { useAction } from '../components/useAction';

export function CancelButton({ command }: { readonly command: () => Promise<void> }) {
  const cancel = useAction(command);
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
