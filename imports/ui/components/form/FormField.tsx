/** A labelled control with a hint, and the server's objection to its value. */
import { useId } from 'react';
import type { ReactNode } from 'react';
import type { CommandError } from '../useCommand';

export interface ControlAttributes {
  readonly id: string;
  readonly 'aria-describedby'?: string | undefined;
  readonly 'aria-invalid'?: true | undefined;
}

export function FormField({
  label,
  hint,
  path,
  error,
  children,
}: {
  readonly label: string;
  readonly hint?: ReactNode;
  /** How the server names the field in errors; errors of fields within it count, too. */
  readonly path?: string;
  readonly error?: CommandError | undefined;
  readonly children: (attributes: ControlAttributes) => ReactNode;
}) {
  const id = useId();
  const problem = isAbout(error, path) ? error?.message : undefined;
  const described = [hint === undefined ? '' : `${id}-hint`, problem === undefined ? '' : `${id}-error`]
    .join(' ')
    .trim();
  return (
    <div className="form-field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        'aria-describedby': described || undefined,
        'aria-invalid': problem === undefined ? undefined : true,
      })}
      {hint !== undefined && (
        <p className="form-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {problem !== undefined && (
        <p className="form-error" id={`${id}-error`} role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

/** Whether the error is shown at the field, and not below the form. */
export function isAbout(error: CommandError | undefined, path: string | undefined): boolean {
  if (error?.path === undefined || path === undefined || path === '') return false;
  return error.path === path || error.path.startsWith(`${path}.`) || error.path.startsWith(`${path}[`);
}
