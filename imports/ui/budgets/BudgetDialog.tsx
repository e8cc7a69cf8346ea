/** Sets the limits of a user, or of everyone. */
import { useState } from 'react';
import type { Amount, BudgetLimits, BudgetWindow } from '../../business/ai/domain/entities/BudgetAccount';
import { FormDialog } from '../components/form/FormDialog';
import { FormField } from '../components/form/FormField';
import { useCommand } from '../components/useCommand';
import { useData } from '../hooks/BolideProvider';
import { AMOUNTS } from './describeLimits';
import type { EditedBudget } from './EditedBudget';

type FieldName = `${BudgetWindow}.${keyof Amount}`;
type Values = Readonly<Record<FieldName, string>>;

const WINDOWS = ['day', 'month'] as const;
const LABELS: Readonly<Record<keyof Amount, string>> = { money: 'US dollars', tokens: 'Tokens', calls: 'Model calls' };

/** @param edited undefined: a user who is named in the form */
export function BudgetDialog({
  edited,
  onClose,
}: {
  readonly edited: EditedBudget | undefined;
  readonly onClose: () => void;
}) {
  const data = useData();
  const command = useCommand();
  const { error } = command;
  const [userId, setUserId] = useState('');
  const [values, setValues] = useState<Values>(() => valuesOf(edited?.current?.limits ?? {}));
  const who = edited === undefined ? undefined : (edited.userId ?? 'everyone');
  const submit = (): void => {
    const owner = edited === undefined ? userId.trim() : edited.userId;
    command.run(
      () =>
        data.call('ai.budgets.set', {
          ...(owner === undefined ? {} : { userId: owner }),
          limits: limitsOf(values),
        }),
      onClose,
    );
  };
  return (
    <FormDialog
      title={who === undefined ? 'Set a user’s budget' : `Limits of ${who}`}
      command={command}
      fields={['limits', 'userId']}
      action="Save limits"
      isIncomplete={edited === undefined && userId.trim() === ''}
      onSubmit={submit}
      onClose={onClose}
    >
      {edited === undefined && (
        <FormField label="User id" path="userId" error={error}>
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
      {WINDOWS.map((window) => (
        <fieldset key={window} className="limit-fields">
          <legend>{window === 'day' ? 'A day (UTC)' : 'A month (UTC)'}</legend>
          {AMOUNTS.map((amount) => {
            const name: FieldName = `${window}.${amount}`;
            return (
              <FormField key={amount} label={LABELS[amount]} path={`limits.${name}`} error={error}>
                {(attributes) => (
                  <input
                    {...attributes}
                    inputMode="decimal"
                    placeholder="Unlimited"
                    autoComplete="off"
                    value={values[name]}
                    onChange={(event) => setValues({ ...values, [name]: event.target.value })}
                  />
                )}
              </FormField>
            );
          })}
        </fieldset>
      ))}
      <p className="form-hint">
        A call that would exceed a limit is refused until the window ends. A limit in dollars also refuses models whose
        price is unknown.
      </p>
    </FormDialog>
  );
}

function valuesOf(limits: BudgetLimits): Values {
  return Object.fromEntries(
    WINDOWS.flatMap((window) =>
      AMOUNTS.map((amount) => [`${window}.${amount}`, String(limits[window]?.[amount] ?? '')] as const),
    ),
  ) as Values;
}

/** A text that is no number is sent as it is, for the server to refuse. */
function limitsOf(values: Values): BudgetLimits {
  return Object.fromEntries(
    WINDOWS.map((window) => [
      window,
      Object.fromEntries(
        AMOUNTS.flatMap((amount) => {
          const text = values[`${window}.${amount}`].trim().replace(/^\$/, '');
          return text === '' ? [] : [[amount, Number.isNaN(Number(text)) ? text : Number(text)] as const];
        }),
      ),
    ]),
  );
}
