/** Requests as rows with column headings that sort; on phones each value carries its own label instead. */
import { memo } from 'react';
import type { RequestSort } from '../../business/requestLog/domain/RequestReader';
import type { RequestView } from '../../business/ai/domain/types/RequestRecords';
import { Ago } from '../components/Elapsed';
import { StateBadge } from '../components/StateBadge';
import { SortButton } from '../components/list/SortButton';
import { formatCount, formatDuration, pluralize, formatMoney } from '../format/format';
import { UserText } from '../components/User';
import { linkTo } from '../shell/route';
import type { RequestOrder } from './requestFilter';
import { API_LABELS, REQUEST_STATE_STYLES, SOURCE_LABELS } from './requestLabels';

export interface RequestTableProps {
  readonly requests: readonly RequestView[];
  readonly order: RequestOrder;
  readonly onSort: (order: RequestOrder) => void;
}

const COLUMNS: readonly { readonly label: string; readonly sort?: RequestSort }[] = [
  { label: 'State' },
  { label: 'Request' },
  { label: 'Tokens', sort: 'tokens' },
  { label: 'Cost', sort: 'cost' },
  { label: 'Duration', sort: 'duration' },
  { label: 'Started', sort: 'at' },
];

export function RequestTable({ requests, order, onSort }: RequestTableProps) {
  return (
    <>
      <div className="run-head is-sortable" role="group" aria-label="Sort">
        {COLUMNS.map(({ label, sort }) => (
          <span key={label}>
            {sort === undefined ? (
              label
            ) : (
              <SortButton
                label={label}
                order={order.sort === sort ? order.order : undefined}
                onSort={(next) => onSort({ sort, order: next })}
              />
            )}
          </span>
        ))}
      </div>
      <ul className="run-list" aria-label="Requests">
        {requests.map((request) => (
          <RequestRow key={request._id} request={request} />
        ))}
      </ul>
    </>
  );
}

const RequestRow = memo(function RequestRow({ request }: { readonly request: RequestView }) {
  const { _id, state, source, api, userId, tokenName, attempts, usage, duration, timeToFirstToken, error } = request;
  return (
    <li className="run-row" data-request={_id} data-state={state}>
      <a href={linkTo(['requests', _id])} data-row>
        <span className="run-state">
          <StateBadge style={REQUEST_STATE_STYLES[state]} />
        </span>
        <span className="run-summary">
          <span className="run-title">
            <bdi>{nameOf(request)}</bdi>
          </span>
          <span className="run-meta">
            <span>{api === undefined ? SOURCE_LABELS[source] : (API_LABELS[api] ?? api)}</span>
            <span>
              <UserText userId={userId} />
              {tokenName !== undefined && (
                <>
                  {' '}
                  (<bdi>{tokenName}</bdi>)
                </>
              )}
            </span>
            {attempts.length > 0 && (
              <span className="tone-amber request-attempts">{pluralize(attempts.length, 'failed attempt')}</span>
            )}
            {error !== undefined && state === 'failed' && (
              <span className="run-error">
                <bdi>{error.message}</bdi>
              </span>
            )}
          </span>
        </span>
        <span className="run-fact numeric" data-label="Tokens">
          {formatCount(usage.total_tokens)}
        </span>
        <span className="run-fact numeric" data-label="Cost">
          <RequestCost request={request} />
        </span>
        <span
          className="run-fact numeric"
          data-label="Duration"
          title={timeToFirstToken === undefined ? undefined : `First token after ${formatDuration(timeToFirstToken)}`}
        >
          {formatDuration(duration)}
        </span>
        <span className="run-fact run-created">
          <Ago at={request.at} />
        </span>
      </a>
    </li>
  );
});

/** The provider and model that served it, or what was requested. */
export function nameOf({ providerId, model, requestedModel }: RequestView): string {
  if (providerId === undefined) return requestedModel ?? 'No model';
  return model === undefined ? providerId : `${providerId} / ${model}`;
}

/** What a request has cost. What is not known is shown as unknown, with the reason in a tooltip. */
function RequestCost({
  request: { cost, unpriced, usage },
}: {
  readonly request: Pick<RequestView, 'cost' | 'unpriced' | 'usage'>;
}) {
  if (unpriced !== undefined)
    return (
      <span title={unpriced} className="unknown-cost">
        {cost === undefined ? 'unknown' : `${formatMoney(cost)} + unknown`}
      </span>
    );
  if (cost !== undefined) return <>{formatMoney(cost)}</>;
  return usage.total_tokens === 0 ? (
    <span title="The vendor reported no tokens for this request.">none</span>
  ) : (
    <span title="No price was recorded." className="unknown-cost">
      unknown
    </span>
  );
}
