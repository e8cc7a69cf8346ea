/** The fields of forms: text of one line and of several, secrets, choices. */
import type { HTMLAttributes, ReactNode } from 'react';
import type { CommandError } from '../useCommand';
import { FormField } from './FormField';

interface FieldProps {
  readonly label: string;
  readonly path?: string;
  readonly hint?: ReactNode;
  readonly error: CommandError | undefined;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Text that the browser neither completes nor, unless asked, corrects. */
export function TextField({
  placeholder,
  required = false,
  inputMode,
  spellCheck = false,
  value,
  onChange,
  ...field
}: FieldProps &
  Pick<HTMLAttributes<HTMLElement>, 'inputMode' | 'spellCheck'> & {
    readonly placeholder?: string | undefined;
    readonly required?: boolean;
  }) {
  return (
    <FormField {...field}>
      {(attributes) => (
        <input
          {...attributes}
          type="text"
          inputMode={inputMode}
          value={value}
          required={required}
          placeholder={placeholder}
          autoComplete="off"
          spellCheck={spellCheck}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </FormField>
  );
}

/** @param props `isCode`: names and values, each on a line of its own */
export function TextAreaField({
  rows = 2,
  isCode = false,
  spellCheck,
  disabled,
  value,
  onChange,
  ...field
}: FieldProps &
  Pick<HTMLAttributes<HTMLElement>, 'spellCheck'> & {
    readonly rows?: number;
    readonly isCode?: boolean;
    readonly disabled?: boolean;
  }) {
  return (
    <FormField {...field}>
      {(attributes) => (
        <textarea
          {...attributes}
          className={isCode ? 'mono' : undefined}
          rows={rows}
          disabled={disabled}
          autoComplete={isCode ? 'off' : undefined}
          spellCheck={isCode ? false : spellCheck}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </FormField>
  );
}

/** A credential: never shown, and not offered to the browser's password manager. */
export function SecretField({
  placeholder,
  value,
  onChange,
  ...field
}: FieldProps & { readonly placeholder?: string }) {
  return (
    <FormField {...field}>
      {(attributes) => (
        <input
          {...attributes}
          type="password"
          value={value}
          placeholder={placeholder}
          autoComplete="new-password"
          spellCheck={false}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </FormField>
  );
}

export interface Option {
  readonly value: string;
  readonly label: string;
}

export function SelectField({
  options,
  disabled = false,
  value,
  onChange,
  ...field
}: FieldProps & { readonly options: readonly Option[]; readonly disabled?: boolean }) {
  return (
    <FormField {...field}>
      {(attributes) => (
        <select {...attributes} value={value} disabled={disabled} onChange={(event) => onChange(event.target.value)}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </FormField>
  );
}
