/** Which tools a run waits for, went on without, or found changed. */
import type { RunView } from '../../business/ai/domain/types/RunViews';
import { Ago } from '../components/Elapsed';
import { FoldedText } from '../components/FoldedText';
import { explainAwaitedTools } from '../format/explainAwaitedTools';

export function ToolNotices({ run }: { readonly run: RunView }) {
  const { awaitedTools, missingTools = [], changedTools = [] } = run;
  if (awaitedTools === undefined && missingTools.length === 0 && changedTools.length === 0) return null;
  return (
    <section className="run-failure tone-orange" aria-label="Tools of this run">
      {awaitedTools !== undefined && (
        <>
          <p>
            <strong>Waiting for a tool</strong>, first missed <Ago at={awaitedTools.since} />.
          </p>
          <FoldedText text={explainAwaitedTools(awaitedTools)} label="the reason" />
        </>
      )}
      {awaitedTools === undefined && missingTools.length > 0 && (
        <FoldedText
          text={`No server had these tools any more, so the run went on without them: ${missingTools.join(', ')}.`}
          label="the missing tools"
        />
      )}
      {changedTools.length > 0 && (
        <FoldedText
          text={`The definitions of these tools have changed since the run began: ${changedTools.join(', ')}.`}
          label="the changed tools"
        />
      )}
    </section>
  );
}
