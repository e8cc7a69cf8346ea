/** The run that a call has started, within the card of the call, and the runs below it within its cards. */
import type { CallOfRun } from '../../business/ai/domain/types/AgentEvents';
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

/** Renders the run that a call has started, if it has. */
export const renderCalledRun: RenderRun = (call) => <RunOfCall {...call} />;

function RunOfCall({ executionId: parentExecutionId, callId: parentCallId }: CallOfRun) {
  const loaded = useData().useQuery('ai.runs.list', { parentExecutionId, parentCallId, limit: 1 });
  const [called] = loaded.state === 'ready' ? loaded.value.runs : [];
  return called && <CalledRun executionId={called._id} />;
}

function CalledRun({ executionId }: { readonly executionId: string }) {
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
              {details.calls.length > 0 && <CallCards calls={details.calls} renderRun={renderCalledRun} />}
            </>
          )
        }
      </WhenLoaded>
    </section>
  );
}

/** The calls are right below. */
const ignore = (): void => undefined;
