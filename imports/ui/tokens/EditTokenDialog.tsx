/** Changes a token's name, team, tags and limits. */
import { useState } from 'react';
import { FormDialog } from '../components/form/FormDialog';
import { useCommand } from '../components/useCommand';
import { useData } from '../hooks/BolideProvider';
import type { ApiTokenView } from './ApiTokenView';
import { changedFields, tokenTexts } from './tokenForm';
import { TOKEN_FIELDS, TokenFields } from './TokenFields';

export function EditTokenDialog({
  token,
  isAdmin,
  onClose,
}: {
  readonly token: ApiTokenView;
  readonly isAdmin: boolean;
  readonly onClose: () => void;
}) {
  const data = useData();
  const command = useCommand();
  const [before] = useState(() => tokenTexts(token));
  const [texts, setTexts] = useState(before);
  const change = changedFields(texts, before);
  return (
    <FormDialog
      title={`Change ${token.name}`}
      command={command}
      fields={TOKEN_FIELDS}
      action="Save token"
      isIncomplete={Object.keys(change).length === 0}
      onSubmit={() =>
        command.run(() => data.call('ai.tokens.update', { id: token._id, userId: token.userId, ...change }), onClose)
      }
      onClose={onClose}
    >
      <TokenFields
        texts={texts}
        error={command.error}
        isAdmin={isAdmin}
        hasLimits={isAdmin || token.isManaged !== true}
        isOpen
        onChange={setTexts}
      />
    </FormDialog>
  );
}
