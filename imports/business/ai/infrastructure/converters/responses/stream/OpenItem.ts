/**
 * A message or reasoning item of a Responses stream while its text arrives: parts open one after another, and close
 * with what the deltas said.
 */
import { isObject } from '../../../../domain/json';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import { closedPart, isPartKind, partsContaining, textIn, fieldNamesOf } from './responsesParts';
import type { PartKind, PartList } from './responsesParts';
import { deltaPrefix } from './SequencedFrames';
import type { SequencedFrames } from './SequencedFrames';
import type { RawReasoningName } from '../../stream/StreamEncoder';

interface OpenPart {
  readonly kind: PartKind;
  /** The place that the source gave it. */
  readonly sourceIndex: number;
  /** Its place in this stream. */
  readonly place: number;
  readonly beforeText: string;
  readonly pieces: string[];
}

const LISTS: readonly PartList[] = ['content', 'summary'];

export class OpenItem {
  readonly output_index: number;
  readonly form: JsonObject;
  private readonly frames: SequencedFrames;
  private readonly rawReasoningName: RawReasoningName | undefined;
  private readonly closed: Record<PartList, JsonObject[]> = { content: [], summary: [] };
  /** By the source's place of their part, which they may come before. */
  private readonly annotations = new Map<number, JsonObject[]>();
  private open: OpenPart | undefined;

  /** @param form the item as it stands when it begins */
  constructor(form: JsonObject, output_index: number, frames: SequencedFrames, rawReasoningName?: RawReasoningName) {
    this.form = form;
    this.output_index = output_index;
    this.frames = frames;
    this.rawReasoningName = rawReasoningName;
  }

  begin(): string {
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
      open.pieces.push(text);
      return [this.frames.delta(open.beforeText, text)];
    }
    const frames = [...this.closePart([]), this.openPart(kind, sourceIndex)];
    return [...frames, ...this.delta(kind, sourceIndex, text)];
  }

  annotate(sourceIndex: number, annotation: JsonObject): void {
    const known = this.annotations.get(sourceIndex);
    if (known === undefined) this.annotations.set(sourceIndex, [annotation]);
    else known.push(annotation);
  }

  /**
   * The frames that close the item, and the item as it closed.
   * @param final the whole item, where the source has told it; its texts are those of the deltas, its other
   *   fields are kept
   */
  finish(final: JsonObject | undefined): { readonly frames: readonly string[]; readonly item: JsonObject } {
    const frames: string[] = [];
    const finals = { content: partsIn(final, 'content'), summary: partsIn(final, 'summary') };
    const used = { content: this.covered('content', finals.content), summary: this.covered('summary', finals.summary) };
    if (this.open !== undefined) {
      const { kind, pieces } = this.open;
      const { list } = fieldNamesOf(kind);
      const saying = partsContaining(pieces.join(''), kind, finals[list], used[list]);
      used[list] += saying.length;
      frames.push(...this.closePart(saying));
    }
    for (const list of LISTS)
      for (const part of finals[list].slice(used[list])) frames.push(...this.wholePart(list, part));
    const item = this.whole(final);
    frames.push(this.frames.frame('response.output_item.done', { output_index: this.output_index, item }));
    return { frames, item };
  }

  private openPart(kind: PartKind, sourceIndex: number): string {
    const { list, place: placeName, added, delta, empty, beside } = fieldNamesOf(kind, this.rawReasoningName);
    const place = this.closed[list].length;
    const where = { item_id: this.form.id, output_index: this.output_index, [placeName]: place };
    this.open = { kind, sourceIndex, place, beforeText: deltaPrefix(delta, { ...where, ...beside }), pieces: [] };
    return this.frames.frame(added, { ...where, part: empty });
  }

  private closePart(finals: readonly JsonObject[]): readonly string[] {
    if (this.open === undefined) return [];
    const { kind, sourceIndex, place, pieces } = this.open;
    this.open = undefined;
    const { list, place: placeName, field, done, closed, beside } = fieldNamesOf(kind, this.rawReasoningName);
    const text = pieces.join('');
    const told = {
      type: kind,
      [field]: text,
      ...(kind === 'output_text' ? { annotations: this.annotations.get(sourceIndex) ?? [] } : {}),
    };
    const part = closedPart(text, kind, finals.length > 0 ? finals : [told]);
    this.closed[list].push(part);
    const where = { item_id: this.form.id, output_index: this.output_index, [placeName]: place };
    const logprobs = Array.isArray(part.logprobs) ? { logprobs: part.logprobs as unknown[] } : beside;
    return [
      ...this.citations(part, where),
      this.frames.frame(done, { ...where, ...logprobs, [field]: text }),
      this.frames.frame(closed, { ...where, part }),
    ];
  }

  private citations(part: JsonObject, where: JsonObject): readonly string[] {
    if (!Array.isArray(part.annotations)) return [];
    return part.annotations.map((annotation: unknown, annotation_index) =>
      this.frames.frame('response.output_text.annotation.added', { ...where, annotation_index, annotation }),
    );
  }

  /** A part of which no delta came. An empty one beside others says nothing. */
  private wholePart(list: PartList, part: JsonObject): readonly string[] {
    const { type } = part;
    if (isPartKind(type) && fieldNamesOf(type).list === list) {
      const text = textIn(part, type);
      if (text === '' && this.closed[list].length > 0) return [];
      const frames = [this.openPart(type, 0)];
      return [...frames, ...(text === '' ? [] : this.delta(type, 0, text)), ...this.closePart([part])];
    }
    const where = { item_id: this.form.id, output_index: this.output_index, content_index: this.closed[list].length };
    this.closed[list].push(part);
    return [
      this.frames.frame('response.content_part.added', { ...where, part }),
      this.frames.frame('response.content_part.done', { ...where, part }),
    ];
  }

  /** How many final parts say what parts that have closed already said. */
  private covered(list: PartList, finals: readonly JsonObject[]): number {
    return this.closed[list].reduce(
      (from, { type, ...part }) =>
        isPartKind(type) ? from + partsContaining(textIn(part, type), type, finals, from).length : from,
      0,
    );
  }

  private whole(final: JsonObject | undefined): JsonObject {
    const form = final ?? { ...this.form, status: 'completed' };
    const { content, summary } = this.closed;
    if (form.type === 'message') return { ...form, content };
    return { ...form, summary, ...(content.length > 0 || form.content !== undefined ? { content } : {}) };
  }
}

function partsIn(item: JsonObject | undefined, list: PartList): readonly JsonObject[] {
  const parts = item?.[list];
  return Array.isArray(parts) ? parts.filter(isObject) : [];
}
