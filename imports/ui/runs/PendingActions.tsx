/** The actions that a run waits for: approvals, and results that someone has to submit. */
import { acceptsResult, needsApproval } from '../../business/ai/domain/entities/Tool';
import { useData } from '../data/DataContext';
import type { RunDetails } from '../data/DashboardData';
import { ApprovalForm } from './ApprovalForm';
import { ResultForm } from './ResultForm';

export function PendingActions({ details }: { readonly details: RunDetails }) {
  const tools = useData().useTools();
  const external = new Set(
    tools.state === 'ready' ? tools.value.filter((tool) => tool.external).map((tool) => tool.name) : [],
  );
  const { calls, argumentHashes } = details;
  const awaitingApproval = calls.filter(needsApproval);
  const awaitingResult = calls.filter((call) => acceptsResult(call, external.has(call.name)));
  if (awaitingApproval.length === 0 && awaitingResult.length === 0) return null;
  return (
    <section className="decisions" aria-label="Waiting for you">
      {awaitingApproval.map((call) => (
        <ApprovalForm key={call.callId} call={call} argumentsHash={argumentHashes.get(call.callId)} />
      ))}
      {awaitingResult.map((call) => (
        <ResultForm key={call.callId} call={call} />
      ))}
    </section>
  );
}
