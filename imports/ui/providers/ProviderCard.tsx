/** One provider: whether it can be used, and the buttons that change that. */
import { useCallback, useState } from 'react';
import { VENDOR_LABELS } from '../../business/ai/domain/types/VendorTypes';
import type { VendorName } from '../../business/ai/domain/types/VendorTypes';
import type { PublicProvider } from '../../business/providers/domain/entities/PublicProvider';
import { useData } from '../data/DataContext';
import { Icon } from '../components/Icon';
import type { IconName } from '../components/Icon';
import { useAction } from '../components/useAction';

export function ProviderCard({ provider }: { readonly provider: PublicProvider }) {
  const { commands } = useData();
  const { _id, name, vendor, auth, defaultModel, allowedModels } = provider;
  const [said, setSaid] = useState<string>();
  const connect = useAction(
    useCallback(async () => {
      const url = await commands.connectProvider(_id);
      if (url !== undefined) window.location.assign(url);
    }, [commands, _id]),
  );
  const disconnect = useAction(useCallback(() => commands.disconnectProvider(_id), [commands, _id]));
  const test = useAction(
    useCallback(async () => {
      setSaid(undefined);
      setSaid(await commands.testProvider(_id));
    }, [commands, _id]),
  );
  const standing = standingOf(provider);
  const error = connect.error ?? disconnect.error ?? test.error;
  const isOAuth = auth.kind === 'oauth_user';
  return (
    <li className="card provider-card" data-provider={_id}>
      <div className="provider-head">
        <span className={`monogram tone-${VENDOR_TONES[vendor] ?? 'grey'}`} aria-hidden="true">
          {name.slice(0, 1).toUpperCase()}
        </span>
        <div>
          <h2>{name}</h2>
          <p className="muted">{VENDOR_LABELS[vendor]}</p>
        </div>
        <span className={`badge tone-${standing.tone}`}>
          <Icon name={standing.icon} />
          {standing.label}
        </span>
      </div>
      <dl className="provider-facts">
        <div>
          <dt>Default model</dt>
          <dd>{defaultModel ?? 'the vendor’s'}</dd>
        </div>
        {allowedModels !== undefined && allowedModels.length > 0 && (
          <div>
            <dt>Models</dt>
            <dd>{allowedModels.join(', ')}</dd>
          </div>
        )}
        <div>
          <dt>Sign-in</dt>
          <dd>{AUTH_WORDS[auth.kind]}</dd>
        </div>
      </dl>
      <p className="provider-said" role="status">
        {test.isBusy ? 'Asking…' : said}
      </p>
      {error !== undefined && (
        <p className="form-error" role="alert">
          {error}
        </p>
      )}
      <div className="buttons">
        {isOAuth && (!provider.connected || provider.needsReconnect) && (
          <button
            type="button"
            className="button button-primary"
            onClick={() => connect.run()}
            disabled={connect.isBusy || !provider.enabled}
          >
            <Icon name="plug" /> {provider.needsReconnect ? 'Reconnect' : 'Connect'}
          </button>
        )}
        <button type="button" className="button" onClick={() => test.run()} disabled={test.isBusy || !provider.enabled}>
          Test
        </button>
        {isOAuth && provider.connected && (
          <button
            type="button"
            className="button button-quiet"
            onClick={() => disconnect.run()}
            disabled={disconnect.isBusy}
          >
            Disconnect
          </button>
        )}
      </div>
    </li>
  );
}

function standingOf({ enabled, connected, needsReconnect }: PublicProvider): {
  readonly tone: string;
  readonly icon: IconName;
  readonly label: string;
} {
  if (!enabled) return { tone: 'grey', icon: 'stop', label: 'Off' };
  if (needsReconnect) return { tone: 'amber', icon: 'hand', label: 'Reconnect' };
  return connected
    ? { tone: 'green', icon: 'check', label: 'Ready' }
    : { tone: 'grey', icon: 'plug', label: 'Not connected' };
}

const VENDOR_TONES: Partial<Record<VendorName, string>> = {
  openai: 'green',
  azure_openai: 'blue',
  anthropic: 'orange',
  google: 'violet',
  groq: 'red',
  llama: 'pink',
  openai_compatible: 'amber',
};

const AUTH_WORDS = {
  api_key: 'the server’s key',
  user_api_key: 'a key of your own',
  oauth_app: 'the app’s account',
  oauth_user: 'your account, once connected',
} as const satisfies Record<PublicProvider['auth']['kind'], string>;
