/** The API tokens that programs use: one's own, and for admins everyone's. */
import { useState } from 'react';
import { ConfirmDialog } from '../components/ConfirmDialog';
import { EmptyState } from '../components/EmptyState';
import { Icon } from '../components/Icon';
import { PageTitle } from '../components/PageTitle';
import { useIsAdmin } from '../components/useIsAdmin';
import { useNow } from '../components/useNow';
import { WhenLoaded } from '../components/WhenLoaded';
import type { ApiTokenView } from '../data/operations';
import { formatDateTime, formatRelativeTime } from '../format/format';
import { useData } from '../hooks/BolideProvider';
import { TokenDialog } from './TokenDialog';

export function TokensPage() {
  const data = useData();
  const isAdmin = useIsAdmin();
  const loaded = data.useQuery('ai.tokens.list', isAdmin ? { all: true } : {});
  const [isCreating, setCreating] = useState(false);
  const [revoked, setRevoked] = useState<ApiTokenView>();
  return (
    <>
      <PageTitle title="Tokens">
        <button type="button" className="button button-primary" onClick={() => setCreating(true)}>
          <Icon name="key" /> New token
        </button>
      </PageTitle>
      <WhenLoaded loaded={loaded} what="tokens">
        {({ tokens, isTruncated }) =>
          tokens.length === 0 ? (
            <EmptyState icon="key" title="No tokens yet">
              Programs use a token to call models over HTTP in your name.
            </EmptyState>
          ) : (
            <>
              <ul className="entry-list card">
                {tokens.map((token) => (
                  <TokenRow key={token._id} token={token} hasOwner={isAdmin} onRevoke={() => setRevoked(token)} />
                ))}
              </ul>
              {isTruncated === true && <p className="muted">Only the newest 1,000 tokens are shown.</p>}
            </>
          )
        }
      </WhenLoaded>
      {isCreating && <TokenDialog isAdmin={isAdmin} onClose={() => setCreating(false)} />}
      {revoked !== undefined && (
        <ConfirmDialog
          title={`Revoke ${revoked.name}?`}
          action="Revoke token"
          onConfirm={() => data.call('ai.tokens.revoke', { id: revoked._id, userId: revoked.userId })}
          onClose={() => setRevoked(undefined)}
        >
          <p>Programs that use it are refused from their next request on. This cannot be undone.</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function TokenRow({
  token: { _id, name, userId, scopes, createdAt, expiresAt, lastUsedAt },
  hasOwner,
  onRevoke,
}: {
  readonly token: ApiTokenView;
  readonly hasOwner: boolean;
  readonly onRevoke: () => void;
}) {
  const now = useNow(30_000);
  const isExpired = expiresAt !== undefined && expiresAt <= now;
  return (
    <li className="entry" data-token={_id}>
      <div className="entry-main">
        <p className="entry-title">
          <bdi>{name}</bdi>
          {isExpired && <span className="tag tone-red">Expired</span>}
        </p>
        <p className="muted entry-facts">
          {hasOwner && (
            <span>
              Of <bdi>{userId}</bdi>
            </span>
          )}
          <span>{scopes.map((scope) => SCOPE_LABELS[scope] ?? scope).join(', ')}</span>
          <span title={formatDateTime(createdAt)}>created {formatRelativeTime(createdAt, now)}</span>
          <span>{lastUsedAt === undefined ? 'never used' : `last used ${formatRelativeTime(lastUsedAt, now)}`}</span>
          {expiresAt !== undefined && !isExpired && <span>expires {formatDateTime(expiresAt)}</span>}
        </p>
      </div>
      <button
        type="button"
        className="button button-small button-danger"
        onClick={onRevoke}
        aria-label={`Revoke token: ${name}`}
      >
        Revoke
      </button>
    </li>
  );
}

const SCOPE_LABELS: Readonly<Record<string, string>> = { generate: 'call models', read: 'read', admin: 'administer' };
