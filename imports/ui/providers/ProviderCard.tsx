/** One provider: its health, and what the user may do with it. */
import { useEffect, useRef, useState } from 'react';
import type { ReactNode } from 'react';
import { VENDOR_LABELS } from '../../business/ai/domain/types/VendorTypes';
import type { VendorName } from '../../business/ai/domain/types/VendorTypes';
import type { ProviderHealth, VendorInfo } from '../../business/ai/domain/types/ProviderViews';
import type { PublicProvider } from '../../business/providers/domain/entities/PublicProvider';
import { Icon } from '../components/Icon';
import { useNow } from '../components/useNow';
import { formatDuration, formatRelativeTime } from '../format/format';
import { healthStatus } from './healthStatus';
import { ProviderActions } from './ProviderActions';

export function ProviderCard({
  provider,
  health,
  vendors,
  isAdmin,
  isNew,
}: {
  readonly provider: PublicProvider;
  readonly health: ProviderHealth | undefined;
  readonly vendors: readonly VendorInfo[];
  readonly isAdmin: boolean;
  /** Was added a moment ago, and takes the focus. */
  readonly isNew: boolean;
}) {
  const { _id, name, vendor, auth, defaultModel, allowedModels, configured } = provider;
  const now = useNow(5_000);
  const [message, setMessage] = useState<{ readonly text: string; readonly isError: boolean }>();
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (isNew) heading.current?.focus();
  }, [isNew]);
  const status = healthStatus(provider, health, now);
  return (
    <li className="card provider-card" data-provider={_id}>
      <div className="provider-head">
        <span className={`monogram tone-${VENDOR_TONES[vendor] ?? 'grey'}`} aria-hidden="true">
          {String.fromCodePoint(name.codePointAt(0) ?? 0x20).toUpperCase()}
        </span>
        <div>
          <h2 ref={heading} tabIndex={-1}>
            <bdi>{name}</bdi>
          </h2>
          <p className="muted">
            {VENDOR_LABELS[vendor]}
            {_id !== name && (
              <>
                {' · '}
                <span className="mono">{_id}</span>
              </>
            )}
          </p>
        </div>
        <span className={`badge tone-${status.tone}`}>
          <Icon name={status.icon} />
          {status.label}
        </span>
      </div>
      <dl className="provider-facts">
        <Fact name="Default model">{defaultModel ?? 'Vendor’s default'}</Fact>
        {allowedModels !== undefined && allowedModels.length > 0 && (
          <Fact name="Allowed models">{allowedModels.join(', ')}</Fact>
        )}
        <Fact name="Credentials">{configured === true ? 'In the server’s settings' : CREDENTIALS[auth.kind]}</Fact>
        <Fact name="Last success">
          {health?.lastSuccessAt === undefined ? 'None known' : formatRelativeTime(health.lastSuccessAt, now)}
        </Fact>
        {health?.lastError !== undefined && (
          <Fact name="Last error">
            <span className="mono">{health.lastError.code}</span> {formatRelativeTime(health.lastError.at, now)}
            {health.lastError.message !== undefined && <bdi className="fact-detail">{health.lastError.message}</bdi>}
          </Fact>
        )}
        {health?.opensAt !== undefined && (
          <Fact name="Called again">in {formatDuration(Math.max(0, health.opensAt - now))}</Fact>
        )}
        {health?.p50 !== undefined && <Fact name="Median latency">{formatDuration(health.p50)}</Fact>}
      </dl>
      <p className={message?.isError === true ? 'form-error' : 'provider-message'} role="status">
        {message?.text}
      </p>
      <ProviderActions provider={provider} vendors={vendors} isAdmin={isAdmin} onMessage={setMessage} />
    </li>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
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

const CREDENTIALS = {
  api_key: 'Shared API key',
  user_api_key: 'Your own API key',
  oauth_app: 'App’s account',
  oauth_user: 'Your account',
} as const satisfies Record<PublicProvider['auth']['kind'], string>;
