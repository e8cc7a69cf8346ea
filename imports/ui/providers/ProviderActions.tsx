/** The buttons of a provider. */
import { useState } from 'react';
import type { VendorInfo } from '../../business/ai/domain/types/ProviderViews';
import type { ProviderDetails } from '../../business/providers/domain/entities/ProviderDetails';
import type { PublicProvider } from '../../business/providers/domain/entities/PublicProvider';
import { ConfirmDialog } from '../components/ConfirmDialog';
import { Icon } from '../components/Icon';
import { formatDuration, pluralize } from '../format/format';
import { useData } from '../hooks/BolideProvider';
import { KeyDialog } from './KeyDialog';
import { ProviderFormDialog } from './ProviderFormDialog';

interface Message {
  readonly text: string;
  readonly isError: boolean;
}

type Opened =
  | { readonly kind: 'key' }
  | { readonly kind: 'edit' | 'remove' | 'disable'; readonly details: ProviderDetails };

export function ProviderActions({
  provider,
  vendors,
  isAdmin,
  onMessage,
}: {
  readonly provider: PublicProvider;
  readonly vendors: readonly VendorInfo[];
  readonly isAdmin: boolean;
  readonly onMessage: (message: Message | undefined) => void;
}) {
  const data = useData();
  const [opened, setOpened] = useState<Opened>();
  const [isBusy, setBusy] = useState(false);
  const { _id: providerId, name, auth, enabled, connected, needsReconnect, configured } = provider;
  const isEditable = isAdmin && configured !== true;
  const hasKey = auth.kind === 'user_api_key' || (isEditable && auth.kind === 'api_key');
  const attempt = async (busy: string, work: () => Promise<string | undefined>): Promise<void> => {
    setBusy(true);
    onMessage({ text: busy, isError: false });
    try {
      const text = await work();
      onMessage(text === undefined ? undefined : { text, isError: false });
    } catch (error) {
      onMessage({ text: error instanceof Error ? error.message : String(error), isError: true });
    }
    setBusy(false);
  };
  const test = (): Promise<void> =>
    attempt('Testing…', async () => {
      const start = performance.now();
      await data.call('ai.providers.test', { providerId });
      return `The vendor accepted the credential in ${formatDuration(performance.now() - start)}.`;
    });
  const connect = (): Promise<void> =>
    attempt('Connecting…', async () => {
      window.location.assign(await data.call('ai.providers.connect', { providerId }));
      return undefined;
    });
  const disconnect = (): Promise<void> =>
    attempt('Disconnecting…', async () => {
      await data.call('ai.providers.disconnect', { providerId });
      return 'Your account is disconnected.';
    });
  const open = (kind: 'edit' | 'remove' | 'disable'): Promise<void> =>
    attempt('Loading…', async () => {
      const details = await data.call('ai.providers.get', { providerId });
      setOpened({ kind, details });
      return undefined;
    });
  const setEnabled = (value: boolean): Promise<unknown> =>
    data.call('ai.providers.update', { providerId, enabled: value });
  const close = (): void => setOpened(undefined);
  const button = (label: string, run: () => void, style = '') => (
    <button
      type="button"
      className={`button button-small ${style}`}
      onClick={run}
      disabled={isBusy}
      aria-label={`${label}: ${name}`}
    >
      {label}
    </button>
  );
  return (
    <div className="buttons provider-buttons">
      {auth.kind === 'oauth_user' && (!connected || needsReconnect) && enabled && (
        <button
          type="button"
          className="button button-small button-primary"
          onClick={() => void connect()}
          disabled={isBusy}
        >
          <Icon name="plug" /> {needsReconnect ? 'Reconnect' : 'Connect'}
        </button>
      )}
      {hasKey &&
        button(
          connected ? 'Replace key' : 'Enter key',
          () => setOpened({ kind: 'key' }),
          connected ? '' : 'button-primary',
        )}
      {enabled && connected && button('Test', () => void test())}
      {isEditable && button('Edit', () => void open('edit'))}
      {isEditable &&
        (enabled
          ? button('Disable', () => void open('disable'))
          : button(
              'Enable',
              () =>
                void attempt('Enabling…', async () => {
                  await setEnabled(true);
                  return undefined;
                }),
            ))}
      {auth.kind === 'oauth_user' && connected && button('Disconnect', () => void disconnect())}
      {isEditable && button('Delete', () => void open('remove'), 'button-danger')}
      {opened?.kind === 'key' && <KeyDialog provider={provider} onClose={close} />}
      {opened?.kind === 'edit' && <ProviderFormDialog vendors={vendors} provider={opened.details} onClose={close} />}
      {opened?.kind === 'remove' && (
        <ConfirmDialog
          title={`Delete ${name}?`}
          action="Delete provider"
          onConfirm={() => data.call('ai.providers.remove', { providerId })}
          onClose={close}
        >
          <p>Calls to it are refused from then on. This cannot be undone.</p>
          <Consequences details={opened.details} isRemoval />
        </ConfirmDialog>
      )}
      {opened?.kind === 'disable' && (
        <ConfirmDialog
          title={`Disable ${name}?`}
          action="Disable provider"
          onConfirm={() => setEnabled(false)}
          onClose={close}
        >
          <p>Calls to it are refused until it is enabled again.</p>
          <Consequences details={opened.details} isRemoval={false} />
        </ConfirmDialog>
      )}
    </div>
  );
}

/** What stops working. */
function Consequences({ details, isRemoval }: { readonly details: ProviderDetails; readonly isRemoval: boolean }) {
  const { unfinishedRuns, connectedUsers, hasKey } = details;
  return (
    <ul className="consequences">
      {unfinishedRuns > 0 && (
        <li>
          {pluralize(unfinishedRuns, 'unfinished run')} {unfinishedRuns === 1 ? 'uses' : 'use'} it and will fail with
          the next call.
        </li>
      )}
      {isRemoval && connectedUsers > 0 && (
        <li>{pluralize(connectedUsers, 'user')} will lose the key or account stored for it.</li>
      )}
      {isRemoval && hasKey && <li>The stored API key is deleted.</li>}
    </ul>
  );
}
