/** Replaces the secret of a token, and shows the new one once. */
import { useState } from 'react';
import { FormDialog } from '../components/form/FormDialog';
import { SelectField } from '../components/form/fields';
import { useCommand } from '../components/useCommand';
import { useData } from '../hooks/BolideProvider';
import type { ApiTokenView } from './ApiTokenView';
import { NewSecret } from './NewSecret';

const GRACE_PERIODS = [
  { value: '0', label: 'At once' },
  { value: '3600', label: 'After an hour' },
  { value: '86400', label: 'After a day' },
  { value: '604800', label: 'After 7 days' },
] as const;

export function RotateDialog({ token, onClose }: { readonly token: ApiTokenView; readonly onClose: () => void }) {
  const data = useData();
  const command = useCommand();
  const [seconds, setSeconds] = useState('0');
  const [secret, setSecret] = useState<string>();
  const { _id: id, userId, name } = token;
  if (secret !== undefined) return <NewSecret title={`The new secret of ${name}`} token={secret} onClose={onClose} />;
  return (
    <FormDialog
      title={`Rotate ${name}?`}
      command={command}
      fields={['graceSeconds']}
      action="Rotate token"
      onSubmit={() =>
        command.run(
          () => data.call('ai.tokens.rotate', { id, userId, graceSeconds: Number(seconds) }),
          (rotated) => setSecret(rotated.token),
        )
      }
      onClose={onClose}
    >
      <p>Its limits and its usage stay. Programs need the new secret once the old one has ended.</p>
      <SelectField
        label="The old secret ends"
        path="graceSeconds"
        error={command.error}
        value={seconds}
        options={GRACE_PERIODS}
        onChange={setSeconds}
      />
    </FormDialog>
  );
}
