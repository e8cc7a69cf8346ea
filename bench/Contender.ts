/** What every contender is given, and what it can do; what it leaves out it does not take part in. */
import type { BenchWire, Workload } from './workloads';

export interface Setting {
  /** The simulator's, for this workload and wire, as the official SDK takes it. */
  readonly baseURL: string;
  readonly wire: BenchWire;
  readonly workload: Workload;
}

export interface Contender {
  /** @returns the answer's text */
  readonly ask?: (question: string) => Promise<string>;
  /** @returns the characters that came, piece by piece */
  readonly stream?: (question: string) => Promise<number>;
  /** Runs the tool as often as the model calls it. @returns the answer's text */
  readonly loop?: (question: string) => Promise<string>;
  /** Reads the stored history and sends it to the model. @returns the answer's text */
  readonly convert?: (history: string) => Promise<string>;
  /** @returns the characters of the lines, or of the pieces where they are only read */
  readonly transcode?: (question: string) => Promise<number>;
  /** Begins a run that ends up waiting for a tool. Resolves when it waits. */
  readonly idle?: (question: string) => Promise<void>;
}

/** What the sources import, peers are given: they are not bundled. */
export interface PeerSetting extends Setting {
  readonly tool: typeof TOOL;
  readonly models: typeof MODELS;
  readonly weather: typeof weather;
}

export type CreateContender = (setting: PeerSetting) => Contender | Promise<Contender>;

/** The one tool of all loops. */
export const TOOL = {
  name: 'get_weather',
  description: 'The weather in a city',
  parameters: {
    type: 'object',
    properties: {
      city: { type: 'string', description: 'A city' },
      unit: { type: 'string', enum: ['celsius', 'fahrenheit'] },
    },
    required: ['city', 'unit'],
    additionalProperties: false,
  },
} as const;

export const MODELS = { openai: 'gpt-5-mini', chat: 'gpt-5-mini', anthropic: 'claude-sonnet-5-5' } as const;

export function weather(args: { readonly city: string; readonly unit: string }): {
  readonly city: string;
  readonly degrees: number;
  readonly unit: string;
} {
  return { city: args.city, degrees: 21, unit: args.unit };
}
