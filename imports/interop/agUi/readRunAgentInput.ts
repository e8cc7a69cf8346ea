/**
 * Reads the body of a request to run an agent. Unknown fields are ignored, as the protocol requires of its readers.
 * https://docs.ag-ui.com/sdk/js/core/types
 */
import {
  boolean,
  identifier,
  invalid,
  json,
  listOf,
  oneOf,
  optional,
  optionalValue,
  required,
  text,
} from '../../business/ai/domain/util/arguments';
import type { ArgumentReader } from '../../business/ai/domain/util/arguments';
import { fieldsOf, isObject } from '../../business/ai/domain/util/json';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';
import type {
  AgUiContentPart,
  AgUiMessage,
  AgUiPartSource,
  AgUiResumeEntry,
  AgUiTool,
  AgUiToolCall,
  RunAgentInput,
} from './AgUiMessages';

/** Counts of entries, and characters of texts and of JSON. */
const LIMITS = { messages: 10_000, parts: 1_000, entries: 128, id: 512, text: 4_000_000, json: 4_000_000 } as const;

const id = text(LIMITS.id);
const long = text(LIMITS.text);
const anyJson = json(LIMITS.json);

/** @throws LLMInvalidRequestError with the path of the field */
export function readRunAgentInput(body: unknown): RunAgentInput {
  const fields = objectAt(body, '');
  const list = <T>(name: string, max: number, read: ArgumentReader<T>): readonly T[] =>
    fields[name] === undefined || fields[name] === null ? [] : listOf(max, read)(fields[name], name);
  return {
    threadId: required(fields, 'threadId', id),
    runId: required(fields, 'runId', identifier(128)),
    ...optional(fields, 'parentRunId', id),
    ...optional(fields, 'state', anyJson),
    messages: required(fields, 'messages', listOf(LIMITS.messages, readMessage)),
    tools: list('tools', LIMITS.entries, readTool),
    context: list('context', LIMITS.entries, readContext),
    forwardedProps: fieldsOf(fields.forwardedProps),
    resume: list('resume', LIMITS.entries, readResume),
  };
}

const ROLES = ['user', 'assistant', 'tool', 'system', 'developer', 'reasoning', 'activity'] as const;

function readMessage(value: unknown, path: string): AgUiMessage {
  const fields = objectAt(value, path);
  const at = (name: string): string => `${path}.${name}`;
  const metadata = optionalValue(fields, 'metadata', jsonObject, at('metadata'));
  const subagentRunId = optionalValue(fields, 'subagentRunId', id, at('subagentRunId'));
  const common = omitUndefined({ id: required(fields, 'id', id, at('id')), metadata, subagentRunId });
  const role = required(fields, 'role', oneOf(ROLES), at('role'));
  switch (role) {
    case 'user':
      return { ...common, role, content: required(fields, 'content', readContent, at('content')) };
    case 'assistant':
      return {
        ...common,
        role,
        ...(fields.content === null ? {} : optional(fields, 'content', long, at('content'))),
        ...optional(fields, 'toolCalls', mutable(listOf(LIMITS.entries, readToolCall)), at('toolCalls')),
      };
    case 'tool':
      return {
        ...common,
        role,
        content: required(fields, 'content', readContent, at('content')),
        toolCallId: required(fields, 'toolCallId', id, at('toolCallId')),
      };
    case 'activity':
      return {
        ...common,
        role,
        activityType: required(fields, 'activityType', id, at('activityType')),
        content: required(fields, 'content', jsonObject, at('content')),
      };
    default:
      return { ...common, role, content: required(fields, 'content', long, at('content')) };
  }
}

function readContent(value: unknown, path: string): string | AgUiContentPart[] {
  return typeof value === 'string' ? long(value, path) : mutable(listOf(LIMITS.parts, readPart))(value, path);
}

const PART_TYPES = ['text', 'image', 'audio', 'video', 'document'] as const;

function readPart(value: unknown, path: string): AgUiContentPart {
  const fields = objectAt(value, path);
  const type = required(fields, 'type', oneOf(PART_TYPES), `${path}.type`);
  return type === 'text'
    ? { type, text: required(fields, 'text', long, `${path}.text`) }
    : { type, source: required(fields, 'source', readSource, `${path}.source`) };
}

const SOURCE_TYPES = ['data', 'url', 'file'] as const;

function readSource(value: unknown, path: string): AgUiPartSource {
  const fields = objectAt(value, path);
  const type = required(fields, 'type', oneOf(SOURCE_TYPES), `${path}.type`);
  const given = required(fields, 'value', text(Number.MAX_SAFE_INTEGER), `${path}.value`);
  return type === 'data'
    ? { type, value: given, mimeType: required(fields, 'mimeType', id, `${path}.mimeType`) }
    : { type, value: given, ...optional(fields, 'mimeType', id, `${path}.mimeType`) };
}

function readToolCall(value: unknown, path: string): AgUiToolCall {
  const fields = objectAt(value, path);
  const called = required(fields, 'function', objectAt, `${path}.function`);
  return {
    id: required(fields, 'id', id, `${path}.id`),
    type: 'function',
    function: {
      name: required(called, 'name', id, `${path}.function.name`),
      arguments: required(called, 'arguments', long, `${path}.function.arguments`),
    },
  };
}

function readTool(value: unknown, path: string): AgUiTool {
  const fields = objectAt(value, path);
  return {
    name: required(fields, 'name', identifier(64), `${path}.name`),
    description: required(fields, 'description', long, `${path}.description`),
    ...optional(fields, 'parameters', jsonObject, `${path}.parameters`),
  };
}

function readContext(value: unknown, path: string): RunAgentInput['context'][number] {
  const fields = objectAt(value, path);
  return {
    description: required(fields, 'description', long, `${path}.description`),
    value: required(fields, 'value', long, `${path}.value`),
  };
}

const RESUME_STATUSES = ['resolved', 'cancelled'] as const;

function readResume(value: unknown, path: string): AgUiResumeEntry {
  const fields = objectAt(value, path);
  return {
    interruptId: required(fields, 'interruptId', text(2 * LIMITS.id), `${path}.interruptId`),
    status: required(fields, 'status', oneOf(RESUME_STATUSES), `${path}.status`),
    ...optional(fields, 'payload', anyJson, `${path}.payload`),
  };
}

/** What the payload of an answer to an interrupt may hold. @throws LLMInvalidRequestError */
export function readInterruptAnswer(payload: unknown, path: string): InterruptAnswer {
  const fields = objectAt(payload ?? {}, path);
  return {
    ...optional(fields, 'approved', boolean, `${path}.approved`),
    ...optional(fields, 'reason', text(2_000), `${path}.reason`),
    ...optional(fields, 'output', anyJson, `${path}.output`),
    ...optional(fields, 'error', text(2_000), `${path}.error`),
  };
}

export interface InterruptAnswer {
  readonly approved?: boolean;
  readonly reason?: string;
  readonly output?: unknown;
  readonly error?: string;
}

const jsonObject: ArgumentReader<JsonObject> = (value, path) => objectAt(anyJson(value, path), path);

function objectAt(value: unknown, path: string): JsonObject {
  if (!isObject(value)) throw invalid(path, 'must be an object');
  return value;
}

/** The protocol's lists are mutable in its types. */
function mutable<T>(read: ArgumentReader<readonly T[]>): ArgumentReader<T[]> {
  return (value, path) => [...read(value, path)];
}
