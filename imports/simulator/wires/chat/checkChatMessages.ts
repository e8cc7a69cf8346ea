/** The rules of the Chat Completions wire for transcripts that are valid according to its schema. */
import { vendorProfile } from '../../vendorProfiles';
import { isGiven, isObject, objectsIn } from '../../json';
import { firstRejection, reject } from '../../validation/Rejection';
import type { VendorName } from '../../../business/ai/domain/types/VendorTypes';
import type { Rejection, Rule } from '../../validation/Rejection';
import type { WireRequest } from '../WireSimulator';
import { chatBody } from './chatBody';
import type { ChatBody, ChatMessage } from './chatBody';
import { checkChatOptions } from './checkChatOptions';

export function checkChatMessages(request: WireRequest): Rejection | undefined {
  const body = chatBody(request.body);
  const profile = vendorProfile(request.vendor);
  const rules: readonly Rule<ChatBody>[] = profile.requiresPairedCalls
    ? [
        ...(LIMIT_CALL_IDS.has(request.vendor) ? [rejectLongCallIds] : []),
        rejectDuplicateResults,
        rejectUnansweredCalls,
        rejectOrphanedResults,
        rejectEmptyAssistantMessage,
      ]
    : [];
  return firstRejection(rules, body) ?? checkChatOptions(request, body);
}

const MAX_CALL_ID = 40;
/**
 * OpenAI accepts call ids of at most 40 characters on this wire ("string too long. Expected a string with maximum
 * length 40"). OpenRouter's own are longer.
 */
const LIMIT_CALL_IDS: ReadonlySet<VendorName> = new Set(['openai', 'azure_openai']);

export function rejectLongCallIds({ messages }: ChatBody): Rejection | undefined {
  for (const [index, message] of messages.entries()) {
    for (const [at, call] of (message.tool_calls ?? []).entries()) {
      if (call.id.length > MAX_CALL_ID) return tooLong(`messages[${index}].tool_calls[${at}].id`, call.id.length);
    }
    if ((message.tool_call_id?.length ?? 0) > MAX_CALL_ID)
      return tooLong(`messages[${index}].tool_call_id`, message.tool_call_id?.length ?? 0);
  }
  return undefined;
}

function tooLong(param: string, length: number): Rejection {
  return reject(
    `Invalid '${param}': string too long. Expected a string with maximum length ${MAX_CALL_ID}, but got a string with length ${length} instead.`,
    {
      param,
      code: 'string_above_max_length',
    },
  );
}

/** A call must not have two results (github.com/agno-agi/agno/issues/5116). */
export function rejectDuplicateResults({ messages }: ChatBody): Rejection | undefined {
  let seen = new Map<string, number>();
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'tool') {
      seen = new Map();
      continue;
    }
    const id = message.tool_call_id ?? '';
    const first = seen.get(id);
    if (first !== undefined) {
      return reject(
        `Invalid parameter: Duplicate value for 'tool_call_id' of '${id}', in messages[${first}] and messages[${index}].`,
        {
          param: `messages.[${index}].tool_call_id`,
        },
      );
    }
    seen.set(id, index);
  }
  return undefined;
}

/** Every call needs its result in the tool messages right after it. */
export function rejectUnansweredCalls({ messages }: ChatBody): Rejection | undefined {
  for (const [index, message] of messages.entries()) {
    const answered = new Set(toolMessagesAfter(messages, index).map((result) => result.tool_call_id));
    const missing = (message.tool_calls ?? []).map((call) => call.id).filter((id) => !answered.has(id));
    if (missing.length > 0) {
      const sentence =
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.";
      return reject(`${sentence} The following tool_call_ids did not have response messages: ${missing.join(', ')}`, {
        param: `messages.[${index}].role`,
      });
    }
  }
  return undefined;
}

/** A tool message must belong to a call of the assistant message before its block of tool messages. */
export function rejectOrphanedResults({ messages }: ChatBody): Rejection | undefined {
  for (const [index, message] of messages.entries()) {
    if (message.role !== 'tool') continue;
    const caller = messages.slice(0, index).findLast((earlier) => earlier.role !== 'tool');
    const ids = caller?.role === 'assistant' ? (caller.tool_calls ?? []).map((call) => call.id) : [];
    if (!ids.includes(message.tool_call_id ?? '')) {
      return reject(
        "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        {
          param: `messages.[${index}].role`,
        },
      );
    }
  }
  return undefined;
}

/** An assistant message without calls needs content. */
export function rejectEmptyAssistantMessage({ messages }: ChatBody): Rejection | undefined {
  const index = messages.findIndex((message) => message.role === 'assistant' && !hasContent(message));
  if (index < 0) return undefined;
  return reject("Invalid value for 'content': expected a string, got null.", { param: `messages.[${index}].content` });
}

function hasContent(message: ChatMessage): boolean {
  return (
    isGiven(message.content) ||
    (message.tool_calls ?? []).length > 0 ||
    [message.refusal, message.function_call, message.audio].some(isGiven)
  );
}

/** Llama servers fail on a replayed call without its arguments (llama-err500-a). */
export function failOnMissingArguments({ vendor, body }: WireRequest): Rejection | undefined {
  if (vendor !== 'llama') return undefined;
  const calls = objectsIn(body.messages).flatMap((message) => objectsIn(message.tool_calls));
  const broken = calls.some((call) => isObject(call.function) && call.function.arguments === undefined);
  return broken ? reject('Internal server error', { status: 500, type: 'server_error' }) : undefined;
}

function toolMessagesAfter(messages: readonly ChatMessage[], index: number): readonly ChatMessage[] {
  const after = messages.slice(index + 1);
  const end = after.findIndex((message) => message.role !== 'tool');
  return end < 0 ? after : after.slice(0, end);
}
