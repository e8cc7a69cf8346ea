/** Who may use a provider, and how much. */
import { SelectField, TextAreaField, TextField } from '../components/form/fields';
import type { CommandError } from '../components/useCommand';
import { WINDOWS } from './providerFields';
import type { ProviderForm } from './providerFields';

const ACCESS = [
  { value: 'admins', label: 'Administrators' },
  { value: 'everyone', label: 'Everyone' },
  { value: 'list', label: 'These users and roles' },
] as const;

export function AccessFields({
  form,
  error,
  onChange,
}: {
  readonly form: ProviderForm;
  readonly error: CommandError | undefined;
  readonly onChange: (changes: Partial<ProviderForm>) => void;
}) {
  const list = (name: 'users' | 'roles', label: string) => (
    <TextAreaField
      label={label}
      path={`access.${name}`}
      error={error}
      hint="One per line."
      value={form[name]}
      onChange={(value) => onChange({ [name]: value })}
    />
  );
  return (
    <>
      <SelectField
        label="Who may use it"
        path="access"
        error={error}
        value={form.access}
        options={ACCESS}
        onChange={(value) => onChange({ access: value as ProviderForm['access'] })}
      />
      {form.access === 'list' && (
        <>
          {list('users', 'Users')}
          {list('roles', 'Roles')}
        </>
      )}
      <TextField
        label="Requests per user"
        path="limits.requests"
        inputMode="numeric"
        placeholder="Unlimited"
        error={error}
        value={form.requests}
        onChange={(requests) => onChange({ requests })}
      />
      <TextField
        label="Tokens per user"
        path="limits.tokens"
        inputMode="numeric"
        placeholder="Unlimited"
        error={error}
        value={form.tokens}
        onChange={(tokens) => onChange({ tokens })}
      />
      {(form.requests !== '' || form.tokens !== '') && (
        <SelectField
          label="Window of these limits"
          path="limits.windowMs"
          error={error}
          value={form.windowMs}
          options={
            WINDOWS.some(({ value }) => value === form.windowMs)
              ? WINDOWS
              : [...WINDOWS, { value: form.windowMs, label: `per ${Number(form.windowMs) / 1_000} s` }]
          }
          onChange={(windowMs) => onChange({ windowMs })}
        />
      )}
    </>
  );
}
