/** Converts an item to parts of the Gemini wire. https://ai.google.dev/api/caching#Part */
import { UnsupportedFeatureError } from '../../../../domain/errors/LLMErrors';
import { fieldsOf } from '../../../../domain/util/json';
import { isErrorState } from '../../../../domain/entities/Tool';
import { parseArguments } from '../../shared/callArguments';
import { cacheByItem } from '../../shared/conversionCache';
import { toMediaPart } from '../media';
import { markOf, siblingsOf } from '../googleTypes';
import type { GooglePart } from '../googleTypes';
import type {
  Content,
  FunctionCallItem,
  FunctionCallOutputItem,
  InputContent,
  InputItem,
  MessageItem,
  ReasoningItem,
  ReasoningText,
  SummaryText,
} from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

export interface PartLoss {
  /** Path within the item: '' or `.content[2]`. */
  readonly at: string;
  readonly what: string;
  readonly reason: string;
}

export interface ConvertedItem {
  readonly role: 'user' | 'model';
  readonly parts: readonly GooglePart[];
  /** The parts without empty texts: what is sent. */
  readonly nonEmptyParts: readonly GooglePart[];
  /** Parts that a `functionResponse` cannot contain. They follow all results of the turn. */
  readonly after?: readonly GooglePart[];
  readonly losses: readonly PartLoss[];
}

type Conversion = Omit<ConvertedItem, 'nonEmptyParts'>;

/** Everything besides the item that its conversion depends on. */
export interface PartsContext {
  readonly fetchesUrls: boolean;
  readonly mediaInResults: boolean;
  /** The call that an output belongs to. Gemini requires its name, and its id if the call had one. */
  readonly call?: FunctionCallItem | undefined;
}

/**
 * Converts an item to its parts. The first argument after the item is its context, the last returns the item's JSON
 * path for errors.
 * @throws UnsupportedFeatureError for content that the wire cannot express
 */
export const partsOfItem = cacheByItem(
  (item: InputItem, context: PartsContext, path): ConvertedItem => {
    const found = convert(item, context, path);
    return {
      ...found,
      nonEmptyParts: found.parts.some(isEmptyText) ? found.parts.filter((part) => !isEmptyText(part)) : found.parts,
    };
  },
  (before, now) =>
    before === now ||
    (before.call === now.call &&
      before.fetchesUrls === now.fetchesUrls &&
      before.mediaInResults === now.mediaInResults),
);

function convert(item: InputItem, context: PartsContext, path: () => string): Conversion {
  switch (item.type) {
    case 'message':
      return messageParts(item, context, path);
    case 'function_call':
      return callParts(item);
    case 'function_call_output':
      return outputParts(item, context, path);
    case 'reasoning':
      return reasoningParts(item);
    case 'vendor_item':
      if (item.origin.wire === 'gemini') return modelParts([item.item]);
      return modelParts(
        [],
        [
          {
            at: '',
            what: `item of the ${item.origin.wire} wire`,
            reason: 'It can be returned only to the vendor that produced it.',
          },
        ],
      );
    case 'compaction':
      return modelParts(
        [],
        [{ at: '', what: 'compaction', reason: 'Its encrypted content belongs to another vendor.' }],
      );
    default:
      return modelParts([], [{ at: '', what: item.type, reason: 'Gemini does not support this type of item.' }]);
  }
}

function modelParts(parts: readonly GooglePart[], losses: readonly PartLoss[] = []): Conversion {
  return { role: 'model', parts, losses };
}

function messageParts(item: MessageItem, context: PartsContext, path: () => string): Conversion {
  const losses: PartLoss[] = [];
  const parts = item.content.map((part, index) => contentPart(part, context, losses, `.content[${index}]`, path));
  return { role: item.role === 'assistant' ? 'model' : 'user', parts, losses };
}

function contentPart(
  part: Content,
  context: PartsContext,
  losses: PartLoss[],
  at: string,
  path: () => string,
): GooglePart {
  switch (part.type) {
    case 'input_text':
    case 'output_text': {
      const mark = markOf(part);
      if (part.type === 'output_text' && part.annotations.length > 0 && mark.cited !== true) {
        losses.push({
          at,
          what: `${part.annotations.length} annotations`,
          reason: 'Gemini does not accept annotations.',
        });
      }
      return mark.part ?? { text: part.text, ...siblingsOf(part) };
    }
    case 'refusal':
      return { text: part.refusal };
    case 'input_image':
    case 'input_file':
      if (part.type === 'input_file' && part.filename !== undefined)
        losses.push({ at, what: 'filename', reason: 'Gemini has no field for it.' });
      if (part.type === 'input_image' && part.detail !== undefined && part.detail !== 'auto') {
        losses.push({
          at,
          what: `detail ${part.detail}`,
          reason: 'Gemini supports a resolution only for the entire request (media_resolution).',
        });
      }
      return toMediaPart(part, context.fetchesUrls, `${path()}${at}`);
    default:
      throw unknownPart(part, `${path()}${at}`);
  }
}

