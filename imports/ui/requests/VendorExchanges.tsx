/** What each attempt of a call sent to its vendor and received, in the vendor's own format. */
import { Fragment } from 'react';
import type { VendorExchangeView } from '../../business/ai/domain/types/RequestRecords';
import { JsonTree } from '../components/JsonTree';

export interface VendorExchangesProps {
  readonly exchanges: readonly VendorExchangeView[] | undefined;
  readonly Heading: 'h2' | 'h3';
}

export function VendorExchanges({ exchanges = [], Heading }: VendorExchangesProps) {
  return exchanges.map(({ providerId, wire, status, request, response }, index) => {
    const attempt = exchanges.length === 1 ? '' : `, attempt ${index + 1} of ${exchanges.length}`;
    return (
      // The list never changes.
      <Fragment key={index}>
        <Heading>
          Raw request to <bdi>{providerId}</bdi>
          {attempt}
        </Heading>
        <p className="muted">As {wire.replaceAll('_', ' ')}, without headers.</p>
        <JsonTree text={request} label={`the raw request${attempt}`} />
        <Heading>
          Raw response{attempt}
          {status !== undefined && ` (HTTP ${status})`}
        </Heading>
        {response === undefined ? (
          <p className="muted">No body was received.</p>
        ) : (
          <JsonTree text={response} label={`the raw response${attempt}`} />
        )}
      </Fragment>
    );
  });
}
