/** The actions that a run waits for: approvals, and results that someone has to submit. */
import { acceptsResult, needsApproval } from '../../business/ai/domain/entities/Tool';
import { useData } from '../hooks/BolideProvider';
import type { LiveRun } from '../hooks/useRun';
import { ApprovalForm } from './ApprovalForm';
import { ResultForm } from './ResultForm';

export function PendingActions({ live }: { readonly live: LiveRun }) {
  const tools = useData().useTools();
  const external = new Set(
    tools.state === 'ready' ? tools.value.filter((tool) => tool.external).map((tool) => tool.name) : [],
  );
  const { calls, approve, reject, submitResult } = live;
  const awaitingApproval = calls.filter(needsApproval);
  const awaitingResult = calls.filter((call) => acceptsResult(call, external.has(call.name)));
  if (awaitingApproval.length === 0 && awaitingResult.length === 0) return null;
  return (
    <section className="decisions" aria-label="Waiting for you">
      {awaitingApproval.map((call) => (
        <ApprovalForm key={call.callId} call={call} approve={approve} reject={reject} />
      ))}
      {awaitingResult.map((call) => (
        <ResultForm key={call.callId} call={call} submitResult={submitResult} />
      ))}
    </section>
  );
}
