/** Whether the memory of a server grows while it serves streams: 500 paced ones at all times. */
import { ask } from './ask';
import type { Contender } from './contenders';
import type { Scenario } from './scenarios';

const SAMPLE_MS = 1_000;

/** @returns the largest resident memory of each minute, in bytes */
export async function memoryByMinute(scenario: Scenario, contender: Contender, minutes: number): Promise<number[]> {
  const until = performance.now() + minutes * 60_000;
  const largest: number[] = [];
  const worker = async (): Promise<void> => {
    while (performance.now() < until) await ask(scenario, contender);
  };
  const workers = Promise.all(Array.from({ length: scenario.concurrency }, worker));
  while (performance.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
    const { memory } = await contender.usage();
    const minute = Math.min(Math.ceil(minutes), Math.ceil(minutes - (until - performance.now()) / 60_000)) - 1;
    largest[Math.max(0, minute)] = Math.max(largest[Math.max(0, minute)] ?? 0, memory);
  }
  await workers;
  return largest;
}
