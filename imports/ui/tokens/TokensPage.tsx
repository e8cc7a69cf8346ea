/** The API tokens that programs use: one's own, and for admins everyone's. */
import { useState } from 'react';
import { ConfirmDialog } from '../components/ConfirmDialog';
import { EmptyState } from '../components/EmptyState';
import { Icon } from '../components/Icon';
import { PageTitle } from '../components/PageTitle';
import { useIsAdmin } from '../components/useIsAdmin';
import { WhenLoaded } from '../components/WhenLoaded';
import { useData } from '../hooks/BolideProvider';
import type { ApiTokenView } from './ApiTokenView';
import { EditTokenDialog } from './EditTokenDialog';
import { RotateDialog } from './RotateDialog';
import { TokenDialog } from './TokenDialog';
import { TokenRow } from './TokenRow';

export function TokensPage() {
  const data = useData();
  const isAdmin = useIsAdmin();
  const loaded = data.useQuery('ai.tokens.list', isAdmin ? { all: true } : {});
  const [isCreating, setCreating] = useState(false);
  const [revoked, setRevoked] = useState<ApiTokenView>();
  const [edited, setEdited] = useState<ApiTokenView>();
  const [rotated, setRotated] = useState<ApiTokenView>();
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
                  <TokenRow
                    key={token._id}
                    token={token}
                    hasOwner={isAdmin}
                    onEdit={() => setEdited(token)}
                    onRotate={() => setRotated(token)}
                    onRevoke={() => setRevoked(token)}
                  />
                ))}
              </ul>
              {isTruncated === true && <p className="muted">Only the newest 1,000 tokens are shown.</p>}
            </>
          )
        }
      </WhenLoaded>
      {isCreating && loaded.state === 'ready' && (
        <TokenDialog
          isAdmin={isAdmin}
          defaultLifetime={loaded.value.defaultLifetime}
          onClose={() => setCreating(false)}
        />
      )}
      {edited !== undefined && (
        <EditTokenDialog token={edited} isAdmin={isAdmin} onClose={() => setEdited(undefined)} />
      )}
      {rotated !== undefined && <RotateDialog token={rotated} onClose={() => setRotated(undefined)} />}
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
