/** Creates a token, and shows it once. */
import { useState } from 'react';
import { FormError } from '../components/FormError';
import { FormDialog } from '../components/form/FormDialog';
import { SelectField, TextField } from '../components/form/fields';
import type { Option } from '../components/form/fields';
import { isAbout } from '../components/form/FormField';
import { useCommand } from '../components/useCommand';
import { useData } from '../hooks/BolideProvider';
import { NewSecret } from './NewSecret';
import { newFields, tokenTexts } from './tokenForm';
import { TOKEN_FIELDS, TokenFields } from './TokenFields';

const SCOPES = [
  { value: 'generate', label: 'Call models', hint: 'Responses, chats, runs' },
  { value: 'read', label: 'Read', hint: 'Models, runs, usage' },
  { value: 'approve', label: 'Approve tool calls', hint: 'Also of runs that it starts itself' },
  { value: 'admin', label: 'Administer', hint: 'Everything, also for other users' },
] as const;

type Scope = (typeof SCOPES)[number]['value'];

const DAY_MS = 86_400_000;
const NEVER = 'never';
const LIFETIMES: readonly Option[] = [
  { value: String(7 * DAY_MS), label: 'In 7 days' },
  { value: String(30 * DAY_MS), label: 'In 30 days' },
  { value: String(90 * DAY_MS), label: 'In 90 days' },
  { value: String(365 * DAY_MS), label: 'In a year' },
  { value: NEVER, label: 'Never' },
];

/** With the default of the server, if it is none of the others. */
function lifetimesWith(lifetime: string): typeof LIFETIMES {
  return LIFETIMES.some(({ value }) => value === lifetime)
    ? LIFETIMES
    : [{ value: lifetime, label: `In ${Math.round(Number(lifetime) / DAY_MS)} days` }, ...LIFETIMES];
}

const EMPTY = tokenTexts();

interface TokenDialogProps {
  readonly isAdmin: boolean;
  /** Milliseconds, or `never`. */
  readonly defaultLifetime: number | 'never';
  readonly onClose: () => void;
}

export function TokenDialog({ isAdmin, defaultLifetime, onClose }: TokenDialogProps) {
  const data = useData();
  const command = useCommand();
  const { error } = command;
  const [texts, setTexts] = useState(EMPTY);
  const [scopes, setScopes] = useState<readonly Scope[]>(['generate', 'read']);
  const [lifetime, setLifetime] = useState(String(defaultLifetime));
  const [userId, setUserId] = useState('');
  const [token, setToken] = useState<string>();
  const submit = (): void =>
    command.run(
      () =>
        data.call('ai.tokens.create', {
          ...newFields(texts),
          scopes,
          expiresAt: lifetime === NEVER ? NEVER : Date.now() + Number(lifetime),
          ...(userId.trim() === '' ? {} : { userId: userId.trim() }),
        }),
      (created) => setToken(created.token),
    );
  if (token !== undefined) return <NewSecret title="Your new token" token={token} onClose={onClose} />;
  return (
    <FormDialog
      title="New token"
      command={command}
      fields={[...TOKEN_FIELDS, 'scopes', 'expiresAt', 'userId']}
      action="Create token"
      onSubmit={submit}
      onClose={onClose}
    >
      <TokenFields texts={texts} error={error} isAdmin={isAdmin} hasLimits isOpen={false} onChange={setTexts} />
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
      <SelectField
        label="Expires"
        path="expiresAt"
        error={error}
        value={lifetime}
        options={lifetimesWith(String(defaultLifetime))}
        onChange={setLifetime}
      />
      {isAdmin && (
        <TextField
          label="Owner"
          path="userId"
          error={error}
          hint="A user id. Empty: you."
          value={userId}
          onChange={setUserId}
        />
      )}
    </FormDialog>
  );
}
