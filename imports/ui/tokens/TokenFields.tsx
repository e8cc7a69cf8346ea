/** The fields of a token that can be changed later: its name, and folded its team, tags and limits. */
import { LimitFields } from '../budgets/LimitFields';
import { TextField } from '../components/form/fields';
import { isAbout } from '../components/form/FormField';
import type { CommandError } from '../components/useCommand';
import { RATES } from './tokenForm';
import type { TokenTexts } from './tokenForm';

/** Fields that show errors themselves, as the server names them. */
export const TOKEN_FIELDS = ['name', 'team', 'tags', 'models', 'tools', 'budgets', 'rateLimits'];

const RATE_LABELS = {
  requestsPerMinute: 'Requests a minute',
  tokensPerMinute: 'Tokens a minute',
  parallel: 'At the same time',
} as const satisfies Record<(typeof RATES)[number], string>;

export function TokenFields({
  texts,
  error,
  isAdmin,
  hasLimits,
  isOpen,
  onChange,
}: {
  readonly texts: TokenTexts;
  readonly error: CommandError | undefined;
  readonly isAdmin: boolean;
  /** The limits may be changed. */
  readonly hasLimits: boolean;
  /** The folded fields are shown at first. */
  readonly isOpen: boolean;
  readonly onChange: (texts: TokenTexts) => void;
}) {
  const text = (name: 'name' | 'team' | 'tags' | 'models' | 'tools', label: string, hint: string) => (
    <TextField
      label={label}
      path={name}
      error={error}
      hint={hint}
      value={texts[name]}
      onChange={(value) => onChange({ ...texts, [name]: value })}
    />
  );
  const isObjected = TOKEN_FIELDS.slice(1).some((path) => isAbout(error, path));
  return (
    <>
      {text('name', 'Name', 'What will use it, such as nightly-report.')}
      <details className="token-limits" open={isOpen || isObjected}>
        <summary>Limits</summary>
        <div className="token-limit-fields">
          {hasLimits && text('models', 'Models', 'Names or patterns, such as openai/*, claude-*. Empty: all.')}
          {hasLimits &&
            text('tools', 'Tools', 'Names, of tools at vendors as hosted:web_search. Empty: all; the word none: none.')}
          {isAdmin && text('team', 'Team', 'Whose budget it is charged to as well.')}
          {text('tags', 'Tags', 'Separated by commas.')}
          {hasLimits ? (
            <>
              <LimitFields
                texts={texts.budgets}
                path="budgets"
                error={error}
                onChange={(budgets) => onChange({ ...texts, budgets })}
              />
              <fieldset className="limit-fields">
                <legend>Rates</legend>
                {RATES.map((name) => (
                  <TextField
                    key={name}
                    label={RATE_LABELS[name]}
                    path={`rateLimits.${name}`}
                    error={error}
                    inputMode="numeric"
                    placeholder="Unlimited"
                    value={texts.rates[name]}
                    onChange={(value) => onChange({ ...texts, rates: { ...texts.rates, [name]: value } })}
                  />
                ))}
              </fieldset>
            </>
          ) : (
            <p className="form-hint">An administrator has set the limits of this token.</p>
          )}
        </div>
      </details>
    </>
  );
}
