/** The run that a call has started, within the card of the call, and the runs below it within its cards. */
import { useCallback } from 'react';
import { useData } from '../hooks/BolideProvider';
import { useRun } from '../hooks/useRun';
import { RUN_STATE_STYLES } from '../format/stateStyles';
import { StateBadge } from '../components/StateBadge';
import { WhenLoaded } from '../components/WhenLoaded';
import { linkTo } from '../shell/route';
import { CallCards } from './CallCards';
import type { RenderRun } from './CallCards';
import { Conversation } from './Conversation';
import { PendingActions } from './PendingActions';

/** @returns what renders the run that a call of this one has started */
export function useCalledRuns(executionId: string): RenderRun {
  const loaded = useData().useQuery('ai.runs.list', { parentExecutionId: executionId, limit: MAX_STARTED });
  const runs = loaded.state === 'ready' ? loaded.value.runs : undefined;
  return useCallback(
    (callId) => {
      const called = runs?.find(({ parentCallId }) => parentCallId === callId);
      return called && <CalledRun executionId={called._id} />;
    },
    [runs],
  );
}

const MAX_STARTED = 100;

function CalledRun({ executionId }: { readonly executionId: string }) {
  const renderRun = useCalledRuns(executionId);
  const live = useRun(executionId);
  return (
    <section className="called-run" aria-label="The run of this call" data-run={executionId}>
      <WhenLoaded loaded={live.loaded} what="the run of this call">
        {(details) =>
          details !== undefined && (
            <>
              <p className="called-run-head">
                <a href={linkTo(['runs', executionId])}>
                  Run <span className="mono">{executionId.slice(0, 8)}</span>
                </a>
                <StateBadge style={RUN_STATE_STYLES[details.run.state]} />
              </p>
              <PendingActions live={live} />
              <Conversation details={details} onSelect={ignore} />
              {details.calls.length > 0 && <CallCards calls={details.calls} renderRun={renderRun} />}
            </>
          )
        }
      </WhenLoaded>
    </section>
  );
}

/** The calls are right below. */
const ignore = (): void => undefined;
