/** Shows guardrails the texts of a relayed request: what is to be drawn, spoken or judged as messages, and the rest. */
import { isObject, readJson } from '../../ai/domain/util/json';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import type { GuardedRequest } from '../../ai/domain/types/GuardrailTypes';
import type { RelayBody } from '../../ai/domain/types/RelayTypes';
import type { InputItem, MessageItem } from '../../ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../ai/domain/types/VendorTypes';
import { mapStrings } from './mapStrings';

export interface RelayedMedia {
  readonly fields: JsonObject;
  readonly write: (fields: JsonObject) => RelayBody;
}

/** @returns undefined for a body that is neither a form nor a JSON object */
export async function readMedia(body: RelayBody | undefined): Promise<RelayedMedia | undefined> {
  if (typeof body === 'string') {
    const fields = readJson(body);
    return isObject(fields) ? { fields, write: (changed) => JSON.stringify(changed) } : undefined;
  }
  if (body === undefined || !('readFields' in body)) return undefined;
  return { fields: await body.readFields(), write: (changed) => body.withFields(changed) };
}

/** What a model is told to draw, speak or judge. */
const MESSAGES = ['prompt', 'input'] as const;

export async function mediaRequest(fields: JsonObject): Promise<GuardedRequest> {
  const { prompt, input, instructions, user, ...media } = fields;
  const messages = await Promise.all(
    MESSAGES.filter((name) => name in fields).map(async (name): Promise<MessageItem> => ({
      type: 'message',
      role: 'user',
      content: (await textsIn(fields[name])).map((text) => ({ type: 'input_text', text })),
    })),
  );
  return omitUndefined({
    input: messages,
    instructions: typeof instructions === 'string' ? instructions : undefined,
    user: typeof user === 'string' ? user : undefined,
    media,
  });
}

/** @returns the fields with the texts of the changed request */
export async function guardedMedia(
  fields: JsonObject,
  { input, instructions, user, media }: GuardedRequest,
): Promise<JsonObject> {
  const messages = await Promise.all(
    MESSAGES.filter((name) => name in fields).map(async (name, index): Promise<[string, unknown]> => {
      const texts = contentOf(input[index]);
      return [name, await mapStrings(fields[name], () => texts.shift() ?? '')];
    }),
  );
  return {
    ...fields,
    ...media,
    ...Object.fromEntries(messages),
    ...omitUndefined({ instructions, user }),
  };
}

async function textsIn(value: unknown): Promise<readonly string[]> {
  const texts: string[] = [];
  await mapStrings(value, (text) => {
    texts.push(text);
    return text;
  });
  return texts;
}

function contentOf(item: InputItem | undefined): string[] {
  return item?.type === 'message' ? item.content.map((part) => (part.type === 'input_text' ? part.text : '')) : [];
}
