/**
 * Reads the contents of a client's request as items, the inverse of `toContents`.
 * https://ai.google.dev/api/caching#Content
 */
import { asList } from './asList';
import { toItems, kindOfPart, groupParts } from '../response/items';
import { isEmptyText } from '../request/parts';
import { fromMediaPart } from '../media';
import { camelCaseKeys, vendorFields, withMark } from '../googleTypes';
import type { ItemNaming } from '../response/items';
import type { GoogleMark, GooglePart } from '../googleTypes';
import { LLMInvalidRequestError } from '../../../../domain/errors/LLMErrors';
import { isEmpty, isList, isObject } from '../../../../domain/util/json';
import type {
  FunctionCallOutputItem,
  InputContent,
  InputItem,
  InputText,
} from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject, Origin } from '../../../../domain/types/VendorTypes';

const ORIGIN: Origin = { wire: 'gemini' };

// ---- the system instruction

/** Becomes a system message at the start of the history. Parts without text are returned only to Gemini. */
export function readSystemInstruction(instruction: unknown): readonly InputItem[] {
  if (instruction === undefined) return [];
  // The API also accepts a plain string.
  if (typeof instruction === 'string')
    return [{ type: 'message', role: 'system', content: [{ type: 'input_text', text: instruction }] }];
  if (!isObject(instruction))
    throw new LLMInvalidRequestError('"systemInstruction" must be a content object.', { path: 'systemInstruction' });
  const { parts, ...fields } = instruction;
  const content = requireParts(parts, 'systemInstruction').map(
    (part): InputText => toInputText(part) ?? { type: 'input_text', text: '', ...vendorFields(undefined, { part }) },
  );
  const marks: GoogleMark = isEmpty(fields) ? {} : { content: fields };
  return [{ type: 'message', role: 'system', content, ...vendorFields(undefined, marks) }];
}

// ---- contents

export function readContents(contents: readonly unknown[]): readonly InputItem[] {
  const calls = new OpenCalls();
  let previousRole: string | undefined;
  return contents.flatMap((content, index) => {
    const path = `contents[${index}]`;
    if (!isObject(content)) throw new LLMInvalidRequestError(`"${path}" must be an object.`, { path });
    const { parts: list, ...fields } = content;
    const parts = requireParts(list, path);
    const role = fields.role === 'model' ? 'model' : 'user';
    const { role: givenRole, ...others } = fields;
    const isPlain = isEmpty(others) && (givenRole === undefined || givenRole === role) && parts.length > 0;
    const items = role === 'model' ? readModelParts(parts, index, calls) : readUserParts(parts, index, calls);
    const standsAlone = !isPlain || role === previousRole;
    previousRole = role;
    return standsAlone ? startingContent(items, role, fields) : items;
  });
}

/** Marks the first item as the start of a separate content. */
function startingContent(
  items: readonly InputItem[],
  role: 'user' | 'model',
  fields: JsonObject,
): readonly InputItem[] {
  const [first, ...others] = items;
  if (first !== undefined) return [withMark(first, { content: fields }), ...others];
  return [
    {
      type: 'message',
      role: role === 'user' ? 'user' : 'assistant',
      content: [],
      ...vendorFields(undefined, { content: fields }),
    },
  ];
}

/** @throws LLMInvalidRequestError if they are no list of objects */
export function requireParts(given: unknown, path: string): GooglePart[] {
  const parts = asList(given);
  if (parts === undefined) return [];
  if (!isList(parts)) throw new LLMInvalidRequestError(`"${path}.parts" must be a list.`, { path: `${path}.parts` });
  return parts.map((part, index) => {
    if (isObject(part)) return withCamelCaseKeys(part);
    throw new LLMInvalidRequestError(`"${path}.parts[${index}]" must be an object.`, {
      path: `${path}.parts[${index}]`,
    });
  });
}

/** Converts the part's own fields to lowerCamelCase. Arguments and results belong to the caller and stay unchanged. */
function withCamelCaseKeys(part: GooglePart): GooglePart {
  const out: GooglePart = { ...camelCaseKeys(part) };
  for (const field of ['functionCall', 'functionResponse', 'inlineData', 'fileData']) {
    const value = out[field];
    if (isObject(value)) out[field] = camelCaseKeys(value);
  }
  const result = out.functionResponse;
  if (isObject(result) && Array.isArray(result.parts)) {
    out.functionResponse = {
      ...result,
      parts: result.parts.map((inner) => (isObject(inner) ? withCamelCaseKeys(inner) : inner) as unknown),
    };
  }
  return out;
}

