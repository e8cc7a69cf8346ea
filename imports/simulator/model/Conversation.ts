/** A request without its wire: what the model reads. Each wire extracts it, the model knows no wire. */
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

export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonObject;
  /** Its result may come in a later turn on the same call id. */
  readonly async: boolean;
}

export interface ToolDemand {
  readonly mode: 'auto' | 'none' | 'required';
  /** The only ones that may be called. */
  readonly names?: readonly string[];
}

export interface Conversation {
  readonly vendor: VendorName;
  readonly wire: WireName;
  readonly model: string;
  readonly instructions: string;
  readonly turns: readonly Turn[];
  readonly tools: readonly OfferedTool[];
  readonly toolDemand: ToolDemand;
  readonly parallelCalls: boolean;
  /** Set when the answer must be JSON: the schema it must follow, `{}` for any object. */
  readonly wantedSchema?: JsonObject;
  readonly wantsReasoning: boolean;
  readonly maxOutputTokens?: number;
}

/** Text in which a tool's result says that the real one will come later. */
export function isAcknowledgement(result: Extract<Turn, { type: 'result' }>): boolean {
  return (
    !result.failed &&
    (ACKNOWLEDGING_STATES.has(statusIn(result.text)) || /\b(result|answer) will follow\b/i.test(result.text))
  );
}

const ACKNOWLEDGING_STATES: ReadonlySet<unknown> = new Set(['in_progress', 'accepted', 'pending', 'queued', 'running']);

function statusIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && 'status' in value ? value.status : undefined;
  } catch {
    return undefined;
  }
}
