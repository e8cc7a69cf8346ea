/** Shows guardrails the texts of a relayed request: what is to be drawn or spoken as messages, and how. */
import { isObject } from '../../ai/domain/util/json';
import type { GuardedRequest } from '../../ai/domain/types/GuardrailTypes';
import type { RelayBody } from '../../ai/domain/types/RelayTypes';
import type { InputItem, MessageItem } from '../../ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../ai/domain/types/VendorTypes';

const MESSAGES = ['prompt', 'input'] as const;
const SETTINGS = ['instructions', 'user'] as const;

/** @returns undefined for a body that is no JSON object, such as a form */
export function fieldsOfMedia(body: RelayBody | undefined): JsonObject | undefined {
  if (typeof body !== 'string') return undefined;
  try {
    const fields: unknown = JSON.parse(body);
    return isObject(fields) ? fields : undefined;
  } catch {
    return undefined;
  }
}

export function mediaRequest(fields: JsonObject): GuardedRequest {
  const settings = SETTINGS.filter((name) => typeof fields[name] === 'string');
  return {
    input: messagesIn(fields).map((name): MessageItem => ({
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text: String(fields[name]) }],
    })),
    ...Object.fromEntries(settings.map((name) => [name, fields[name]])),
  };
}

/** @returns the fields with the texts of the changed request */
export function guardedMedia(fields: JsonObject, { input, ...settings }: GuardedRequest): JsonObject {
  return {
    ...fields,
    ...Object.fromEntries(messagesIn(fields).map((name, index) => [name, textIn(input[index])])),
    ...Object.fromEntries(
      SETTINGS.filter((name) => typeof fields[name] === 'string').map((name) => [name, settings[name]]),
    ),
  };
}

function messagesIn(fields: JsonObject): readonly (typeof MESSAGES)[number][] {
  return MESSAGES.filter((name) => typeof fields[name] === 'string');
}

function textIn(item: InputItem | undefined): string {
  return item?.type === 'message'
    ? item.content.map((part) => (part.type === 'input_text' ? part.text : '')).join('')
    : '';
}
