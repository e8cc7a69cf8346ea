/**
 * A history as Gemini's contents: roles that alternate, all answers of a turn together, the operator's words apart
 * from them.
 */
import { inputText } from '../../../../domain/entities/Content';
import { isObject } from '../../../../domain/json';
import { partsOfItem } from './parts';
import { markOf } from '../googleTypes';
import { repairHistory } from '../../shared/repairHistory';
import type { GoogleModelFacts } from '../modelFeatures';
import type { ConvertedItem, PartsContext } from './parts';
import type { GooglePart } from '../googleTypes';
import type { FunctionCallItem, InputItem, MessageItem } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject, Loss } from '../../../../domain/types/VendorTypes';

export interface GoogleConversation {
  /** Leading instructions of the history, each part a paragraph of the system instruction. */
  readonly systemParts: readonly GooglePart[];
  /** Fields that the system instruction had beside its parts. */
  readonly systemFields: JsonObject;
  readonly contents: readonly JsonObject[];
  readonly losses: readonly Loss[];
}

interface OpenContent {
  readonly fields: JsonObject;
  readonly role: string;
  readonly parts: GooglePart[];
}

/**
 * Goes on a call that another model made, where Gemini demands a signature and there is none; documented for
 * exactly that (https://ai.google.dev/gemini-api/docs/thought-signatures#faqs, and understood by Vertex AI as
 * well).
 */
export const NO_SIGNATURE = 'skip_thought_signature_validator';

const PARTS_CONTEXTS: readonly PartsContext[] = [
  { fetchesUrls: false, mediaInResults: false },
  { fetchesUrls: false, mediaInResults: true },
  { fetchesUrls: true, mediaInResults: false },
  { fetchesUrls: true, mediaInResults: true },
];

/** @throws UnsupportedFeatureError for content that the wire cannot express */
export function toContents(
  input: readonly InputItem[],
  facts: GoogleModelFacts,
  fetchesUrls: boolean,
): GoogleConversation {
  const { items, losses: repairs } = repairHistory(input, { nativeAsync: false });
  const losses: Loss[] = [...repairs];
  const context = PARTS_CONTEXTS[(fetchesUrls ? 2 : 0) + (facts.takesMediaInResults ? 1 : 0)] ?? {
    fetchesUrls,
    mediaInResults: facts.takesMediaInResults,
  };
  const calls = new Map<string, FunctionCallItem>();
  const builder = new ContentsBuilder();
  const systemParts: GooglePart[] = [];
  let systemFields: JsonObject = {};
  let leading = true;
  let at = -1;
  // One function for all items: paths are wanted for losses and errors only.
  const path = (): string => pathOf(items, input, at);

  for (const item of items) {
    at += 1;
    if (isInstruction(item)) {
      if (leading) {
        systemFields = { ...systemFields, ...markOf(item).content };
        systemParts.push(...partsOfItem(item, context, undefined, path).parts);
        continue;
      }
      losses.push({
        path: path(),
        what: `the ${item.role} role`,
        reason: 'Gemini takes instructions at the beginning only; sent as marked user text',
      });
      builder.add(asUserText(item), partsOfItem(asUserText(item), context, undefined, path));
      continue;
    }
    leading = false;
    if (item.type === 'function_call') calls.set(item.call_id, item);
    const call = item.type === 'function_call_output' ? calls.get(item.call_id) : undefined;
    const converted = partsOfItem(item, context, call, path);
    for (const loss of converted.losses)
      losses.push({ path: `${path()}${loss.at}`, what: loss.what, reason: loss.reason });
    builder.add(item, converted);
  }
  return { systemParts, systemFields, contents: builder.finish(facts.demandsSignatures), losses };
}

/** Repaired histories hold items that the caller's does not; those are named by where they stand. */
function pathOf(items: readonly InputItem[], input: readonly InputItem[], index: number): string {
  const item = items[index];
  const place = item === undefined || input[index] === item ? index : input.indexOf(item);
  return `input[${place === -1 ? index : place}]`;
}

function isInstruction(item: InputItem): item is MessageItem {
  return item.type === 'message' && (item.role === 'system' || item.role === 'developer');
}

const marked = new WeakMap<MessageItem, MessageItem>();

/**
 * Instructions in the middle of a history: a user message between marks, so that the model can tell them from the
 * user's own words.
 */
function asUserText(item: MessageItem): MessageItem {
  let message = marked.get(item);
  if (message === undefined) {
    const content = [
      inputText(`<${item.role}_instructions>`),
      ...item.content,
      inputText(`</${item.role}_instructions>`),
    ];
    message = { type: 'message', role: 'user', content };
    marked.set(item, message);
  }
  return message;
}

class ContentsBuilder {
  private readonly contents: OpenContent[] = [];
  /** Media of answers, held back until all answers of the turn are there. */
  private readonly held: GooglePart[] = [];
  private readonly untouched = new Set<GooglePart>();

  add(item: InputItem, converted: ConvertedItem): void {
    if (item.type !== 'function_call_output') this.release();
    const mark = markOf(item);
    const parts = mark.asIs === true ? converted.parts : converted.said;
    if (mark.asIs === true) for (const part of parts) this.untouched.add(part);
    if (parts.length === 0 && mark.content === undefined) return;
    const content = this.contentFor(mark.role ?? converted.role, mark.content);
    for (const part of parts) content.parts.push(part);
    if (converted.after !== undefined) this.held.push(...converted.after);
  }

  finish(demandsSignatures: boolean): readonly JsonObject[] {
    this.release();
    this.openWithUser();
    if (demandsSignatures) this.signCurrentTurn();
    return this.contents.map(({ fields, role, parts }) => ({ role, ...fields, parts }));
  }

  private release(): void {
    if (this.held.length === 0) return;
    this.contentFor('user', undefined).parts.push(...this.held);
    this.held.length = 0;
  }

  /**
   * Gemini wants roles to alternate: neighbours of one role share a content, unless they came over this wire in
   * contents of their own.
   */
  private contentFor(role: string, opens: JsonObject | undefined): OpenContent {
    const last = this.contents.at(-1);
    if (last?.role === role && opens === undefined) return last;
    const content = { fields: opens ?? {}, role, parts: [] };
    this.contents.push(content);
    return content;
  }

  /** A call must follow something that the user said; a history whose beginning was cut off may begin with one. */
  private openWithUser(): void {
    const first = this.contents[0];
    if (first?.role !== 'model' || !first.parts.some((part) => isObject(part.functionCall))) return;
    this.contents.unshift({
      fields: {},
      role: 'user',
      parts: [{ text: '(The beginning of this conversation is not included.)' }],
    });
  }

  /**
   * The first call of every step since the user last spoke must be signed; signatures of earlier turns are not
   * checked.
   */
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
      if (call === undefined || this.untouched.has(call) || call.thoughtSignature !== undefined) continue;
      content.parts[first] = { ...call, thoughtSignature: NO_SIGNATURE };
    }
  }
}
