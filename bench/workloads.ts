/** The workloads, with their wires, sizes and Bolide's goals. */

export type BenchWire = 'openai' | 'anthropic' | 'chat';

export interface Workload {
  readonly id: string;
  readonly title: string;
  /** The operation that a contender needs to take part. */
  readonly needs: 'ask' | 'stream' | 'loop' | 'convert' | 'transcode' | 'idle';
  readonly wires: readonly BenchWire[];
  /** Concurrent operations. */
  readonly concurrency: number;
  /** Operations before the measurement. With `cold` there are none, and the entire process is measured. */
  readonly warmUp: number;
  readonly operations: number;
  readonly cold?: true;
  /** Turns of a loop before the final response, and calls per turn. */
  readonly turns?: number;
  readonly calls?: number;
  /** Deltas of a stream, and the milliseconds between two of them. */
  readonly deltas?: number;
  readonly every?: number;
  /** The maximum cost for Bolide relative to the raw SDK, on OpenAI's and Anthropic's wire. Bytes for idle runs. */
  readonly goal: number | readonly [number, number];
}

export const WORKLOADS: readonly Workload[] = [
  {
    id: 'W1',
    title: 'one short call after another',
    needs: 'ask',
    wires: ['openai', 'anthropic'],
    concurrency: 1,
    warmUp: 100,
    operations: 400,
    goal: 0.45,
  },
  {
    id: 'W1c',
    title: 'short calls, 32 at once',
    needs: 'ask',
    wires: ['openai', 'anthropic'],
    concurrency: 32,
    warmUp: 100,
    operations: 600,
    goal: 0.45,
  },
  {
    id: 'W2',
    title: 'a stream of 2,000 deltas, sent at once',
    needs: 'stream',
    wires: ['openai', 'anthropic'],
    concurrency: 1,
    warmUp: 5,
    operations: 20,
    deltas: 2_000,
    goal: [0.5, 0.85],
  },
  {
    id: 'W2p',
    title: '20 streams, a delta every 4 ms',
    needs: 'stream',
    wires: ['openai', 'anthropic'],
    concurrency: 20,
    warmUp: 40,
    operations: 80,
    deltas: 200,
    every: 4,
    goal: 0.55,
  },
  {
    id: 'W3',
    title: 'an agent loop, 5 turns of 4 parallel tools',
    needs: 'loop',
    wires: ['openai', 'anthropic'],
    concurrency: 1,
    warmUp: 80,
    operations: 200,
    turns: 5,
    calls: 4,
    goal: 0.5,
  },
  {
    id: 'W4',
    title: 'a stored history of 200 calls, converted and sent',
    needs: 'convert',
    wires: ['anthropic'],
    concurrency: 1,
    warmUp: 30,
    operations: 100,
    calls: 200,
    goal: 0.9,
  },
  {
    id: 'W5s',
    title: 'an agent loop of 5 turns',
    needs: 'loop',
    wires: ['openai', 'anthropic'],
    concurrency: 1,
    warmUp: 80,
    operations: 200,
    turns: 5,
    calls: 1,
    goal: 0.55,
  },
  {
    id: 'W5',
    title: 'an agent loop of 50 turns',
    needs: 'loop',
    wires: ['openai', 'anthropic'],
    concurrency: 1,
    warmUp: 6,
    operations: 20,
    turns: 50,
    calls: 1,
    goal: 0.55,
  },
  {
    id: 'W6',
    title: 'import, setup, first response',
    needs: 'ask',
    wires: ['openai', 'anthropic'],
    concurrency: 1,
    warmUp: 0,
    operations: 1,
    cold: true,
    goal: 0.6,
  },
  {
    id: 'W7',
    title: 'a stream of 2,000 deltas, re-encoded as OpenAI’s lines',
    needs: 'transcode',
    wires: ['openai', 'anthropic', 'chat'],
    concurrency: 1,
    warmUp: 5,
    operations: 20,
    deltas: 2_000,
    goal: 1,
  },
  {
    id: 'W8',
    title: '10,000 runs that wait for a tool, bytes of each',
    needs: 'idle',
    wires: ['openai'],
    concurrency: 50,
    warmUp: 0,
    operations: 10_000,
    turns: 1,
    calls: 1,
    goal: 10_240,
  },
];

export function workload(id: string): Workload {
  const found = WORKLOADS.find((each) => each.id === id);
  if (found === undefined)
    throw new Error(`Unknown workload "${id}". Expected one of: ${WORKLOADS.map((each) => each.id).join(', ')}.`);
  return found;
}
