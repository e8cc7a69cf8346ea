/** Sets the limits of a user, of a team, or of everyone. */
import { useState } from 'react';
import { FormDialog } from '../components/form/FormDialog';
import { TextField } from '../components/form/fields';
import { useCommand } from '../components/useCommand';
import { useData } from '../hooks/BolideProvider';
import { subjectOf } from './EditedBudget';
import type { EditedBudget } from './EditedBudget';
import { LimitFields } from './LimitFields';
import { limitsOf, textsOf } from './limitTexts';

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
  const [texts, setTexts] = useState(() => textsOf(edited?.current?.limits ?? {}));
  const who = edited === undefined ? undefined : (edited.userId ?? 'everyone');
  const submit = (): void => {
    const subject = subjectOf(edited ?? { userId: userId.trim() });
    command.run(
      () =>
        data.call('ai.budgets.set', {
          ...subject,
          limits: limitsOf(texts),
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
        <TextField label="User id" path="userId" error={error} value={userId} onChange={setUserId} />
      )}
      <LimitFields texts={texts} path="limits" error={error} onChange={setTexts} />
      <p className="form-hint">
        A call that would exceed a limit is refused until the window ends. A limit in dollars also refuses models whose
        price is unknown.
      </p>
    </FormDialog>
  );
}
