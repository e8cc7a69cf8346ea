/** The vendor accounts that runs can use: their health, and for admins everything that can be set. */
import { useState } from 'react';
import { EmptyState } from '../components/EmptyState';
import { Icon } from '../components/Icon';
import { PageTitle } from '../components/PageTitle';
import { useIsAdmin } from '../components/useIsAdmin';
import { WhenLoaded } from '../components/WhenLoaded';
import { useData } from '../hooks/BolideProvider';
import { ProviderCard } from './ProviderCard';
import { ProviderFormDialog } from './ProviderFormDialog';

export function ProvidersPage() {
  const data = useData();
  const loaded = data.useQuery('ai.providers.list', {});
  const health = data.useQuery('ai.providers.health', {});
  const isAdmin = useIsAdmin();
  const vendors = data.useQuery('ai.providers.vendors', isAdmin ? {} : undefined);
  const [isAdding, setAdding] = useState(false);
  const [added, setAdded] = useState<string>();
  const healthOf = (providerId: string) =>
    health.state === 'ready' ? health.value.find((each) => each.providerId === providerId) : undefined;
  return (
    <>
      <PageTitle title="Providers">
        {isAdmin && (
          <button
            type="button"
            className="button button-primary"
            disabled={vendors.state !== 'ready'}
            onClick={() => setAdding(true)}
          >
            <Icon name="plug" /> Add provider
          </button>
        )}
      </PageTitle>
      <WhenLoaded loaded={loaded} what="providers">
        {(providers) =>
          providers.length === 0 ? (
            <EmptyState icon="providers" title="No providers yet">
              {isAdmin
                ? 'Add an account with a vendor, or set a vendor’s API key on the server.'
                : 'An administrator can add an account with a vendor.'}
            </EmptyState>
          ) : (
            <ul className="provider-grid">
              {providers.map((provider) => (
                <ProviderCard
                  key={provider._id}
                  provider={provider}
                  health={healthOf(provider._id)}
                  vendors={vendors.state === 'ready' ? vendors.value : []}
                  isAdmin={isAdmin}
                  isNew={provider._id === added}
                />
              ))}
            </ul>
          )
        }
      </WhenLoaded>
      {isAdding && vendors.state === 'ready' && (
        <ProviderFormDialog
          vendors={vendors.value}
          onClose={(savedId) => {
            setAdding(false);
            if (savedId !== undefined) setAdded(savedId);
          }}
        />
      )}
    </>
  );
}
