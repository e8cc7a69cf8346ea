/** Contents that a client sent, as items: the inverse of GoogleContents and GoogleParts. */
import { itemsOfRuns, kindOfPart, runsOf } from '../response/items';
import { isHollow } from '../request/parts';
import { fromMediaPart } from '../media';
import { camelFields, remember, withMark } from '../googleTypes';
import type { ItemNaming } from '../response/items';
import type { GoogleMark, GooglePart } from '../googleTypes';
import { LLMInvalidRequestError } from '../../../../domain/errors/LLMErrors';
import { isEmpty, isObject } from '../../../../domain/json';
import type {
  FunctionCallOutputItem,
  InputContent,
  InputItem,
  InputText,
} from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject, Origin } from '../../../../domain/types/VendorTypes';

const ORIGIN: Origin = { wire: 'gemini' };

// ---- the system instruction

/** Becomes a system message at the head of the history; what is no text in it goes back to Gemini only. */
export function readSystemInstruction(instruction: unknown): readonly InputItem[] {
  if (instruction === undefined) return [];
  // A text alone is accepted too.
  if (typeof instruction === 'string')
    return [{ type: 'message', role: 'system', content: [{ type: 'input_text', text: instruction }] }];
  if (!isObject(instruction))
    throw new LLMInvalidRequestError('systemInstruction must be a content.', { path: 'systemInstruction' });
  const { parts, ...fields } = instruction;
  const content = partsIn(parts, 'systemInstruction').map(
    (part): InputText => textOf(part) ?? { type: 'input_text', text: '', ...remember(undefined, { part }) },
  );
  const marks: GoogleMark = isEmpty(fields) ? {} : { content: fields };
  return [{ type: 'message', role: 'system', content, ...remember(undefined, marks) }];
}

// ---- contents

export function readContents(contents: readonly unknown[]): readonly InputItem[] {
  const calls = new CallBook();
  let roleBefore: string | undefined;
  return contents.flatMap((content, index) => {
    const path = `contents[${index}]`;
    if (!isObject(content)) throw new LLMInvalidRequestError(`${path} must be an object.`, { path });
    const { parts: list, ...fields } = content;
    const parts = partsIn(list, path);
    const role = fields.role === 'model' ? 'model' : 'user';
    const { role: said, ...others } = fields;
    const isPlain = isEmpty(others) && (said === undefined || said === role) && parts.length > 0;
    const items = role === 'model' ? modelItems(parts, index, calls) : userItems(parts, index, calls);
    const standsAlone = !isPlain || role === roleBefore;
    roleBefore = role;
    return standsAlone ? opened(items, role, fields) : items;
  });
}

/** The first item says that a content begins with it. */
function opened(items: readonly InputItem[], role: 'user' | 'model', fields: JsonObject): readonly InputItem[] {
  const [first, ...others] = items;
  if (first !== undefined) return [withMark(first, { content: fields }), ...others];
  return [
    {
      type: 'message',
      role: role === 'user' ? 'user' : 'assistant',
      content: [],
      ...remember(undefined, { content: fields }),
    },
  ];
}

function partsIn(parts: unknown, path: string): GooglePart[] {
  if (parts === undefined) return [];
  if (!Array.isArray(parts))
    throw new LLMInvalidRequestError(`${path}.parts must be a list.`, { path: `${path}.parts` });
  return parts.map((part, index) => {
    if (isObject(part)) return spelled(part);
    throw new LLMInvalidRequestError(`${path}.parts[${index}] must be an object.`, { path: `${path}.parts[${index}]` });
  });
}

/**
 * The part with the names of its own messages in lowerCamelCase; arguments and results are the caller's and stay as
 * they are.
 */
function spelled(part: GooglePart): GooglePart {
  const out: GooglePart = { ...camelFields(part) };
  for (const field of ['functionCall', 'functionResponse', 'inlineData', 'fileData']) {
    const value = out[field];
    if (isObject(value)) out[field] = camelFields(value);
  }
  const answer = out.functionResponse;
  if (isObject(answer) && Array.isArray(answer.parts)) {
    out.functionResponse = {
      ...answer,
      parts: answer.parts.map((inner) => (isObject(inner) ? spelled(inner) : inner) as unknown),
    };
  }
  return out;
}

