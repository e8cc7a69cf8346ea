/** The request and response of a model call, and what was sent to the vendor for it, as far as they are logged. */
import { useState } from 'react';
import type { RequestView } from '../../business/ai/domain/types/RequestRecords';
import { useData } from '../hooks/BolideProvider';
import { JsonTree } from '../components/JsonTree';
import { WhenLoaded } from '../components/WhenLoaded';
import { VendorExchanges } from '../requests/VendorExchanges';

export function RequestBodies({ request }: { readonly request: RequestView }) {
  const [isOpen, setOpen] = useState(false);
  const detail = useData().useQuery('ai.requests.get', isOpen ? { requestId: request._id } : undefined);
  if (!isOpen)
    return (
      <p className="turn-buttons">
        <button type="button" className="link-button" onClick={() => setOpen(true)}>
          Show the raw request and response
        </button>
      </p>
    );
  return (
    <WhenLoaded loaded={detail} what="the request and the response">
      {({ bodies, logsBodies }) =>
        bodies === undefined ? (
          <p className="muted">
            {logsBodies
              ? 'The request and the response of this call are not stored, or have expired.'
              : 'Requests and responses are not logged. To log those of new calls, with credentials masked, set REQUEST_LOG_BODIES=on.'}
          </p>
        ) : (
          <>
            <h3>Request</h3>
            <JsonTree text={bodies.request} label="request" />
            {bodies.response !== undefined && (
              <>
                <h3>Response</h3>
                <JsonTree text={bodies.response} label="response" />
              </>
            )}
            <VendorExchanges exchanges={bodies.exchanges} Heading="h3" />
          </>
        )
      }
    </WhenLoaded>
  );
}
