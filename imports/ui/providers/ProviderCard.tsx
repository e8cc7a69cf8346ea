/** One provider: its status, and the buttons to connect and test it. */
import { useCallback, useState } from 'react';
import { VENDOR_LABELS } from '../../business/ai/domain/types/VendorTypes';
import type { VendorName } from '../../business/ai/domain/types/VendorTypes';
import type { PublicProvider } from '../../business/providers/domain/entities/PublicProvider';
import { useData } from '../hooks/BolideProvider';
import { Icon } from '../components/Icon';
import type { IconName } from '../components/Icon';
import { useAction } from '../components/useAction';

export function ProviderCard({ provider }: { readonly provider: PublicProvider }) {
  const { commands } = useData();
  const { _id, name, vendor, auth, defaultModel, allowedModels } = provider;
  const [testResult, setTestResult] = useState<string>();
  const connect = useAction(
    useCallback(async () => {
      const url = await commands.connectProvider(_id);
      if (url !== undefined) window.location.assign(url);
    }, [commands, _id]),
  );
  const disconnect = useAction(useCallback(() => commands.disconnectProvider(_id), [commands, _id]));
  const test = useAction(
    useCallback(async () => {
      setTestResult(undefined);
      setTestResult(await commands.testProvider(_id));
    }, [commands, _id]),
  );
  const status = connectionStatus(provider);
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
        <span className={`badge tone-${status.tone}`}>
          <Icon name={status.icon} />
          {status.label}
        </span>
      </div>
      <dl className="provider-facts">
        <div>
          <dt>Default model</dt>
          <dd>{defaultModel ?? 'Vendor’s default'}</dd>
        </div>
        {allowedModels !== undefined && allowedModels.length > 0 && (
          <div>
            <dt>Allowed models</dt>
            <dd>{allowedModels.join(', ')}</dd>
          </div>
        )}
        <div>
          <dt>Credentials</dt>
          <dd>{AUTH_LABELS[auth.kind]}</dd>
        </div>
      </dl>
      <p className="provider-message" role="status">
        {test.isBusy ? 'Testing…' : testResult}
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

function connectionStatus({ enabled, connected, needsReconnect }: PublicProvider): {
  readonly tone: string;
  readonly icon: IconName;
  readonly label: string;
} {
  if (!enabled) return { tone: 'grey', icon: 'stop', label: 'Disabled' };
  if (needsReconnect) return { tone: 'amber', icon: 'hand', label: 'Needs reconnecting' };
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

const AUTH_LABELS = {
  api_key: 'Server’s API key',
  user_api_key: 'Your API key',
  oauth_app: 'App’s account',
  oauth_user: 'Your account',
} as const satisfies Record<PublicProvider['auth']['kind'], string>;
