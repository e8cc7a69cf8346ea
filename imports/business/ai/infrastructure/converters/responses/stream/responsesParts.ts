/** The parts that grow in a Responses stream: how each kind is told, and what a part holds when it closes. */
import { isObject } from '../../../../domain/json';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import type { RawReasoningName } from '../../stream/StreamEncoder';

export type PartKind = 'output_text' | 'refusal' | 'reasoning_text' | 'summary_text';
/** The item's field that holds the part. */
export type PartList = 'content' | 'summary';

interface PartNames {
  readonly list: PartList;
  /** The part's field that holds its text, and the field of the event that says it whole. */
  readonly field: 'text' | 'refusal';
  readonly indexField: 'content_index' | 'summary_index';
  readonly added: string;
  readonly delta: string;
  readonly done: string;
  readonly closed: string;
  readonly empty: JsonObject;
  /** Further fields of the text's own events. */
  readonly textEventFields: JsonObject;
}

const CONTENT_PART = {
  list: 'content',
  indexField: 'content_index',
  added: 'response.content_part.added',
  closed: 'response.content_part.done',
} as const;
const NO_FIELDS: JsonObject = {};

/** Raw reasoning under its name in Open Responses (https://www.openresponses.org). */
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

/** What OpenAI calls it: https://platform.openai.com/docs/api-reference/responses-streaming/response/reasoning_text */
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

/** Final parts that together say one streamed text: a wire may number its parts and not tell so in its deltas. */
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

/** The streamed text as one part, with what its final parts say beside it. */
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

/** Annotations of files as OpenAI writes them; other wires' files have no id that a client could use. */
const FILE_ANNOTATIONS: ReadonlySet<unknown> = new Set(['file_citation', 'container_file_citation', 'file_path']);

/**
 * A citation of a page has a place in its part; where its wire names none, it is the text that the wire cited it
 * for.
 */
export function locatedAnnotation(annotation: JsonObject, from: number, to: number): readonly JsonObject[] {
  const { type, url, title, start_index, end_index } = annotation;
  if (type !== 'url_citation')
    return FILE_ANNOTATIONS.has(type) && typeof annotation.file_id === 'string' ? [annotation] : [];
  if (typeof url !== 'string') return [];
  const isLocated = Number.isInteger(start_index) && Number.isInteger(end_index);
  if (isLocated && from === 0 && typeof title === 'string') return [annotation];
  const range = isLocated
    ? { start_index: Number(start_index) + from, end_index: Number(end_index) + from }
    : { start_index: from, end_index: to };
  return [{ ...annotation, title: typeof title === 'string' ? title : '', ...range }];
}
