/** The recurring tasks of the server: when they run, how the last execution went, and what can be done about it. */
import type { ScheduleView } from '../../business/ai/domain/types/QueueViews';
import { UserLink } from '../components/User';
import { FormError } from '../components/FormError';
import { EmptyState } from '../components/EmptyState';
import { Icon } from '../components/Icon';
import { useCommand } from '../components/useCommand';
import { useNow } from '../components/useNow';
import { WhenLoaded } from '../components/WhenLoaded';
import { formatDateTime, formatDuration, formatRelativeTime } from '../format/format';
import { useData } from '../hooks/BolideProvider';

export function ScheduleList() {
  const loaded = useData().useQuery('ai.schedules.list', {});
  return (
    <section aria-labelledby="schedules">
      <h2 id="schedules" className="section-title">
        Schedules
      </h2>
      <WhenLoaded loaded={loaded} what="schedules">
        {(schedules) =>
          schedules.length === 0 ? (
            <EmptyState icon="clock" title="No schedules">
              Tasks that the server’s code schedules appear here.
            </EmptyState>
          ) : (
            <ul className="entry-list card">
              {schedules.map((schedule) => (
                <ScheduleRow key={schedule.name} schedule={schedule} />
              ))}
            </ul>
          )
        }
      </WhenLoaded>
    </section>
  );
}

function ScheduleRow({ schedule }: { readonly schedule: ScheduleView }) {
  const data = useData();
  const now = useNow(30_000);
  const command = useCommand();
  const { name, cron, timezone, nextRunAt, lastRun, paused } = schedule;
  const status = statusOf(schedule);
  const button = (label: string, operation: 'ai.schedules.pause' | 'ai.schedules.resume' | 'ai.schedules.runNow') => (
    <button
      type="button"
      className="button button-small"
      disabled={command.isBusy}
      aria-label={`${label}: ${name}`}
      onClick={() => command.run(() => data.call(operation, { name }))}
    >
      {label}
    </button>
  );
  return (
    <li className="entry" data-schedule={name}>
      <div className="entry-main">
        <p className="entry-title">
          <bdi>{name}</bdi>
          <span className={`tag tone-${status.tone}`}>
            <Icon name={status.icon} />
            {status.label}
          </span>
        </p>
        <p className="muted entry-facts">
          <span className="mono">{cron}</span>
          <span>{timezone}</span>
          <span>
            {nextRunAt === undefined ? (
              <>
                Paused
                {paused?.by !== undefined && (
                  <>
                    {' by '}
                    <UserLink userId={paused.by} />
                  </>
                )}
                , its times are skipped
              </>
            ) : (
              `next ${formatDateTime(nextRunAt)}`
            )}
          </span>
          <span>{lastRun === undefined ? 'has not run yet' : describeRun(lastRun, now)}</span>
        </p>
        {lastRun?.error !== undefined && (
          <p className="form-error">
            <bdi>{lastRun.error}</bdi>
          </p>
        )}
        <FormError error={command.error?.message} />
      </div>
      <div className="buttons">
        {button('Run now', 'ai.schedules.runNow')}
        {paused === undefined ? button('Pause', 'ai.schedules.pause') : button('Resume', 'ai.schedules.resume')}
      </div>
    </li>
  );
}

function describeRun({ startedAt, endedAt }: NonNullable<ScheduleView['lastRun']>, now: number): string {
  const started = formatRelativeTime(startedAt, now);
  return endedAt === undefined ? `started ${started}` : `ran ${started}, for ${formatDuration(endedAt - startedAt)}`;
}

function statusOf({ paused, lastRun }: ScheduleView) {
  if (paused !== undefined) return { tone: 'amber', icon: 'stop', label: 'Paused' } as const;
  if (lastRun === undefined) return { tone: 'grey', icon: 'clock', label: 'Waiting' } as const;
  if (lastRun.error !== undefined) return { tone: 'red', icon: 'cross', label: 'Failed' } as const;
  if (lastRun.endedAt === undefined) return { tone: 'blue', icon: 'spinner', label: 'Running' } as const;
  return { tone: 'green', icon: 'check', label: 'Succeeded' } as const;
}
