/** The accounts at vendors that runs may use. */
import { useData } from '../data/DataContext';
import { EmptyState, WhenLoaded } from '../components/Placeholders';
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
              Give the server a vendor’s key, and its provider appears here.
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
