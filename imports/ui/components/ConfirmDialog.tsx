/** Asks before something is destroyed, and stays open with the reason if it fails. */
import type { ReactNode } from 'react';
import { FormError } from './FormError';
import { TitledDialog } from './TitledDialog';
import { useCommand } from './useCommand';

export function ConfirmDialog({
  title,
  action,
  onConfirm,
  onClose,
  children,
}: {
  readonly title: string;
  /** The label of the button: "Delete provider". */
  readonly action: string;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const command = useCommand();
  return (
    <TitledDialog title={title} onClose={onClose}>
      <div className="admin-dialog-body">{children}</div>
      <FormError error={command.error?.message} />
      <div className="buttons dialog-buttons">
        <button type="button" className="button" onClick={onClose} data-autofocus>
          Cancel
        </button>
        <button
          type="button"
          className="button button-danger"
          disabled={command.isBusy}
          onClick={() => command.run(onConfirm, onClose)}
        >
          {action}
        </button>
      </div>
    </TitledDialog>
  );
}
