/**
 * Writes the frames of one message or reasoning item of a Responses stream while its text arrives. Parts are open one
 * at a time, and each closes with exactly the text of its deltas.
 * https://platform.openai.com/docs/api-reference/responses-streaming
 */
import { isObject } from '../../../../domain/util/json';
import type { ItemStatus } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import { closedPart, isPartKind, finalPartsOf, textIn, partNamesOf } from './responsesParts';
import type { PartKind, PartList } from './responsesParts';
import { deltaPrefix } from './SequencedFrames';
import type { SequencedFrames } from './SequencedFrames';
import type { RawReasoningName } from '../../stream/StreamEncoder';

interface OpenPart {
  readonly kind: PartKind;
  /** The part's index in the source stream. */
  readonly sourceIndex: number;
  /** The part's index in this stream. */
  readonly index: number;
  readonly deltaPrefix: string;
  readonly deltas: string[];
}

const LISTS: readonly PartList[] = ['content', 'summary'];

export class OpenItem {
  readonly output_index: number;
  readonly form: JsonObject;
  private readonly frames: SequencedFrames;
  private readonly rawReasoningName: RawReasoningName | undefined;
  private readonly closed: Record<PartList, JsonObject[]> = { content: [], summary: [] };
  /** By the part's index in the source stream; annotations can arrive before their part. */
  private readonly annotations = new Map<number, JsonObject[]>();
  private open: OpenPart | undefined;

  /** @param form the item in its initial state */
  constructor(form: JsonObject, output_index: number, frames: SequencedFrames, rawReasoningName?: RawReasoningName) {
    this.form = form;
    this.output_index = output_index;
    this.frames = frames;
    this.rawReasoningName = rawReasoningName;
  }

  start(): string {
    const lists = this.form.type === 'reasoning' ? { summary: [] } : { content: [] };
    const { encrypted_content: _, content: __, ...form } = this.form;
    return this.frames.frame('response.output_item.added', {
      output_index: this.output_index,
      item: { ...form, ...lists, status: 'in_progress' },
    });
  }

  delta(kind: PartKind, sourceIndex: number, text: string): readonly string[] {
    const { open } = this;
    if (open !== undefined && open.kind === kind && open.sourceIndex === sourceIndex) {
      open.deltas.push(text);
      return [this.frames.delta(open.deltaPrefix, text)];
    }
    const frames = [...this.closePart([]), this.openPart(kind, sourceIndex)];
    return [...frames, ...this.delta(kind, sourceIndex, text)];
  }

  annotate(sourceIndex: number, annotation: JsonObject): void {
    const pending = this.annotations.get(sourceIndex);
    if (pending === undefined) this.annotations.set(sourceIndex, [annotation]);
    else pending.push(annotation);
  }

  /**
   * @param final the complete item, if the source has sent it; its texts are replaced by those of the deltas
   * @param status of an item that the source has not completed
   * @returns the frames that close the item, and the closed item
   */
  finish(
    final: JsonObject | undefined,
    status: ItemStatus = 'completed',
  ): { readonly frames: readonly string[]; readonly item: JsonObject } {
    const frames: string[] = [];
    const finals = { content: partsIn(final, 'content'), summary: partsIn(final, 'summary') };
    const used = {
      content: this.countCovered('content', finals.content),
      summary: this.countCovered('summary', finals.summary),
    };
    if (this.open !== undefined) {
      const { kind, deltas } = this.open;
      const { list } = partNamesOf(kind);
      const covering = finalPartsOf(deltas.join(''), kind, finals[list], used[list]);
      used[list] += covering.length;
      frames.push(...this.closePart(covering));
    }
    for (const list of LISTS)
      for (const part of finals[list].slice(used[list])) frames.push(...this.completePart(list, part));
    const item = this.closedItem(final ?? { ...this.form, status });
    frames.push(this.frames.frame('response.output_item.done', { output_index: this.output_index, item }));
    return { frames, item };
  }

  private openPart(kind: PartKind, sourceIndex: number): string {
    const { list, indexField, added, delta, empty, textEventFields } = partNamesOf(kind, this.rawReasoningName);
    const index = this.closed[list].length;
    const location = { item_id: this.form.id, output_index: this.output_index, [indexField]: index };
    this.open = {
      kind,
      sourceIndex,
      index,
      deltaPrefix: deltaPrefix(delta, { ...location, ...textEventFields }),
      deltas: [],
    };
    return this.frames.frame(added, { ...location, part: empty });
  }

  private closePart(finalParts: readonly JsonObject[]): readonly string[] {
    if (this.open === undefined) return [];
    const { kind, sourceIndex, index, deltas } = this.open;
    this.open = undefined;
    const { list, indexField, field, done, closed, textEventFields } = partNamesOf(kind, this.rawReasoningName);
    const text = deltas.join('');
    const streamed = {
      type: kind,
      [field]: text,
      ...(kind === 'output_text' ? { annotations: this.annotations.get(sourceIndex) ?? [] } : {}),
    };
    const part = closedPart(text, kind, finalParts.length > 0 ? finalParts : [streamed]);
    this.closed[list].push(part);
    const location = { item_id: this.form.id, output_index: this.output_index, [indexField]: index };
    const logprobs = Array.isArray(part.logprobs) ? { logprobs: part.logprobs as unknown[] } : textEventFields;
    return [
      ...this.citations(part, location),
      this.frames.frame(done, { ...location, ...logprobs, [field]: text }),
      this.frames.frame(closed, { ...location, part }),
    ];
  }

  private citations(part: JsonObject, location: JsonObject): readonly string[] {
    if (!Array.isArray(part.annotations)) return [];
    return part.annotations.map((annotation: unknown, annotation_index) =>
      this.frames.frame('response.output_text.annotation.added', { ...location, annotation_index, annotation }),
    );
  }

  /** Writes a part that had no deltas. An empty one is skipped if there are others. */
  private completePart(list: PartList, part: JsonObject): readonly string[] {
    const { type } = part;
    if (isPartKind(type) && partNamesOf(type).list === list) {
      const text = textIn(part, type);
      if (text === '' && this.closed[list].length > 0) return [];
      const frames = [this.openPart(type, 0)];
      return [...frames, ...(text === '' ? [] : this.delta(type, 0, text)), ...this.closePart([part])];
    }
    const location = {
      item_id: this.form.id,
      output_index: this.output_index,
      content_index: this.closed[list].length,
    };
    this.closed[list].push(part);
    return [
      this.frames.frame('response.content_part.added', { ...location, part }),
      this.frames.frame('response.content_part.done', { ...location, part }),
    ];
  }

  /** Counts the final parts whose text closed parts have already covered. */
  private countCovered(list: PartList, finalParts: readonly JsonObject[]): number {
    return this.closed[list].reduce(
      (from, { type, ...part }) =>
        isPartKind(type) ? from + finalPartsOf(textIn(part, type), type, finalParts, from).length : from,
      0,
    );
  }

  private closedItem(form: JsonObject): JsonObject {
    const { content, summary } = this.closed;
    if (form.type === 'message') return { ...form, content };
    return { ...form, summary, ...(content.length > 0 || form.content !== undefined ? { content } : {}) };
  }
}

function partsIn(item: JsonObject | undefined, list: PartList): readonly JsonObject[] {
  const parts = item?.[list];
  return Array.isArray(parts) ? parts.filter(isObject) : [];
}
