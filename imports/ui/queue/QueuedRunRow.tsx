/** A run that waits for a worker. */
import { useState } from 'react';
import type { QueuedRunView } from '../../business/ai/domain/types/QueueViews';
import { FormError } from '../components/FormError';
import { ConfirmDialog } from '../components/ConfirmDialog';
import { useCommand } from '../components/useCommand';
import { useNow } from '../components/useNow';
import { formatDateTime, formatRelativeTime } from '../format/format';
import { useData } from '../hooks/BolideProvider';
import { UserLink } from '../components/User';
import { linkTo } from '../shell/route';

export function QueuedRunRow({
  run: { _id, title, userId, providerId, model, createdAt, dueAt },
  position,
  isPaused,
}: {
  readonly run: QueuedRunView;
  readonly position: number;
  readonly isPaused: boolean;
}) {
  const data = useData();
  const now = useNow(30_000);
  const start = useCommand();
  const [isCancelling, setCancelling] = useState(false);
  const name = title === '' ? _id : title;
  const isLater = dueAt !== undefined && dueAt > now;
  return (
    <li className="entry" data-queued={_id}>
      <span className="entry-position numeric muted" aria-hidden="true">
        {position}
      </span>
      <div className="entry-main">
        <p className="entry-title">
          <a href={linkTo(['runs', _id])}>
            <bdi>{name}</bdi>
          </a>
        </p>
        <p className="muted entry-facts">
          <span>
            {isLater ? `Due ${formatDateTime(dueAt)}` : isPaused ? 'Held back by the pause' : 'Waits for a worker'}
          </span>
          <UserLink userId={userId} />
          <span>{model === undefined ? providerId : `${providerId}/${model}`}</span>
          <span title={formatDateTime(createdAt)}>queued {formatRelativeTime(createdAt, now)}</span>
        </p>
        <FormError error={start.error?.message} />
      </div>
      <div className="buttons">
        <button
          type="button"
          className="button button-small"
          disabled={start.isBusy}
          aria-label={`Run now: ${name}`}
          onClick={() => start.run(() => data.call('ai.queue.runNow', { executionId: _id }))}
        >
          Run now
        </button>
        <button
          type="button"
          className="button button-small button-danger"
          aria-label={`Cancel: ${name}`}
          onClick={() => setCancelling(true)}
        >
          Cancel
        </button>
      </div>
      {isCancelling && (
        <ConfirmDialog
          title={`Cancel ${name}?`}
          action="Cancel run"
          onConfirm={() => data.call('ai.runs.cancel', { executionId: _id })}
          onClose={() => setCancelling(false)}
        >
          <p>The run will not start. It stays in the list of runs as cancelled.</p>
        </ConfirmDialog>
      )}
    </li>
  );
}
