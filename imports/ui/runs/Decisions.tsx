/** What a run waits for somebody to decide: approvals, and results that come from outside. */
import type { ToolCallView } from '../../business/ai/domain/types/RunViews';
import { useData } from '../data/DataContext';
import type { WatchedRun } from '../data/DashboardData';
import { ApprovalForm } from './ApprovalForm';
import { ResultForm } from './ResultForm';

export function Decisions({ watched }: { readonly watched: WatchedRun }) {
  const tools = useData().useTools();
  const external = new Set(
    tools.state === 'ready' ? tools.value.filter((tool) => tool.external).map((tool) => tool.name) : [],
  );
  const { calls, hashes } = watched;
  const asking = calls.filter((call) => call.state === 'awaiting_approval');
  const open = calls.filter((call) => wantsResult(call, external));
  if (asking.length === 0 && open.length === 0) return null;
  return (
    <section className="decisions" aria-label="Needs you">
      {asking.map((call) => (
        <ApprovalForm key={call.callId} call={call} knownHash={hashes.get(call.callId)} />
      ))}
      {open.map((call) => (
        <ResultForm key={call.callId} call={call} />
      ))}
    </section>
  );
}

function wantsResult({ state, name }: ToolCallView, external: ReadonlySet<string>): boolean {
  return state === 'needs_review' || (state === 'executing' && external.has(name));
}
