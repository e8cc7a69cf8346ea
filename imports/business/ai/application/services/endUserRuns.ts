/** Ends all runs of a user, in whichever process they run. */
import { LLMTimeoutError } from '../../domain/errors/LLMErrors';
import type { RunStore } from '../../domain/interfaces/RunStore';
import type { AgenticLoop } from './AgenticLoop';

export interface EndUserRunsPorts {
  readonly loop: Pick<AgenticLoop, 'cancel' | 'waitForResult'>;
  readonly store: Pick<RunStore, 'unfinishedOf' | 'head' | 'end'>;
  /** Milliseconds that a run's owner may take to end it; then the run is taken from it. Default: 10,000. */
  readonly patienceMs?: number;
}

const DEFAULT_PATIENCE_MS = 10_000;
/** How many runs are ended at the same time. */
const BATCH_SIZE = 50;

/** Resolves when no process can write to the user's runs any more. @throws what the store throws */
export async function endUserRuns(ports: EndUserRunsPorts, userId: string): Promise<void> {
  for (;;) {
    const executionIds = await ports.store.unfinishedOf(userId, BATCH_SIZE);
    if (executionIds.length === 0) return;
    await Promise.all(executionIds.map((executionId) => endRun(ports, executionId)));
  }
}

async function endRun(
  { loop, store, patienceMs = DEFAULT_PATIENCE_MS }: EndUserRunsPorts,
  executionId: string,
): Promise<void> {
  await loop.cancel(executionId);
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      controller.abort(new LLMTimeoutError('The owner of the run did not end it in time.'));
      resolve();
    }, patienceMs);
  });
  // How the run ended does not matter.
  const ended = loop.waitForResult(executionId, controller.signal).then(
    () => undefined,
    () => undefined,
  );
  await Promise.race([ended, late]);
  clearTimeout(timer);
  if (controller.signal.aborted) await fence(store, executionId);
}

/** Ends a run whose owner does not respond, which refuses all of its further writes. */
async function fence(store: EndUserRunsPorts['store'], executionId: string): Promise<void> {
  const head = await store.head(executionId);
  if (head === undefined) return;
  const error = { code: 'aborted', message: 'The run was cancelled.' } as const;
  await store.end(head, { state: 'cancelled', endedAt: Date.now(), error });
}
