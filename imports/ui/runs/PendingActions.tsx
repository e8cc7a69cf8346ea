/** The actions that a run waits for: approvals, and results that someone has to submit. */
import type { ToolCallView } from '../../business/ai/domain/types/RunViews';
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
  const awaitingApproval = calls.filter((call) => call.state === 'awaiting_approval');
  const awaitingResult = calls.filter((call) => needsResult(call, external));
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

function needsResult({ state, name }: ToolCallView, external: ReadonlySet<string>): boolean {
  return state === 'needs_review' || (state === 'executing' && external.has(name));
}
