/** What a workload repeats, and the check of every answer. */
import { FINAL_TEXT } from './responses';
import type { Contender } from './Contender';
import type { HistoryItem } from './histories';
import type { TurnClock } from './TurnClock';
import type { Workload } from './workloads';

export type Operation = (index: number) => Promise<void>;

/**
 * @param times how often the operation will run
 * @returns undefined if the contender does not take part
 */
export function operationOf(
  contender: Contender,
  { needs, deltas = 0, history }: Workload,
  times: number,
  clock?: TurnClock,
): Operation | undefined {
  const question = (index: number): string => `How is the weather today? (${index})`;
  switch (needs) {
    case 'ask':
      return contender.ask && (async (index) => expectAnswer(await contender.ask?.(question(index))));
    case 'loop':
      return (
        contender.loop &&
        (async (index) => {
          clock?.start();
          expectAnswer(await contender.loop?.(question(index)));
        })
      );
    case 'send':
      return contender.send && sending(contender.send, histories(history, times));
    case 'resend':
      return (
        contender.resend && sending(contender.resend.send, histories(history, times).map(contender.resend.prepare))
      );
    case 'stream':
    case 'transcode': {
      const run = needs === 'stream' ? contender.stream : contender.transcode;
      return run && (async (index) => expectEnough(await run(question(index)), deltas));
    }
    case 'idle':
      return contender.idle && ((index) => contender.idle?.(`run-${index}`) ?? Promise.resolve());
  }
}

/** New objects for every operation, parsed before the measurement. */
function histories(history: Workload['history'], times: number): readonly (readonly HistoryItem[])[] {
  const json = history?.() ?? '[]';
  return Array.from({ length: times }, () => JSON.parse(json) as HistoryItem[]);
}

function sending(
  send: (history: readonly HistoryItem[]) => Promise<string>,
  prepared: readonly (readonly HistoryItem[])[],
): Operation {
  let next = 0;
  return async () => {
    const history = prepared[next] ?? [];
    next += 1;
    expectAnswer(await send(history));
  };
}

/** Guards against contenders that are fast because they skip the work. */
function expectAnswer(text: string | undefined): void {
  if (text !== FINAL_TEXT) throw new Error(`Unexpected response: ${JSON.stringify(text)}`);
}

function expectEnough(characters: number, deltas: number): void {
  if (characters < deltas * 3) throw new Error(`Only ${characters} characters arrived from ${deltas} deltas.`);
}

export async function repeat(run: Operation, times: number, concurrency: number): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < times) {
      next += 1;
      await run(next);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, times) }, worker));
}
