/**
 * The live state of a run's tool calls as a part of the thread's shared state, under the key `bolide`. The rest of the
 * state is the application's, and is returned as it was given. https://docs.ag-ui.com/concepts/state
 */
import { isObject } from '../../business/ai/domain/util/json';
import type { ToolCallState } from '../../business/ai/domain/entities/Tool';
import type { AgUiEvent, JsonPatchOperation } from './AgUiEvents';

/** `state.bolide`. */
export interface AgUiRunState {
  readonly executionId: string;
  /** The id of the AG-UI run, under which its stream can be asked for again. */
  readonly runId: string;
  /** By `toolCallId`. */
  readonly toolCalls: Readonly<Record<string, AgUiCallState>>;
}

export interface AgUiCallState {
  readonly name: string;
  readonly blocking: boolean;
  readonly state: ToolCallState;
  /** From 0 to 1. */
  readonly progress?: number;
  readonly note?: string;
  readonly error?: string;
}

export class AgUiToolState {
  /** Undefined if the application's state is not an object, and so cannot hold Bolide's. */
  private readonly base: Readonly<Record<string, unknown>> | undefined;
  private readonly run: Omit<AgUiRunState, 'toolCalls'>;
  private readonly calls = new Map<string, AgUiCallState>();

  constructor(state: unknown, run: Omit<AgUiRunState, 'toolCalls'>) {
    this.base = state === undefined || state === null ? {} : isObject(state) ? state : undefined;
    this.run = run;
  }

  get snapshot(): readonly AgUiEvent[] {
    if (this.base === undefined) return [];
    const bolide: AgUiRunState = { ...this.run, toolCalls: Object.fromEntries(this.calls) };
    return [{ type: 'STATE_SNAPSHOT', snapshot: { ...this.base, bolide } }];
  }

  /** @returns nothing if the call is in that state already */
  set(toolCallId: string, state: AgUiCallState): readonly AgUiEvent[] {
    const before = this.calls.get(toolCallId);
    this.calls.set(toolCallId, state);
    if (this.base === undefined) return [];
    const path = `/bolide/toolCalls/${escapePointer(toolCallId)}`;
    const delta: JsonPatchOperation[] =
      before === undefined ? [{ op: 'add', path, value: state }] : changes(before, state, path);
    return delta.length === 0 ? [] : [{ type: 'STATE_DELTA', delta }];
  }
}

const FIELDS = ['state', 'progress', 'note', 'error'] as const;

function changes(before: AgUiCallState, after: AgUiCallState, path: string): JsonPatchOperation[] {
  return FIELDS.flatMap((field): JsonPatchOperation[] => {
    if (before[field] === after[field]) return [];
    const target = `${path}/${field}`;
    if (after[field] === undefined) return [{ op: 'remove', path: target }];
    return [{ op: before[field] === undefined ? 'add' : 'replace', path: target, value: after[field] }];
  });
}

/** https://www.rfc-editor.org/rfc/rfc6901#section-3 */
function escapePointer(token: string): string {
  return token.replaceAll('~', '~0').replaceAll('/', '~1');
}
