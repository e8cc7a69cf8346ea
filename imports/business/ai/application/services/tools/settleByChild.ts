/** Settles a call of a tool of the kind `run` by the end of the run that the call starts. */
import type { ToolCallOutcome } from './ToolCallOutcome';
import type { ToolConcurrency } from './ToolConcurrency';
import type { ChildCall, ChildRuns, ParentRun } from './ChildRuns';

/**
 * @param call `complete` receives the text of the run's answer
 * @throws what the call fails with
 */
export async function settleByChild(
  { runs, parent }: { readonly runs: ChildRuns; readonly parent: ParentRun },
  outcome: ToolCallOutcome,
  concurrency: ToolConcurrency,
  call: ChildCall & { complete(answer: string): void },
): Promise<void> {
  let isOver = false;
  outcome.onSettled(() => {
    if (isOver || call.isHandedOver()) return;
    // The end of the parent cancels those that could not be cancelled now.
    runs.cancel(parent.executionId, call.id).catch(() => undefined);
  });
  const places = concurrency.children(parent.budget);
  const turn = places.acquire();
  if (turn !== undefined) await turn;
  try {
    if (!outcome.isOpen()) return;
    await call.verifyLease();
    const result = await runs.run(parent, call);
    if (result === undefined || !outcome.isOpen()) return;
    isOver = true;
    call.complete(result.response.output_text);
  } catch (error) {
    isOver = outcome.isOpen();
    throw error;
  } finally {
    places.release();
  }
}
