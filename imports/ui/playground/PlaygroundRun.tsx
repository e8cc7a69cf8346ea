/** The run that was just started, as it goes on. */
import { useData } from '../data/DataContext';
import { RUN_STATE_STYLES } from '../format/stateStyles';
import { count } from '../format/format';
import { Elapsed } from '../components/Elapsed';
import { WhenLoaded } from '../components/Placeholders';
import { Icon } from '../components/Icon';
import { StateBadge } from '../components/StateBadge';
import { CallCards } from '../runs/CallCards';
import { CancelButton } from '../runs/CancelButton';
import { Conversation } from '../runs/Conversation';
import { Decisions } from '../runs/Decisions';
import { isLive } from '../runs/filterRuns';
import { scrollToCall } from '../runs/scrollToCall';
import { linkTo } from '../shell/route';

export function PlaygroundRun({ executionId }: { readonly executionId: string }) {
  const loaded = useData().useRun(executionId);
  return (
    <WhenLoaded loaded={loaded} what="run">
      {(watched) =>
        watched !== undefined && (
          <div className="card" data-run={executionId} data-state={watched.run.state}>
            <div className="playground-head">
              <StateBadge face={RUN_STATE_STYLES[watched.run.state]} />
              <span className="muted numeric">
                <Elapsed start={watched.run.startedAt ?? watched.run.createdAt} end={watched.run.endedAt} /> ·{' '}
                {count(watched.run.usage.total_tokens)} tokens
              </span>
              <span className="spacer" />
              {isLive(watched.run.state) && <CancelButton executionId={executionId} />}
              <a className="button" href={linkTo(['runs', executionId])}>
                Open the run <Icon name="arrow" />
              </a>
            </div>
            {watched.run.error !== undefined && (
              <p className="form-error" role="alert">
                {watched.run.error.message}
              </p>
            )}
            <Decisions watched={watched} />
            <Conversation watched={watched} onChoose={scrollToCall} />
            {watched.calls.length > 0 && (
              <>
                <h2>Tool calls</h2>
                <CallCards calls={watched.calls} />
              </>
            )}
          </div>
        )
      }
    </WhenLoaded>
  );
}