// ---- the model's contents

function modelItems(parts: readonly GooglePart[], index: number, calls: CallBook): readonly InputItem[] {
  const naming: ItemNaming = { seed: `c${index}`, itemIds: false, origin: ORIGIN };
  return itemsOfRuns(runsOf(parts), naming).map((item) => {
    if (item.type === 'function_call') calls.opened(item.call_id, item.name);
    return isAsIs(item) ? withMark(item, { asIs: true }) : item;
  });
}

/** Calls that came unsigned are not signed on the way, and empty texts are not left out. */
function isAsIs(item: InputItem): boolean {
  if (item.type === 'function_call') return item.vendor?.google?.thoughtSignature === undefined;
  if (item.type === 'message') return item.content.some((part) => part.type === 'output_text' && part.text === '');
  if (item.type === 'vendor_item') return isHollow(item.item);
  return item.type === 'reasoning' && item.summary.some((part) => part.text === '');
}

// ---- the user's contents

function userItems(parts: readonly GooglePart[], index: number, calls: CallBook): readonly InputItem[] {
  const items: InputItem[] = [];
  let content: InputContent[] = [];
  let asIs = false;
  const flush = (): void => {
    if (content.length > 0)
      items.push({ type: 'message', role: 'user', content, ...remember(undefined, asIs ? { asIs } : {}) });
    content = [];
    asIs = false;
  };
  parts.forEach((part, place) => {
    const said = textOf(part) ?? fromMediaPart(part);
    if (said !== undefined) {
      content.push(said);
      asIs ||= isHollow(part);
      return;
    }
    flush();
    items.push(
      toAnswer(part, calls, `c${index}_${place}`) ?? {
        type: 'vendor_item',
        origin: ORIGIN,
        item: part,
        ...remember(undefined, { role: 'user', asIs: true }),
      },
    );
  });
  flush();
  return items;
}

function textOf(part: GooglePart): InputText | undefined {
  if (kindOfPart(part) !== 'text') return undefined;
  const { text, ...siblings } = part;
  return { type: 'input_text', text: String(text), ...remember(siblings) };
}

function toAnswer(part: GooglePart, calls: CallBook, place: string): FunctionCallOutputItem | undefined {
  const { functionResponse, ...siblings } = part;
  if (!isObject(functionResponse) || typeof functionResponse.name !== 'string') return undefined;
  const { name, response, id, parts, ...more } = functionResponse;
  const media = Array.isArray(parts) ? parts.map((inner) => (isObject(inner) ? fromMediaPart(inner) : undefined)) : [];
  const isWhole =
    isObject(response) &&
    isEmpty(more) &&
    (parts === undefined || Array.isArray(parts)) &&
    media.every((one) => one !== undefined);
  const said = JSON.stringify(response ?? {});
  const wireId = typeof id === 'string' ? id : undefined;
  return {
    type: 'function_call_output',
    call_id: calls.answered(name, wireId) ?? `call_${place}`,
    name,
    output:
      parts === undefined
        ? said
        : [
            ...(said === '{}' ? [] : [{ type: 'input_text', text: said } as const]),
            ...media.filter((one) => one !== undefined),
          ],
    // Only some models take media in an answer; one that was sent so goes out so, whatever we know of the model.
    ...(isWhole && parts === undefined && (id === undefined || wireId !== undefined)
      ? remember(siblings, wireId === undefined ? {} : { id: wireId })
      : remember(undefined, { part })),
  };
}

/** Which calls wait for an answer. Most have no id on this wire; their answers come in order, by name. */
class CallBook {
  private waiting: { readonly id: string; readonly name: string }[] = [];

  opened(id: string, name: string): void {
    this.waiting.push({ id, name });
  }

  answered(name: string, id: string | undefined): string | undefined {
    const place = this.waiting.findIndex((call) => (id === undefined ? call.name === name : call.id === id));
    if (place === -1) return id;
    return this.waiting.splice(place, 1)[0]?.id;
  }
}
