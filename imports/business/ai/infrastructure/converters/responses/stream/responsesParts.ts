/**
 * The content parts of a Responses stream: the event and field names of each kind, and the content of a closed part.
 * https://platform.openai.com/docs/api-reference/responses-streaming
 */
import { isObject } from '../../../../domain/util/json';
import { locatedAnnotation } from '../../shared/locatedAnnotation';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import type { RawReasoningName } from '../../stream/StreamEncoder';

export type PartKind = 'output_text' | 'refusal' | 'reasoning_text' | 'summary_text';
/** The field of the item that contains the part. */
export type PartList = 'content' | 'summary';

interface PartNames {
  readonly list: PartList;
  /** The field that holds the text, both in the part and in the event with the complete text. */
  readonly field: 'text' | 'refusal';
  readonly indexField: 'content_index' | 'summary_index';
  readonly added: string;
  readonly delta: string;
  readonly done: string;
  readonly closed: string;
  readonly empty: JsonObject;
  /** Further fields of the events that carry the text. */
  readonly textEventFields: JsonObject;
}

const CONTENT_PART = {
  list: 'content',
  indexField: 'content_index',
  added: 'response.content_part.added',
  closed: 'response.content_part.done',
} as const;
const NO_FIELDS: JsonObject = {};

/** Names raw reasoning events as Open Responses does (https://www.openresponses.org). */
const PARTS = {
  output_text: {
    ...CONTENT_PART,
    field: 'text',
    delta: 'response.output_text.delta',
    done: 'response.output_text.done',
    empty: { type: 'output_text', text: '', annotations: [], logprobs: [] },
    textEventFields: { logprobs: [] },
  },
  refusal: {
    ...CONTENT_PART,
    field: 'refusal',
    delta: 'response.refusal.delta',
    done: 'response.refusal.done',
    empty: { type: 'refusal', refusal: '' },
    textEventFields: NO_FIELDS,
  },
  reasoning_text: {
    ...CONTENT_PART,
    field: 'text',
    delta: 'response.reasoning.delta',
    done: 'response.reasoning.done',
    empty: { type: 'reasoning_text', text: '' },
    textEventFields: NO_FIELDS,
  },
  summary_text: {
    list: 'summary',
    indexField: 'summary_index',
    field: 'text',
    added: 'response.reasoning_summary_part.added',
    delta: 'response.reasoning_summary_text.delta',
    done: 'response.reasoning_summary_text.done',
    closed: 'response.reasoning_summary_part.done',
    empty: { type: 'summary_text', text: '' },
    textEventFields: NO_FIELDS,
  },
} as const satisfies Record<PartKind, PartNames>;

/**
 * Names raw reasoning events as OpenAI does:
 * https://platform.openai.com/docs/api-reference/responses-streaming/response/reasoning_text
 */
const REASONING_TEXT: PartNames = {
  ...PARTS.reasoning_text,
  delta: 'response.reasoning_text.delta',
  done: 'response.reasoning_text.done',
};

export function partNamesOf(kind: PartKind, rawReasoningName: RawReasoningName = 'reasoning'): PartNames {
  return kind === 'reasoning_text' && rawReasoningName === 'reasoning_text' ? REASONING_TEXT : PARTS[kind];
}

export function isPartKind(type: unknown): type is PartKind {
  return typeof type === 'string' && Object.hasOwn(PARTS, type);
}

export function textIn(part: JsonObject, kind: PartKind): string {
  const text = part[PARTS[kind].field];
  return typeof text === 'string' ? text : '';
}

/**
 * The final parts that together hold one streamed text: the deltas of some wires don't say which part they belong
 * to.
 */
export function finalPartsOf(
  text: string,
  kind: PartKind,
  finalParts: readonly JsonObject[],
  from: number,
): readonly JsonObject[] {
  if (text === '') {
    const first = finalParts[from];
    return first?.type === kind && textIn(first, kind) === '' ? [first] : [];
  }
  let to = from;
  for (let length = 0; length < text.length; to += 1) {
    const part = finalParts[to];
    if (part === undefined || part.type !== kind) break;
    length += textIn(part, kind).length;
  }
  return finalParts.slice(from, to);
}

/** Merges the streamed text and the other fields of its final parts into one part. */
export function closedPart(text: string, kind: PartKind, finalParts: readonly JsonObject[]): JsonObject {
  const [only, ...others] = finalParts;
  const single = only !== undefined && others.length === 0 ? only : {};
  const part = { type: kind, ...single, [PARTS[kind].field]: text };
  if (kind !== 'output_text') return part;
  let offset = 0;
  const annotations = finalParts.flatMap((final) => {
    const partText = textIn(final, kind);
    const list = Array.isArray(final.annotations) ? final.annotations.filter(isObject) : [];
    const located = list.flatMap((annotation) => locatedAnnotation(annotation, offset, offset + partText.length));
    offset += partText.length;
    return located;
  });
  return { ...part, annotations };
}
