/** The actions that a run waits for: approvals, reviews, and results that someone has to submit. */
import { waitingFor } from '../format/waitingFor';
import type { LiveRun } from '../conversations/observeRun';
import { ApprovalForm } from './ApprovalForm';
import { ResultForm } from './ResultForm';
import { ReviewForm } from './ReviewForm';

export function PendingActions({ live }: { readonly live: LiveRun }) {
  const { calls, approve, reject, submitResult } = live;
  const waiting = calls.filter((call) => waitingFor(call) !== undefined);
  if (waiting.length === 0) return null;
  return (
    <section className="decisions" aria-label="Waiting for you">
      {waiting.map((call) => {
        switch (waitingFor(call)) {
          case 'approval':
            return <ApprovalForm key={call.callId} call={call} approve={approve} reject={reject} />;
          case 'review':
            return (
              <ReviewForm key={call.callId} call={call} approve={approve} reject={reject} submitResult={submitResult} />
            );
          default:
            return <ResultForm key={call.callId} call={call} submitResult={submitResult} />;
        }
      })}
    </section>
  );
}
