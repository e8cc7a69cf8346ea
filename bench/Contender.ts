/** The interface of a contender. A contender without an operation does not take part in its workloads. */
import type { HistoryItem } from './histories';
import type { BenchWire, Workload } from './workloads';

export interface Setting {
  /** The simulator's base URL for this workload and wire, as the official SDK expects it. */
  readonly baseURL: string;
  readonly wire: BenchWire;
  readonly workload: Workload;
  /** What the tool does. Growing loops count their turns with it. */
  readonly weather: typeof weather;
}

export interface Contender {
  /** @returns the response's text */
  readonly ask?: (question: string) => Promise<string>;
  /** @returns the number of characters that were streamed */
  readonly stream?: (question: string) => Promise<number>;
  /** Runs the tool as often as the model calls it. @returns the final response's text */
  readonly loop?: (question: string) => Promise<string>;
  /** Converts a history, given as Responses items, and sends it. @returns the response's text */
  readonly send?: (history: readonly HistoryItem[]) => Promise<string>;
  /** The same for items that the contender checked before: what `prepare` returns is sent. */
  readonly resend?: {
    readonly prepare: (history: readonly HistoryItem[]) => readonly HistoryItem[];
    readonly send: (history: readonly HistoryItem[]) => Promise<string>;
  };
  /** @returns the number of characters of the encoded lines, or of the deltas if the contender only reads */
  readonly transcode?: (question: string) => Promise<number>;
  /** Starts a run that waits for a tool. Resolves once it waits. */
  readonly idle?: (question: string) => Promise<void>;
}

/** Peers are not bundled, so they receive what the bundled contenders import. */
export interface PeerSetting extends Setting {
  readonly tool: typeof TOOL;
  readonly models: typeof MODELS;
}

export type CreateContender = (setting: PeerSetting) => Contender | Promise<Contender>;

/** The tool of every loop. */
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
