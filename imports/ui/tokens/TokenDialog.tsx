/** Creates a token, and shows it once. */
import { useState } from 'react';
import { CopyButton } from '../components/CopyButton';
import { FormError } from '../components/FormError';
import { TitledDialog } from '../components/TitledDialog';
import { FormDialog } from '../components/form/FormDialog';
import { FormField, isAbout } from '../components/form/FormField';
import { useCommand } from '../components/useCommand';
import { useData } from '../hooks/BolideProvider';

const SCOPES = [
  { value: 'generate', label: 'Call models', hint: 'Responses, chats, runs' },
  { value: 'read', label: 'Read', hint: 'Models, runs, usage' },
  { value: 'admin', label: 'Administer', hint: 'Everything, also for other users' },
] as const;

const DAY_MS = 86_400_000;
const LIFETIMES = [
  { value: '', label: 'Never' },
  { value: String(7 * DAY_MS), label: 'In 7 days' },
  { value: String(30 * DAY_MS), label: 'In 30 days' },
  { value: String(90 * DAY_MS), label: 'In 90 days' },
  { value: String(365 * DAY_MS), label: 'In a year' },
] as const;

export function TokenDialog({ isAdmin, onClose }: { readonly isAdmin: boolean; readonly onClose: () => void }) {
  const data = useData();
  const command = useCommand();
  const { error } = command;
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<readonly string[]>(['generate', 'read']);
  const [lifetime, setLifetime] = useState('');
  const [userId, setUserId] = useState('');
  const [token, setToken] = useState<string>();
  const submit = (): void =>
    command.run(
      () =>
        data.call('ai.tokens.create', {
          name: name.trim(),
          scopes,
          ...(lifetime === '' ? {} : { expiresAt: Date.now() + Number(lifetime) }),
          ...(userId.trim() === '' ? {} : { userId: userId.trim() }),
        }),
      (created) => setToken(created.token),
    );
  if (token !== undefined)
    return (
      <TitledDialog title="Your new token" onClose={onClose}>
        <div className="admin-dialog-body">
          <p>Copy it now: it is not stored, and cannot be shown again.</p>
          <div className="secret-once">
            <code data-new-token>{token}</code>
            <CopyButton text={token} label="token" />
          </div>
          <p className="muted">
            Send it as <code>Authorization: Bearer …</code>, or as the API key of a vendor’s SDK with this server as
            base URL.
          </p>
        </div>
        <div className="buttons dialog-buttons">
          <button type="button" className="button button-primary" onClick={onClose}>
            Done
          </button>
        </div>
      </TitledDialog>
    );
  return (
    <FormDialog
      title="New token"
      command={command}
      fields={['name', 'scopes', 'expiresAt', 'userId']}
      action="Create token"
      onSubmit={submit}
      onClose={onClose}
    >
      <FormField label="Name" path="name" error={error} hint="What will use it, such as nightly-report.">
        {(attributes) => (
          <input
            {...attributes}
            value={name}
            maxLength={100}
            autoComplete="off"
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </FormField>
      <fieldset className="choices">
        <legend>It may</legend>
        {SCOPES.filter(({ value }) => isAdmin || value !== 'admin').map(({ value, label, hint }) => (
          <label key={value} className="choice">
            <input
              type="checkbox"
              checked={scopes.includes(value)}
              onChange={({ target }) =>
                setScopes(target.checked ? [...scopes, value] : scopes.filter((scope) => scope !== value))
              }
            />
            <span>
              {label} <span className="muted">{hint}</span>
            </span>
          </label>
        ))}
        <FormError error={isAbout(error, 'scopes') ? error?.message : undefined} />
      </fieldset>
      <FormField label="Expires" path="expiresAt" error={error}>
        {(attributes) => (
          <select {...attributes} value={lifetime} onChange={(event) => setLifetime(event.target.value)}>
            {LIFETIMES.map((option) => (
              <option key={option.value} value={option.value}>
                {option.label}
              </option>
            ))}
          </select>
        )}
      </FormField>
      {isAdmin && (
        <FormField label="Owner" path="userId" error={error} hint="A user id. Empty: you.">
          {(attributes) => (
            <input
              {...attributes}
              value={userId}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => setUserId(event.target.value)}
            />
          )}
        </FormField>
      )}
    </FormDialog>
  );
}
