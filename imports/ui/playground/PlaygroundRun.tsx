/** The run that was just started, live. */
import { useRun } from '../hooks/useRun';
import { RUN_STATE_STYLES } from '../format/stateStyles';
import { pluralize } from '../format/format';
import { Elapsed } from '../components/Elapsed';
import { WhenLoaded } from '../components/WhenLoaded';
import { Icon } from '../components/Icon';
import { StateBadge } from '../components/StateBadge';
import { CallCards } from '../runs/CallCards';
import { CancelButton } from '../runs/CancelButton';
import { Conversation } from '../runs/Conversation';
import { PendingActions } from '../runs/PendingActions';
import { scrollToCall } from '../runs/scrollToCall';
import { linkTo } from '../shell/route';

export function PlaygroundRun({ executionId }: { readonly executionId: string }) {
  const live = useRun(executionId);
  return (
    <WhenLoaded loaded={live.loaded} what="the run">
      {(details) =>
        details !== undefined && (
          <div className="card" data-run={executionId} data-state={details.run.state}>
            <div className="playground-head">
              <StateBadge style={RUN_STATE_STYLES[details.run.state]} />
              <span className="muted numeric">
                <Elapsed start={details.run.startedAt ?? details.run.createdAt} end={details.run.endedAt} /> ·{' '}
                {pluralize(details.run.usage.total_tokens, 'token')}
              </span>
              <span className="spacer" />
              {live.isActive && <CancelButton command={live.cancel} />}
              <a className="button" href={linkTo(['runs', executionId])}>
                Open run <Icon name="arrow" />
              </a>
            </div>
            {details.run.error !== undefined && (
              <p className="form-error" role="alert">
                {details.run.error.message}
              </p>
            )}
            <PendingActions live={live} />
            <Conversation details={details} onSelect={scrollToCall} />
            {details.calls.length > 0 && (
              <>
                <h2>Tool calls</h2>
                <CallCards calls={details.calls} />
              </>
            )}
          </div>
        )
      }
    </WhenLoaded>
  );
}
