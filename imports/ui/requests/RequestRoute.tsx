/** The way of a request: each failed attempt with its reason and the pause after it, and how the request ended. */
import type { RequestView } from '../../business/ai/domain/types/RequestRecords';
import { formatDuration } from '../format/format';
import { REQUEST_STATE_STYLES } from './requestLabels';
import { StateBadge } from '../components/StateBadge';

export function RequestRoute({ request }: { readonly request: RequestView }) {
  const { attempts, state, providerId, duration, timeToFirstToken, error } = request;
  return (
    <ol className="request-route">
      {attempts.map((attempt, index) => (
        <li key={index} data-outcome="failed">
          <span className="request-route-time numeric">{formatDuration(attempt.at)}</span>
          <span>
            <bdi className="mono">{attempt.providerId}</bdi> failed: <bdi className="mono">{attempt.reason}</bdi>
            {attempt.status !== undefined && ` (HTTP ${attempt.status})`}
            <span className="request-route-next">
              {attempt.fallback === undefined ? `Tried again after ${formatDuration(attempt.delay)}` : 'Fell back to '}
              {attempt.fallback !== undefined && <bdi className="mono">{attempt.fallback}</bdi>}
            </span>
          </span>
        </li>
      ))}
      <li data-outcome={state}>
        <span className="request-route-time numeric">{formatDuration(duration)}</span>
        <span>
          <StateBadge style={REQUEST_STATE_STYLES[state]} />{' '}
          {providerId !== undefined && <bdi className="mono">{providerId}</bdi>}
          {error !== undefined && (
            <>
              {providerId === undefined ? '' : ': '}
              <bdi className="mono">{error.code}</bdi>
            </>
          )}
          {timeToFirstToken !== undefined && (
            <span className="request-route-next">First token after {formatDuration(timeToFirstToken)}</span>
          )}
        </span>
      </li>
    </ol>
  );
}
