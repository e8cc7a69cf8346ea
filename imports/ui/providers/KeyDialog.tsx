/** Enters, replaces or removes an API key: one's own, or the shared one. A stored key is never shown. */
import { useState } from 'react';
import type { PublicProvider } from '../../business/providers/domain/entities/PublicProvider';
import { FormDialog } from '../components/form/FormDialog';
import { SecretField } from '../components/form/fields';
import { useCommand } from '../components/useCommand';
import { useData } from '../hooks/BolideProvider';

export function KeyDialog({ provider, onClose }: { readonly provider: PublicProvider; readonly onClose: () => void }) {
  const data = useData();
  const [apiKey, setApiKey] = useState('');
  const command = useCommand();
  const { _id: providerId, name, auth, connected } = provider;
  const isOwn = auth.kind === 'user_api_key';
  const save = (key: string | null): void =>
    command.run(
      () => data.call(isOwn ? 'ai.providers.setMyApiKey' : 'ai.providers.setApiKey', { providerId, apiKey: key }),
      onClose,
    );
  return (
    <FormDialog
      title={isOwn ? `Your key for ${name}` : `Key of ${name}`}
      command={command}
      fields={['apiKey']}
      action="Save key"
      isIncomplete={apiKey.trim() === ''}
      buttons={
        <>
          {connected && (
            <button type="button" className="button button-danger" disabled={command.isBusy} onClick={() => save(null)}>
              Remove stored key
            </button>
          )}
          <span className="spacer" />
        </>
      }
      onSubmit={() => save(apiKey.trim())}
      onClose={onClose}
    >
      <SecretField
        label="API key"
        path="apiKey"
        hint={
          isOwn
            ? 'Stored encrypted, used for your calls only, and never shown again.'
            : 'Stored encrypted, used for everyone’s calls, and never shown again.'
        }
        placeholder={connected ? 'Stored. Enter another one to replace it' : ''}
        error={command.error}
        value={apiKey}
        onChange={setApiKey}
      />
    </FormDialog>
  );
}