// ---- the model's contents

function readModelParts(parts: readonly GooglePart[], index: number, calls: OpenCalls): readonly InputItem[] {
  const naming: ItemNaming = { seed: `c${index}`, itemIds: false, origin: ORIGIN };
  return toItems(groupParts(parts), naming).map((item) => {
    if (item.type === 'function_call') calls.add(item.call_id, item.name);
    return mustStayVerbatim(item) ? withMark(item, { asIs: true }) : item;
  });
}

/** Whether the item must be written back exactly: unsigned calls are not signed, and empty texts not dropped. */
function mustStayVerbatim(item: InputItem): boolean {
  if (item.type === 'function_call') return item.vendor?.google?.thoughtSignature === undefined;
  if (item.type === 'message') return item.content.some((part) => part.type === 'output_text' && part.text === '');
  if (item.type === 'vendor_item') return isEmptyText(item.item);
  return item.type === 'reasoning' && item.summary.some((part) => part.text === '');
}

// ---- the user's contents

function readUserParts(parts: readonly GooglePart[], index: number, calls: OpenCalls): readonly InputItem[] {
  const items: InputItem[] = [];
  let content: InputContent[] = [];
  let asIs = false;
  const flush = (): void => {
    if (content.length > 0)
      items.push({ type: 'message', role: 'user', content, ...vendorFields(undefined, asIs ? { asIs } : {}) });
    content = [];
    asIs = false;
  };
  parts.forEach((part, partIndex) => {
    const converted = toInputText(part) ?? fromMediaPart(part);
    if (converted !== undefined) {
      content.push(converted);
      asIs ||= isEmptyText(part);
      return;
    }
    flush();
    items.push(
      toCallOutput(part, calls, `c${index}_${partIndex}`) ?? {
        type: 'vendor_item',
        origin: ORIGIN,
        item: part,
        ...vendorFields(undefined, { role: 'user', asIs: true }),
      },
    );
  });
  flush();
  return items;
}

function toInputText(part: GooglePart): InputText | undefined {
  if (kindOfPart(part) !== 'text') return undefined;
  const { text, ...siblings } = part;
  return { type: 'input_text', text: String(text), ...vendorFields(siblings) };
}

function toCallOutput(part: GooglePart, calls: OpenCalls, seed: string): FunctionCallOutputItem | undefined {
  const { functionResponse, ...siblings } = part;
  if (!isObject(functionResponse) || typeof functionResponse.name !== 'string') return undefined;
  const { name, response, id, parts, ...more } = functionResponse;
  const media = Array.isArray(parts) ? parts.map((inner) => (isObject(inner) ? fromMediaPart(inner) : undefined)) : [];
  const isLossless =
    isObject(response) &&
    isEmpty(more) &&
    (parts === undefined || Array.isArray(parts)) &&
    media.every((one) => one !== undefined);
  const text = JSON.stringify(response ?? {});
  const wireId = typeof id === 'string' ? id : undefined;
  return {
    type: 'function_call_output',
    call_id: calls.take(name, wireId) ?? `call_${seed}`,
    name,
    output:
      parts === undefined
        ? text
        : [
            ...(text === '{}' ? [] : [{ type: 'input_text', text } as const]),
            ...media.filter((one) => one !== undefined),
          ],
    // Only some models support media in results. A part with media is written back as it was sent, for any model.
    ...(isLossless && parts === undefined && (id === undefined || wireId !== undefined)
      ? vendorFields(siblings, wireId === undefined ? {} : { id: wireId })
      : vendorFields(undefined, { part })),
  };
}

/**
 * The calls without a result so far. Most calls have no id on this wire: results without an id, or with one that no
 * call has, are matched by name, in order.
 */
class OpenCalls {
  private waiting: { readonly id: string; readonly name: string }[] = [];
  private readonly ids = new Set<string>();

  add(id: string, name: string): void {
    this.waiting.push({ id, name });
    this.ids.add(id);
  }

  take(name: string, id: string | undefined): string | undefined {
    const isNamed = id === undefined || !this.ids.has(id);
    const index = this.waiting.findIndex((call) => (isNamed ? call.name === name : call.id === id));
    if (index === -1) return id;
    return this.waiting.splice(index, 1)[0]?.id;
  }
}
