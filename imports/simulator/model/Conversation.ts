/** A request independent of its wire, as the model reads it. Each wire converts its requests to it. */
import { fieldsOf, readJson } from '../../business/ai/domain/util/json';
import type { JsonObject, VendorName, WireName } from '../../business/ai/domain/types/VendorTypes';

export type Turn =
  | { readonly type: 'user'; readonly text: string }
  | { readonly type: 'assistant'; readonly text: string }
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly arguments: string }
  | {
      readonly type: 'result';
      readonly callId: string;
      readonly name: string;
      readonly text: string;
      readonly failed: boolean;
    };

export interface ToolDefinition {
  readonly name: string;
  readonly namespace?: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject;
  /** Whether the result may arrive in a later turn with the same call id. */
  readonly async: boolean;
}

export interface ToolChoice {
  readonly mode: 'auto' | 'none' | 'required';
  /** The only tools that may be called. */
  readonly names?: readonly string[];
}

export interface Conversation {
  readonly vendor: VendorName;
  readonly wire: WireName;
  readonly model: string;
  readonly instructions: string;
  readonly turns: readonly Turn[];
  readonly tools: readonly ToolDefinition[];
  readonly toolChoice: ToolChoice;
  readonly allowsParallelCalls: boolean;
  /** The schema of a structured response, `{}` for any object. */
  readonly outputSchema?: JsonObject;
  readonly wantsReasoning: boolean;
  readonly maxOutputTokens?: number;
}

/** Whether a tool's result only announces that the actual result will follow. */
export function isAcknowledgement(result: Extract<Turn, { type: 'result' }>): boolean {
  return (
    !result.failed &&
    (ACKNOWLEDGING_STATES.has(statusIn(result.text)) || /\b(result|answer) will follow\b/i.test(result.text))
  );
}

const ACKNOWLEDGING_STATES: ReadonlySet<unknown> = new Set(['in_progress', 'accepted', 'pending', 'queued', 'running']);

function statusIn(text: string): unknown {
  return fieldsOf(readJson(text)).status;
}
