/** One request: who made it, its way through attempts and fallbacks, tokens and cost, ids, and the logged bodies. */
import type { ReactNode } from 'react';
import type { RequestDetail } from '../../business/requestLog/domain/RequestReader';
import type { RequestView } from '../../business/ai/domain/types/RequestRecords';
import { JsonTree } from '../components/JsonTree';
import { PageTitle } from '../components/PageTitle';
import { StateBadge } from '../components/StateBadge';
import { WhenLoaded } from '../components/WhenLoaded';
import { useData } from '../hooks/BolideProvider';
import { RequestFacts } from '../runs/RequestFacts';
import { UserText } from '../components/User';
import { linkTo } from '../shell/route';
import type { Route } from '../shell/route';
import { API_LABELS, REQUEST_STATE_STYLES, SOURCE_LABELS } from './requestLabels';
import { RequestRoute } from './RequestRoute';
import { VendorExchanges } from './VendorExchanges';
import { nameOf } from './RequestTable';

export function RequestPage({ route }: { readonly route: Route }) {
  const [, requestId = ''] = route.path;
  const loaded = useData().useQuery('ai.requests.get', { requestId });
  return (
    <WhenLoaded loaded={loaded} what="the request">
      {(detail) => <Detail detail={detail} />}
    </WhenLoaded>
  );
}

function Detail({ detail }: { readonly detail: RequestDetail }) {
  const { request } = detail;
  return (
    <div className="run-page">
      <p className="breadcrumbs">
        <a href={linkTo(['requests'])}>Requests</a>
      </p>
      <PageTitle title={nameOf(request)}>
        <StateBadge style={REQUEST_STATE_STYLES[request.state]} />
      </PageTitle>
      <Caller request={request} />
      <section className="card">
        <h2>Route</h2>
        <RequestRoute request={request} />
      </section>
      <section className="card">
        <h2>Details</h2>
        <RequestFacts request={request} showsRoute={false} />
      </section>
      <Bodies detail={detail} />
    </div>
  );
}

function Caller({ request }: { readonly request: RequestView }) {
  const { source, api, userId, tokenId, tokenName, requestedModel, executionId, iteration, isStream } = request;
  return (
    <dl className="facts">
      <Fact name="Source">
        {SOURCE_LABELS[source]}
        {api !== undefined && `, ${API_LABELS[api] ?? api}`}
        {isStream && ', streamed'}
      </Fact>
      <Fact name="User">
        <a href={linkTo(['requests'], { userId })}>
          <UserText userId={userId} />
        </a>
      </Fact>
      {tokenId !== undefined && (
        <Fact name="API token">
          <a href={linkTo(['requests'], { tokenId })}>
            <bdi>{tokenName ?? tokenId}</bdi>
          </a>
        </Fact>
      )}
      {requestedModel !== undefined && (
        <Fact name="Requested model">
          <bdi>{requestedModel}</bdi>
        </Fact>
      )}
      {executionId !== undefined && (
        <Fact name="Run">
          <a href={linkTo(['runs', executionId])}>{iteration === undefined ? 'Open' : `Turn ${iteration}`}</a>
        </Fact>
      )}
    </dl>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Bodies({ detail: { request, bodies, logsBodies } }: { readonly detail: RequestDetail }) {
  if (bodies === undefined)
    return (
      <section className="card">
        <h2>Request and response</h2>
        <p className="muted">{reasonWithoutBodies(request, logsBodies)}</p>
      </section>
    );
  return (
    <>
      <section className="card">
        <h2>Request</h2>
        <JsonTree text={bodies.request} label="the request" />
      </section>
      <section className="card">
        <h2>Response</h2>
        {bodies.response === undefined ? (
          <p className="muted">There was no complete response.</p>
        ) : (
          <JsonTree text={bodies.response} label="the response" />
        )}
      </section>
      {bodies.exchanges !== undefined && (
        <section className="card">
          <VendorExchanges exchanges={bodies.exchanges} Heading="h2" />
        </section>
      )}
    </>
  );
}

function reasonWithoutBodies({ hasBodies }: RequestView, logsBodies: boolean): string {
  if (hasBodies === true) return 'What was sent and received has expired. The request’s other data is stored longer.';
  if (logsBodies) return 'Nothing was sent, or bodies were not logged yet when this request was made.';
  return 'Bodies are not logged. To log those of new requests, set REQUEST_LOG_BODIES to on. Secrets are masked.';
}
