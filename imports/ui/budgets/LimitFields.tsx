/** The fields of a budget: dollars, tokens and calls of a day and of a month. */
import type { Amount } from '../../business/ai/domain/entities/BudgetAccount';
import { TextField } from '../components/form/fields';
import type { CommandError } from '../components/useCommand';
import { AMOUNTS } from './describeLimits';
import { WINDOWS } from './limitTexts';
import type { LimitName, LimitTexts } from './limitTexts';

const LABELS: Readonly<Record<keyof Amount, string>> = { money: 'US dollars', tokens: 'Tokens', calls: 'Model calls' };

export function LimitFields({
  texts,
  path,
  error,
  onChange,
}: {
  readonly texts: LimitTexts;
  /** The field of the operation's argument. */
  readonly path: string;
  readonly error: CommandError | undefined;
  readonly onChange: (texts: LimitTexts) => void;
}) {
  return WINDOWS.map((window) => (
    <fieldset key={window} className="limit-fields">
      <legend>{window === 'day' ? 'A day (UTC)' : 'A month (UTC)'}</legend>
      {AMOUNTS.map((amount) => {
        const name: LimitName = `${window}.${amount}`;
        return (
          <TextField
            key={amount}
            label={LABELS[amount]}
            path={`${path}.${name}`}
            error={error}
            inputMode="decimal"
            placeholder="Unlimited"
            value={texts[name]}
            onChange={(value) => onChange({ ...texts, [name]: value })}
          />
        );
      })}
    </fieldset>
  ));
}