/** Parts of unknown types reach converters unchanged, although `Content` has no member for them. */
function unknownPart(part: never, path: string): UnsupportedFeatureError {
  return new UnsupportedFeatureError(`Gemini has no content of type "${String(fieldsOf(part).type)}" (${path}).`, {
    path,
  });
}

function callParts(item: FunctionCallItem): Conversion {
  const mark = markOf(item);
  if (mark.part !== undefined) return modelParts([mark.part]);
  const { value, malformed } = parseArguments(item);
  const functionCall: JsonObject = { name: item.name, args: value };
  if (mark.id !== undefined) functionCall.id = mark.id;
  const losses = malformed
    ? [
        {
          at: '.arguments',
          what: 'arguments',
          reason: 'They are not a JSON object, so their text is sent as a field of one.',
        },
      ]
    : [];
  return modelParts([{ functionCall, ...siblingsOf(item) }], losses);
}

/** Gemini's own thoughts are returned unchanged, those of other vendors are not sent. */
function reasoningParts(item: ReasoningItem): Conversion {
  if (item.origin?.wire !== 'gemini')
    return modelParts(
      [],
      [{ at: '', what: 'reasoning', reason: 'Reasoning can be returned only to the vendor that produced it.' }],
    );
  return modelParts([...item.summary, ...(item.content ?? [])].map(thoughtPart));
}

function thoughtPart(part: SummaryText | ReasoningText): GooglePart {
  return { text: part.text, thought: true, ...siblingsOf(part) };
}

function outputParts(item: FunctionCallOutputItem, context: PartsContext, path: () => string): Conversion {
  const { call } = context;
  const mark = markOf(item);
  if (mark.part !== undefined) return { role: 'user', parts: [mark.part], losses: [] };
  const losses: PartLoss[] = [];
  const name = call?.name ?? item.name ?? 'unknown';
  const functionResponse: JsonObject = { name, response: responseObject(item) };
  const id = mark.id ?? (call === undefined ? undefined : markOf(call).id);
  if (id !== undefined) functionResponse.id = id;

  const after: GooglePart[] = [];
  const inside: GooglePart[] = [];
  mediaOf(item.output).forEach(([part, index]) => {
    const cache = contentPart(part, context, losses, `.output[${index}]`, path);
    (context.mediaInResults && 'inlineData' in cache ? inside : after).push(cache);
  });
  if (inside.length > 0) functionResponse.parts = inside;
  if (after.length > 0) after.unshift({ text: `Content that the call of ${name} returned:` });
  return { role: 'user', parts: [{ functionResponse, ...siblingsOf(item) }], after, losses };
}

function mediaOf(output: FunctionCallOutputItem['output']): readonly (readonly [InputContent, number])[] {
  if (typeof output === 'string') return [];
  return output.flatMap((part, index) => (part.type === 'input_text' ? [] : [[part, index] as const]));
}

/**
 * Gemini requires an object, with the key `error` if the function failed
 * (https://ai.google.dev/api/caching#FunctionResponse).
 */
function responseObject(item: FunctionCallOutputItem): JsonObject {
  const text = textOfOutput(item.output);
  const hasFailed = isErrorState(item.state);
  if (text === undefined) return {};
  const object = jsonObject(text);
  if (object !== undefined && (!hasFailed || 'error' in object)) return object;
  return hasFailed ? { error: object ?? text } : { result: text };
}

function textOfOutput(output: FunctionCallOutputItem['output']): string | undefined {
  if (typeof output === 'string') return output;
  const texts = output.flatMap((part) => (part.type === 'input_text' ? [part.text] : []));
  return texts.length === 0 ? undefined : texts.join('\n');
}

function jsonObject(text: string): JsonObject | undefined {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    // Boundary: for text that starts with a brace, JSON.parse returns an object or throws.
    return value as JsonObject;
  } catch {
    // Not JSON after all; the caller sends the text itself.
    return undefined;
  }
}

/** Whether the part is an empty text without a signature or other fields, which Vertex AI rejects. */
export function isEmptyText(part: GooglePart): boolean {
  return (
    part.text === '' && Object.keys(part).every((key) => key === 'text' || key === 'thought' || part[key] === null)
  );
}
