/** Which tools a run waits for, or went on without. */
import type { RunView } from '../../business/ai/domain/types/RunViews';
import { Ago } from '../components/Elapsed';
import { FoldedText } from '../components/FoldedText';
import { explainAwaitedTools } from '../format/explainAwaitedTools';

export function MissingTools({ run: { awaitedTools, missingTools = [] } }: { readonly run: RunView }) {
  if (awaitedTools === undefined && missingTools.length === 0) return null;
  return (
    <section className="run-failure tone-orange" aria-label="Tools of this run are missing">
      {awaitedTools !== undefined && (
        <>
          <p>
            <strong>Waiting for a tool</strong>, first missed <Ago at={awaitedTools.since} />.
          </p>
          <FoldedText text={explainAwaitedTools(awaitedTools)} label="the reason" />
        </>
      )}
      {awaitedTools === undefined && (
        <FoldedText
          text={`No server had these tools any more, so the run went on without them: ${missingTools.join(', ')}.`}
          label="the tools"
        />
      )}
    </section>
  );
}
