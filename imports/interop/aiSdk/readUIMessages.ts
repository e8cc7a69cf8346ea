/** Reads the UI messages of a client, part by part. https://ai-sdk.dev/docs/reference/ai-sdk-core/ui-message */
import { identifier, invalid, listOf, oneOf, optional, required, text } from '../../business/ai/domain/util/arguments';
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import { isObject } from '../../business/ai/domain/util/json';
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';
import type { CallOfRun } from '../../business/ai/domain/types/AgentEvents';
import { callIn, itemsIn } from './UIMessages';

/** A part that means something to a model. */
export type ReadPart =
  | { readonly kind: 'step' }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly mediaType: string; readonly url: string; readonly filename?: string }
  | { readonly kind: 'steering'; readonly parts: readonly ReadPart[] }
  | { readonly kind: 'output'; readonly items: readonly JsonObject[] }
  | ReadToolPart
  | ReadAskedCall;

export interface ReadToolPart extends ReadCall {
  readonly kind: 'tool';
}

/** What a person is asked about: a call of a run below, and no call of the model that the message is of. */
export interface ReadAskedCall extends ReadCall {
  readonly kind: 'asked';
  readonly of: CallOfRun;
}

export interface ReadCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly state: (typeof TOOL_STATES)[number];
  readonly input: unknown;
  readonly output: unknown;
  readonly errorText?: string;
  /** The output is followed by another one. */
  readonly isPreliminary: boolean;
  readonly approval?: { readonly id: string; readonly approved?: boolean; readonly reason?: string };
}

export interface ReadMessage {
  readonly id: string;
  readonly role: 'user' | 'assistant';
  readonly parts: readonly ReadPart[];
}

const TOOL_STATES = [
  'input-streaming',
  'input-available',
  'approval-requested',
  'approval-responded',
  'output-available',
  'output-error',
  'output-denied',
] as const;

/** Parts that only people see. */
const SILENT_TYPES: ReadonlySet<string> = new Set(['reasoning', 'reasoning-file', 'source-url', 'source-document']);

const MAX_MESSAGES = 2_000;
const MAX_PARTS = 10_000;
const MAX_TEXT = 4_000_000;
const MAX_URL = 16_000_000;
const MAX_ID = 512;

/** @throws LLMInvalidRequestError with the path of the invalid value, such as `messages[0].parts[1].type` */
export function readUIMessages(value: unknown): readonly ReadMessage[] {
  return listOf(MAX_MESSAGES, readMessage)(value, 'messages');
}

function readMessage(value: unknown, path: string): ReadMessage {
  if (!isObject(value)) throw invalid(path, 'must be a message: { id, role, parts }');
  const role = required(value, 'role', oneOf(['user', 'assistant', 'system'] as const), `${path}.role`);
  if (role === 'system')
    throw new LLMInvalidRequestError(
      `"${path}.role" must be "user" or "assistant". Only the operator may send system messages; use "instructions".`,
      { path: `${path}.role` },
    );
  const readParts = listOf(MAX_PARTS, (part, at) => readPart(part, at, role));
  return {
    id: required(value, 'id', identifier(MAX_ID), `${path}.id`),
    role,
    parts: required(value, 'parts', readParts, `${path}.parts`)
      .filter((part) => part !== undefined)
      // The step that a person is asked in is none of the model's.
      .filter((part, index, parts) => part.kind !== 'step' || parts[index + 1]?.kind !== 'asked'),
  };
}

function readPart(value: unknown, path: string, role: ReadMessage['role']): ReadPart | undefined {
  if (!isObject(value)) throw invalid(path, 'must be a part with a "type"');
  const type = required(value, 'type', text(MAX_ID), `${path}.type`);
  if (type === 'text') return { kind: 'text', text: required(value, 'text', text(MAX_TEXT), `${path}.text`) };
  if (type === 'file') return readFile(value, path);
  if (type === 'step-start') return { kind: 'step' };
  // An app's own data is not for the model.
  if (type.startsWith('data-') || SILENT_TYPES.has(type)) return undefined;
  if (role === 'assistant') {
    if (type === 'dynamic-tool')
      return readTool(value, path, required(value, 'toolName', text(MAX_ID), `${path}.toolName`));
    if (type.startsWith('tool-')) return readTool(value, path, type.slice('tool-'.length));
    if (type === 'custom') {
      const items = itemsIn(value.providerMetadata);
      return items === undefined ? undefined : { kind: 'output', items };
    }
    if (type === 'steering-message') {
      const read = listOf(MAX_PARTS, (part, at) => readPart(part, at, 'user'));
      const parts = required(value, 'parts', read, `${path}.parts`);
      return { kind: 'steering', parts: parts.filter((part) => part !== undefined) };
    }
  }
  throw new LLMInvalidRequestError(
    `"${path}" has the unknown type "${type.slice(0, 60)}" for a message of the role "${role}". Expected one of: ${
      role === 'user' ? 'text, file, data-…' : 'text, reasoning, tool-…, dynamic-tool, file, source-…, custom, data-…'
    }.`,
    { path: `${path}.type` },
  );
}

function readFile(value: JsonObject, path: string): ReadPart {
  return {
    kind: 'file',
    mediaType: required(value, 'mediaType', text(MAX_ID), `${path}.mediaType`),
    url: required(value, 'url', text(MAX_URL), `${path}.url`),
    ...optional(value, 'filename', text(MAX_ID), `${path}.filename`),
  };
}

function readTool(value: JsonObject, path: string, toolName: string): ReadToolPart | ReadAskedCall {
  const { approval, input, output, preliminary } = value;
  const of = callIn(value.callProviderMetadata);
  const toolCallId = required(value, 'toolCallId', text(MAX_ID), `${path}.toolCallId`);
  return {
    ...(of === undefined ? { kind: 'tool' } : { kind: 'asked', of }),
    toolName,
    toolCallId,
    state: required(value, 'state', oneOf(TOOL_STATES), `${path}.state`),
    input: input ?? value.rawInput,
    output,
    isPreliminary: preliminary === true,
    ...optional(value, 'errorText', text(MAX_TEXT), `${path}.errorText`),
    ...(isObject(approval) ? { approval: readApproval(approval, `${path}.approval`) } : {}),
  };
}

function readApproval(value: JsonObject, path: string): NonNullable<ReadCall['approval']> {
  return {
    id: required(value, 'id', text(2 * MAX_ID), `${path}.id`),
    ...(typeof value.approved === 'boolean' ? { approved: value.approved } : {}),
    ...optional(value, 'reason', text(MAX_TEXT), `${path}.reason`),
  };
}
