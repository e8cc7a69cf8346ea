/** The workloads, with their wires, sizes and Bolide's goals. */
import { historyOfCalls, historyOfTurns } from './histories';

export type BenchWire = 'openai' | 'anthropic' | 'chat';

/** The sections of the results. */
export type BenchSection = 'Calls, streams and loops' | 'Import' | 'Growth' | 'Memory';

export interface Workload {
  readonly id: string;
  readonly title: string;
  readonly section: BenchSection;
  /** The operation that a contender needs to take part. */
  readonly needs: 'ask' | 'stream' | 'loop' | 'send' | 'resend' | 'transcode' | 'idle';
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
  /** The turns of a single long run at which the CPU time of a turn is measured: from the first to the last one. */
  readonly marks?: readonly Mark[];
  /** The history that is sent, as JSON of Responses items. */
  readonly history?: () => string;
  /** Deltas of a stream, and the milliseconds between two of them. */
  readonly deltas?: number;
  readonly every?: number;
  /** The maximum cost for Bolide relative to the raw SDK, on OpenAI's and Anthropic's wire. Bytes for idle runs. */
  readonly goal?: number | readonly [number, number];
}

export interface Mark {
  readonly title: string;
  readonly from: number;
  readonly to: number;
}

export const WORKLOADS: readonly Workload[] = [
  {
    id: 'W1',
    title: 'one short call after another',
    section: 'Calls, streams and loops',
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
    section: 'Calls, streams and loops',
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
    section: 'Calls, streams and loops',
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
    section: 'Calls, streams and loops',
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
    section: 'Calls, streams and loops',
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
    title: 'a history of 200 calls, converted and sent',
    section: 'Calls, streams and loops',
    needs: 'send',
    wires: ['anthropic'],
    concurrency: 1,
    warmUp: 30,
    operations: 100,
    history: () => historyOfCalls(200),
    goal: 0.9,
  },
  {
    id: 'W4k',
    title: 'the same of items that were checked before',
    section: 'Calls, streams and loops',
    needs: 'resend',
    wires: ['anthropic'],
    concurrency: 1,
    warmUp: 30,
    operations: 100,
    history: () => historyOfCalls(200),
    goal: 0.6,
  },
  {
    id: 'W4l',
    title: 'a history of 1,000 turns (2.6 MB) in one call',
    section: 'Calls, streams and loops',
    needs: 'send',
    wires: ['openai', 'anthropic'],
    concurrency: 1,
    warmUp: 5,
    operations: 15,
    history: () => historyOfTurns(1_000),
    goal: 1.1,
  },
  {
    id: 'W5s',
    title: 'an agent loop of 5 turns',
    section: 'Calls, streams and loops',
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
    section: 'Calls, streams and loops',
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
    section: 'Import',
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
    section: 'Calls, streams and loops',
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
    section: 'Memory',
    needs: 'idle',
    wires: ['openai'],
    concurrency: 50,
    warmUp: 0,
    operations: 10_000,
    turns: 1,
    calls: 1,
    goal: 10_240,
  },
  {
    id: 'W9',
    title: 'turns of one run',
    section: 'Growth',
    needs: 'loop',
    wires: ['openai', 'anthropic'],
    concurrency: 1,
    warmUp: 1,
    operations: 2,
    turns: 1_000,
    calls: 1,
    marks: [
      { title: '10', from: 5, to: 15 },
      { title: '50', from: 40, to: 60 },
      { title: '200', from: 180, to: 220 },
      { title: '1,000', from: 900, to: 1_000 },
    ],
  },
];

export function workload(id: string): Workload {
  const found = WORKLOADS.find((each) => each.id === id);
  if (found === undefined)
    throw new Error(`Unknown workload "${id}". Expected one of: ${WORKLOADS.map((each) => each.id).join(', ')}.`);
  return found;
}
