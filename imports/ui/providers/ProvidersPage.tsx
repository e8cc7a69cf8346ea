/** The vendor accounts that runs can use. */
import { useData } from '../hooks/BolideProvider';
import { EmptyState } from '../components/EmptyState';
import { WhenLoaded } from '../components/WhenLoaded';
import { PageTitle } from '../components/PageTitle';
import { ProviderCard } from './ProviderCard';

export function ProvidersPage() {
  const loaded = useData().useProviders();
  return (
    <>
      <PageTitle title="Providers" />
      <WhenLoaded loaded={loaded} what="providers">
        {(providers) =>
          providers.length === 0 ? (
            <EmptyState icon="providers" title="No providers yet">
              Set a vendor’s API key on the server to add its provider.
            </EmptyState>
          ) : (
            <ul className="provider-grid">
              {providers.map((provider) => (
                <ProviderCard key={provider._id} provider={provider} />
              ))}
            </ul>
          )
        }
      </WhenLoaded>
    </>
  );
}
