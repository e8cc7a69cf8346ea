/** A dialog with a form for one command. Errors that no field shows are shown above its buttons. */
import type { ReactNode, SyntheticEvent } from 'react';
import { FormError } from '../FormError';
import { TitledDialog } from '../TitledDialog';
import type { Command } from '../useCommand';
import { isAbout } from './FormField';

export interface FormDialogProps {
  readonly title: string;
  readonly command: Pick<Command, 'isBusy' | 'error'>;
  /** Fields that show errors themselves, as the server names them. */
  readonly fields: readonly string[];
  /** The label of the button that submits the form. */
  readonly action: string;
  /** The form cannot be submitted yet. */
  readonly isIncomplete?: boolean;
  /** Fields beside each other. */
  readonly isGrid?: boolean;
  /** Other buttons, before the usual ones. */
  readonly buttons?: ReactNode;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function FormDialog({
  title,
  command: { isBusy, error },
  fields,
  action,
  isIncomplete = false,
  isGrid = false,
  buttons,
  onSubmit,
  onClose,
  children,
}: FormDialogProps) {
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    onSubmit();
  };
  const isShown = fields.some((path) => isAbout(error, path));
  return (
    <TitledDialog title={title} onClose={onClose}>
      <form className={isGrid ? 'form-grid' : 'dialog-form'} onSubmit={submit} noValidate>
        {children}
        <FormError error={isShown ? undefined : error?.message} />
        <div className="buttons dialog-buttons">
          {buttons}
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button button-primary" disabled={isBusy || isIncomplete}>
            {action}
          </button>
        </div>
      </form>
    </TitledDialog>
  );
}
