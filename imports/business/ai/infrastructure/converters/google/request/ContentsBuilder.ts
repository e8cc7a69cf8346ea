/** Joins the converted items of a history to contents with alternating roles. */
import { isObject } from '../../../../domain/util/json';
import { markOf } from '../googleTypes';
import type { ConvertedItem } from './parts';
import type { GooglePart } from '../googleTypes';
import type { InputItem } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

interface OpenContent {
  readonly fields: JsonObject;
  readonly role: string;
  readonly parts: GooglePart[];
}

/**
 * Stands in for the thought signature that Gemini requires, on calls of other models. Documented for this purpose
 * (https://ai.google.dev/gemini-api/docs/thought-signatures#faqs); Vertex AI supports it as well.
 */
export const PLACEHOLDER_SIGNATURE = 'skip_thought_signature_validator';

export class ContentsBuilder {
  private readonly contents: OpenContent[] = [];
  /** Media of results, held back until all results of the turn have been added. */
  private readonly pendingMedia: GooglePart[] = [];
  private readonly verbatimParts = new Set<GooglePart>();
  /** The next item opens a content, even if it is of the same role. */
  private isCut = false;
  /** The last content of each prefix that is cached. */
  private readonly prefixEnds = new Set<OpenContent>();

  add(item: InputItem, converted: ConvertedItem): void {
    if (item.type !== 'function_call_output') this.appendPendingMedia();
    const mark = markOf(item);
    const parts = mark.asIs === true ? converted.parts : converted.nonEmptyParts;
    if (mark.asIs === true) for (const part of parts) this.verbatimParts.add(part);
    if (parts.length === 0 && mark.content === undefined) return;
    const content = this.contentFor(mark.role ?? converted.role, mark.content);
    for (const part of parts) content.parts.push(part);
    if (converted.after !== undefined) this.pendingMedia.push(...converted.after);
  }

  /**
   * A prefix that is cached ends here. Neither the results of a turn nor what a model said at once can be divided:
   * there the prefix ends with all of it.
   */
  endPrefix(): void {
    const last = this.contents.at(-1);
    if (last === undefined) return;
    this.prefixEnds.add(last);
    this.isCut = isDivisible(last);
  }

  /** After `finish`: how many contents each prefix has, from short to long. Not those that have all of them. */
  prefixLengths(): readonly number[] {
    return this.contents
      .map((content, index) => (this.prefixEnds.has(content) ? index + 1 : 0))
      .filter((length) => length > 0 && length < this.contents.length);
  }

  finish(requiresSignatures: boolean): readonly JsonObject[] {
    this.appendPendingMedia();
    this.startWithUser();
    if (requiresSignatures) this.signCurrentTurn();
    return this.contents.map(({ fields, role, parts }) => ({ role, ...fields, parts }));
  }

  private appendPendingMedia(): void {
    if (this.pendingMedia.length === 0) return;
    this.contentFor('user', undefined).parts.push(...this.pendingMedia);
    this.pendingMedia.length = 0;
  }

  /** Gemini requires alternating roles: adjacent items of one role share a content, unless a client separated them. */
  private contentFor(role: string, opens: JsonObject | undefined): OpenContent {
    const last = this.contents.at(-1);
    const isCut = this.isCut;
    this.isCut = false;
    if (last?.role === role && opens === undefined && !isCut) return last;
    const content = { fields: opens ?? {}, role, parts: [] };
    this.contents.push(content);
    return content;
  }

  /** A call must follow a user content, but a truncated history may start with a call. */
  private startWithUser(): void {
    const first = this.contents[0];
    if (first?.role !== 'model' || !first.parts.some((part) => isObject(part.functionCall))) return;
    this.contents.unshift({
      fields: {},
      role: 'user',
      parts: [{ text: '(The beginning of this conversation is not included.)' }],
    });
  }

  /** The first call of each step since the last user message requires a signature. Earlier turns are not validated. */
  private signCurrentTurn(): void {
    for (let index = this.contents.length - 1; index >= 0; index -= 1) {
      const content = this.contents[index];
      if (
        content === undefined ||
        (content.role === 'user' && content.parts.every((part) => part.functionResponse === undefined))
      )
        return;
      const first = content.parts.findIndex((part) => isObject(part.functionCall));
      const call = content.parts[first];
      if (call === undefined || this.verbatimParts.has(call) || call.thoughtSignature !== undefined) continue;
      content.parts[first] = { ...call, thoughtSignature: PLACEHOLDER_SIGNATURE };
    }
  }
}

function isDivisible({ role, parts }: OpenContent): boolean {
  return role === 'user' && parts.every((part) => part.functionResponse === undefined);
}
