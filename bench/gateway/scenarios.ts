/** What clients do to the gateways and to the plain relay. */
import type { BenchWire } from '../workloads';
import type { BenchProvider } from './paths';

export interface Scenario {
  readonly id: string;
  readonly title: string;
  /** The API that the client speaks. */
  readonly wire: BenchWire;
  /** The provider that the gateway calls. Default: one that speaks the client's API. */
  readonly provider?: BenchProvider;
  readonly concurrency: number;
  readonly requests: number;
  /** Absent: a JSON response. */
  readonly deltas?: number;
  /** Milliseconds between two deltas. Absent: all at once. */
  readonly every?: number;
  /** The client asks for a response that it can retrieve later. */
  readonly isStored?: true;
  /** Rounds that do not count, in which V8 compiles what is called often. Default: 1. */
  readonly warmUps?: number;
  /** The largest cost relative to the relay. */
  readonly goal: number;
}

const WIRES = ['openai', 'anthropic', 'chat'] as const;

export const SCENARIOS: readonly Scenario[] = [
  ...WIRES.map((wire) => ({
    id: `paced-${wire}`,
    title: '500 streams at once, a delta every 100 ms',
    wire,
    concurrency: 500,
    requests: 500,
    deltas: 60,
    every: 100,
    goal: 1.6,
  })),
  ...WIRES.map((wire) => ({
    id: `burst-${wire}`,
    title: '32 streams at once, 2,000 deltas without a pause',
    wire,
    concurrency: 32,
    requests: 64,
    deltas: 2_000,
    goal: 2,
  })),
  ...WIRES.map((wire) => ({
    id: `json-${wire}`,
    title: 'JSON requests, 32 at once',
    wire,
    concurrency: 32,
    requests: 1_000,
    warmUps: 5,
    goal: 3,
  })),
  {
    id: 'stored-openai',
    title: 'JSON requests whose responses are stored, 32 at once',
    wire: 'openai',
    concurrency: 32,
    requests: 1_000,
    warmUps: 5,
    isStored: true,
    goal: 4,
  },
  {
    id: 'paced-other',
    title: '500 streams at once of another vendor, a delta every 100 ms',
    wire: 'anthropic',
    provider: 'openai',
    concurrency: 500,
    requests: 500,
    deltas: 60,
    every: 100,
    goal: 1.6,
  },
];

/** @throws Error for an id that no scenario has */
export function scenarioOf(id: string): Scenario {
  const found = SCENARIOS.find((scenario) => scenario.id === id);
  if (found === undefined)
    throw new Error(`Unknown scenario: ${id}. Known: ${SCENARIOS.map((scenario) => scenario.id).join(', ')}.`);
  return found;
}
