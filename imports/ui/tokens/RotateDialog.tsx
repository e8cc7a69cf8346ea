/** Replaces the secret of a token, and shows the new one once. */
import { useState } from 'react';
import { FormDialog } from '../components/form/FormDialog';
import { FormField } from '../components/form/FormField';
import { useCommand } from '../components/useCommand';
import { useData } from '../hooks/BolideProvider';
import type { ApiTokenView } from './ApiTokenView';
import { NewSecret } from './NewSecret';

const GRACE_PERIODS = [
  { seconds: 0, label: 'At once' },
  { seconds: 3_600, label: 'After an hour' },
  { seconds: 86_400, label: 'After a day' },
  { seconds: 7 * 86_400, label: 'After 7 days' },
] as const;

export function RotateDialog({ token, onClose }: { readonly token: ApiTokenView; readonly onClose: () => void }) {
  const data = useData();
  const command = useCommand();
  const [seconds, setSeconds] = useState(0);
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
          () => data.call('ai.tokens.rotate', { id, userId, graceSeconds: seconds }),
          (rotated) => setSecret(rotated.token),
        )
      }
      onClose={onClose}
    >
      <p>Its limits and its usage stay. Programs need the new secret once the old one has ended.</p>
      <FormField label="The old secret ends" path="graceSeconds" error={command.error}>
        {(attributes) => (
          <select {...attributes} value={seconds} onChange={(event) => setSeconds(Number(event.target.value))}>
            {GRACE_PERIODS.map((period) => (
              <option key={period.seconds} value={period.seconds}>
                {period.label}
              </option>
            ))}
          </select>
        )}
      </FormField>
    </FormDialog>
  );
}
