/** Text fields and choices of the provider's form. */
import type { ReactNode } from 'react';
import { FormField } from '../components/form/FormField';
import type { CommandError } from '../components/useCommand';

interface FieldProps {
  readonly label: string;
  readonly path?: string;
  readonly hint?: ReactNode;
  readonly error: CommandError | undefined;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

export function TextField({
  placeholder,
  required = false,
  isNumber = false,
  value,
  onChange,
  ...field
}: FieldProps & { readonly placeholder?: string; readonly required?: boolean; readonly isNumber?: boolean }) {
  return (
    <FormField {...field}>
      {(attributes) => (
        <input
          {...attributes}
          type="text"
          {...(isNumber ? { inputMode: 'numeric' as const } : {})}
          value={value}
          required={required}
          placeholder={placeholder}
          autoComplete="off"
          spellCheck={false}
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

export function SelectField({
  options,
  disabled = false,
  value,
  onChange,
  ...field
}: FieldProps & {
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly disabled?: boolean;
}) {
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
