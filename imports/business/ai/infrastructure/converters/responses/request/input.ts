/**
 * Converts a history to the `input` of a Responses request. Content that only its vendor can read goes back to that
 * vendor alone. https://platform.openai.com/docs/api-reference/responses/create#responses-create-input
 */
import { wireForm } from '../items';
import { keepHistories } from '../../shared/conversionCache';
import { pathsIn } from '../../shared/pathsIn';
import { repairSlices } from '../../shared/repairHistory';
import { toCallId } from '../../shared/callIds';
import type { CallIdRule } from '../../shared/callIds';
import { isSearchOfXai } from '../../../../domain/run/clientCall';
import { isUnknownToOpenAI, locatedAnnotation } from '../../shared/locatedAnnotation';
import { isObject, isObjectList } from '../../../../domain/util/json';
import { SLICE } from '../../../../domain/util/slices';
import type { Slices } from '../../../../domain/util/slices';
import type { InputItem, ReasoningItem } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject, Loss, Origin, VendorName } from '../../../../domain/types/VendorTypes';

export interface InputContext {
  readonly vendor: VendorName;
  /** `store: false`: the vendor will not recognize the ids of its own items. */
  readonly stateless: boolean;
  readonly nativeAsync: boolean;
  /** The vendor stores the earlier part of the conversation. */
  readonly partial: boolean;
}

export interface WireInput {
  readonly items: readonly JsonObject[];
  readonly losses: readonly Loss[];
}

export function* toInput(history: readonly InputItem[], context: InputContext): Slices<WireInput> {
  const repaired = yield* repairSlices(history, {
    nativeAsync: context.nativeAsync,
    partial: context.partial,
    clientSearches: true,
  });
  const losses = [...repaired.losses];
  const pathOf = pathsIn(history, repaired.items);
  const recordLoss = (item: InputItem, what: string, reason: string, within = ''): void => {
    losses.push({ path: `${pathOf(item)}${within}`, what, reason });
  };
  const items: JsonObject[] = [];
  const unsentCalls = new Set<unknown>();
  const programs = new Set<unknown>();
  let isComplete = !context.partial;
  const callers = new Map<unknown, unknown>();
  const converted = convertedHistory(repaired.items);
  let pendingReasoning: { readonly item: ReasoningItem; readonly wire: WireItem }[] = [];
  // The vendor links the ids of a turn's items to its reasoning. If the reasoning is sent without its id, or not at
  // all, the items have to be sent without theirs.
  let withoutIds = false;

  for (let index = 0; index < repaired.items.length; index += 1) {
    const item = repaired.items[index];
    if (item === undefined) continue;
    if (index > 0 && index % SLICE === 0) yield;
    if (item.type === 'reasoning') {
      if (!isForeign(item.origin, context)) pendingReasoning.push({ item, wire: converted.convert(item, index) });
      else {
        recordLoss(
          item,
          isOpaque(item) ? 'encrypted reasoning' : 'readable reasoning',
          `It was created by ${originName(item.origin)}.`,
        );
        withoutIds = true;
      }
      continue;
    }
    const resultOf = resultCallId(item);
    if (isOfAnother(item, context) || (resultOf !== undefined && unsentCalls.has(resultOf))) {
      for (const id of callIdsOf(item)) unsentCalls.add(id);
      recordLoss(
        item,
        typeNameOf(item),
        resultOf === undefined
          ? `It was created by ${isSearchMadeByXai(item) ? 'grok' : originName(originOf(item))}.`
          : 'The call that it is the result of was not sent.',
      );
      continue;
    }
    // Results of calls, which the caller writes, end a turn of the model; all other items are part of one.
    if (item.type === 'message' ? item.role === 'assistant' : resultOf === undefined) {
      for (const reasoning of pendingReasoning) {
        const form = reasoningBefore(item, reasoning.item, reasoning.wire, context);
        if (form === undefined)
          recordLoss(reasoning.item, 'stored reasoning', 'The vendor cannot look it up by its id in this request.');
        else items.push(form);
        if (form === undefined || form.id !== reasoning.item.id) withoutIds = true;
      }
    } else {
      for (const { item: reasoning, wire } of pendingReasoning) {
        if (wire.form !== undefined && standsAlone(reasoning)) items.push(wire.form);
        else recordLoss(reasoning, 'reasoning', 'The item that followed it is missing.');
      }
      withoutIds = false;
    }
    if (pendingReasoning.length > 0) pendingReasoning = [];
    const wire = converted.convert(item, index);
    for (const part of wire.uncitedParts ?? NONE)
      recordLoss(item, 'annotations', 'The Responses API has no such citations.', `.content[${part}]`);
    if (wire.droppedParts.length > 0)
      for (const part of wire.droppedParts)
        recordLoss(item, 'image or file', 'Assistant messages can contain only text.', `.content[${part}]`);
    const form = withoutIds ? withoutId(wire, item) : wire.form;
    if (form === undefined) continue;
    if (form.type === 'program') programs.add(form.call_id);
    if (form.type === 'item_reference') isComplete = false;
    const { caller, call_id: callId } = form;
    if (caller !== undefined && isObject(caller) && resultOf === undefined) {
      if (caller.type !== 'program' || !isComplete || programs.has(caller.caller_id)) callers.set(callId, caller);
      else recordLoss(item, 'caller', 'The program that made the call is not sent.');
    }
    if (caller === undefined && callers.size === 0) items.push(form);
    else items.push(withCaller(form, callers.get(callId) ?? (isComplete ? undefined : caller)));
  }
  for (const reasoning of pendingReasoning)
    recordLoss(reasoning.item, 'reasoning', 'The item that followed it is missing.');
  converted.keepWritten(items);
  return { items, losses };
}

/**
 * OpenAI rejects reasoning that is not followed by its original item, which it recognizes by ids (400, "was provided
 * without its required following item"). Encrypted reasoning without an id is accepted on its own. xAI accepts both
 * without the other's id. Reasoning without an origin was put into the request by the caller, and is sent as it is.
 */
function reasoningBefore(
  next: InputItem,
  reasoning: ReasoningItem,
  wire: WireItem,
  context: InputContext,
): JsonObject | undefined {
  const byId = context.stateless && reasoning.origin !== undefined;
  const nextIsAnother =
    context.vendor !== 'grok' && reasoning.id !== undefined && next.type === 'message' && next.id === undefined;
  const { form } = wire;
  if (!byId && !nextIsAnother) return form;
  if (form !== undefined && reasoning.encrypted_content !== undefined) return withoutId(wire, reasoning);
  return hasContent(reasoning) ? form : undefined;
}

/** Whether OpenAI accepts the reasoning before anything: encrypted, and without an id that links it to an item. */
function standsAlone({ id, encrypted_content }: ReasoningItem): boolean {
  return id === undefined && typeof encrypted_content === 'string';
}

function isForeign(origin: Origin | undefined, context: InputContext): boolean {
  if (origin === undefined) return false;
  return origin.wire !== 'responses' || (origin.vendor !== undefined && origin.vendor !== context.vendor);
}

/** Whether only another vendor can read the item. What every vendor can read has no origin. */
function isOfAnother(item: InputItem, context: InputContext): boolean {
  const origin = originOf(item);
  if (origin !== undefined && isForeign(origin, context)) return true;
  return item.type === 'custom_tool_call' && context.vendor !== 'grok' && isSearchMadeByXai(item);
}

function isSearchMadeByXai(item: InputItem): boolean {
  return item.type === 'custom_tool_call' && isSearchOfXai(item.call_id);
}

/** An output has the caller of its call. https://developers.openai.com/api/docs/guides/tools-programmatic-tool-calling */
function withCaller(form: JsonObject, caller: unknown): JsonObject {
  if (form.caller === caller || (caller === undefined && !isObject(form.caller))) return form;
  const { caller: _, ...others } = form;
  return caller === undefined ? others : { ...others, caller };
}

/** Whether the item is encrypted, or only an id that refers to the vendor's store. */
function isOpaque(item: ReasoningItem): boolean {
  return item.encrypted_content !== undefined || !(hasContent(item) || item.summary.length > 0);
}

function hasContent(item: ReasoningItem): boolean {
  return (item.content?.length ?? 0) > 0;
}

function originOf(item: InputItem): Origin | undefined {
  switch (item.type) {
    case 'message':
    case 'function_call':
    case 'function_call_output':
      return undefined;
    default:
      return item.origin;
  }
}

function originName(origin: Origin | undefined): string {
  return origin?.vendor ?? origin?.wire ?? 'another vendor';
}

function typeNameOf(item: InputItem): string {
  if (item.type !== 'vendor_item') return item.type;
  return typeof item.item.type === 'string' ? item.item.type : item.type;
}

/** The id of the call that the item is the result of. */
function resultCallId(item: InputItem): unknown {
  switch (item.type) {
    case 'function_call_output':
      return item.call_id;
    case 'computer_call_output':
    case 'custom_tool_call_output':
    case 'local_shell_call_output':
    case 'shell_call_output':
    case 'apply_patch_call_output':
      return item.call_id ?? item.id;
    case 'mcp_approval_response':
      return item.approval_request_id;
    default:
      return undefined;
  }
}

function callIdsOf(item: InputItem): readonly unknown[] {
  return [item.id, 'call_id' in item ? item.call_id : undefined].filter((id) => typeof id === 'string' && id !== '');
}

interface WireItem {
  /** Absent if nothing of the item can be sent. */
  readonly form: JsonObject | undefined;
  /** Indices of the parts that were omitted. */
  readonly droppedParts: readonly number[];
  /** Indices of the parts that lost citations. */
  readonly uncitedParts?: readonly number[];
  /** The form without its id, once it was needed. */
  anonymous?: JsonObject;
}

/** Removes the id, which the vendor would try to look up. Hosted items require theirs. */
function withoutId(wire: WireItem, item: InputItem): JsonObject | undefined {
  const { form } = wire;
  const isOptional = item.type === 'reasoning' || item.type === 'message' || item.type === 'function_call';
  if (form?.id === undefined || !isOptional) return form;
  if (wire.anonymous === undefined) {
    const { id: _, ...rest } = form;
    wire.anonymous = rest;
  }
  return wire.anonymous;
}

const convertedHistory = keepHistories<WireItem, JsonObject>(convert);
const NONE: readonly number[] = [];

function convert(item: InputItem): WireItem {
  const wire = wireForm(item);
  switch (item.type) {
    case 'message':
      return withPartsOfRole(wire, item.role === 'assistant');
    case 'function_call':
      return { form: withValidCallId(wire), droppedParts: NONE };
    case 'reasoning':
      return { form: withoutEmptyContent(wire), droppedParts: NONE };
    case 'function_call_output':
      return { form: withoutAcknowledgement(withValidCallId(wire)), droppedParts: NONE };
    default:
      return { form: wire, droppedParts: NONE };
  }
}

/** Responses contain an empty list, but every request that is known to be accepted omits it. */
function withoutEmptyContent(wire: JsonObject): JsonObject {
  if (!Array.isArray(wire.content) || wire.content.length > 0) return wire;
  const { content: _, ...rest } = wire;
  return rest;
}

/** OpenAI accepts `output_text` and `refusal` only from the assistant, and all other parts only from other roles. */
function withPartsOfRole(wire: JsonObject, assistant: boolean): WireItem {
  if (!Array.isArray(wire.content)) return { form: wire, droppedParts: NONE };
  const parts: readonly unknown[] = wire.content;
  if (parts.every(assistant ? isAssistantPart : isInputPart)) return { form: wire, droppedParts: NONE };
  const droppedParts = assistant ? parts.flatMap((part, index) => (isMedia(part) ? [index] : [])) : [];
  const content = parts
    .filter((part) => !assistant || !isMedia(part))
    .map((part) => (assistant ? toAssistantPart(part) : toInputPart(part)));
  const uncitedParts = assistant
    ? parts.flatMap((part, index) =>
        citationsOf(part).length > citationsOf(toAssistantPart(part)).length ? [index] : [],
      )
    : NONE;
  return { form: content.length === 0 ? undefined : { ...wire, content }, droppedParts, uncitedParts };
}

function isAssistantPart(part: unknown): boolean {
  return !isMedia(part) && toAssistantPart(part) === part;
}

function isInputPart(part: unknown): boolean {
  return toInputPart(part) === part;
}

function isMedia(part: unknown): boolean {
  return isObject(part) && (part.type === 'input_image' || part.type === 'input_file');
}

function toAssistantPart(part: unknown): unknown {
  if (isObject(part) && part.type === 'input_text') return { type: 'output_text', text: part.text, annotations: [] };
  if (isObject(part) && isObjectList(part.logprobs) && !part.logprobs.every(({ bytes }) => Array.isArray(bytes))) {
    const { logprobs: _, ...rest } = part;
    return toAssistantPart(rest);
  }
  const citations = citationsOf(part);
  if (citations.length === 0 || !isObject(part)) return part;
  const annotations = citations.flatMap((citation) => acceptedCitation(citation, String(part.text)));
  return annotations.length === citations.length && annotations.every((each, index) => each === citations[index])
    ? part
    : { ...part, annotations };
}

function citationsOf(part: unknown): readonly JsonObject[] {
  return isObject(part) && isObjectList(part.annotations) ? part.annotations : [];
}

/** Returns another wire's citation of a page with the range that this API requires, nothing for those that it lacks. */
function acceptedCitation(citation: JsonObject, text: string): readonly JsonObject[] {
  const isComplete = citation.type !== 'url_citation' || citation.start_index !== undefined;
  if (isComplete && !('cited_text' in citation) && citation.type !== 'file' && !isUnknownToOpenAI(citation))
    return [citation];
  return locatedAnnotation(citation, 0, text.length).map(({ type, url, title, start_index, end_index }) => ({
    type,
    url,
    title,
    start_index,
    end_index,
  }));
}

function toInputPart(part: unknown): unknown {
  if (!isObject(part)) return part;
  if (part.type === 'output_text') return { type: 'input_text', text: part.text };
  return part.type === 'refusal' ? { type: 'input_text', text: part.refusal } : part;
}

/** Call ids are limited to 64 characters. */
const CALL_IDS: CallIdRule = { pattern: /^/, maxLength: 64 };

function withValidCallId(wire: JsonObject): JsonObject {
  const id = wire.call_id;
  const valid = typeof id === 'string' ? toCallId(id, CALL_IDS) : id;
  return valid === id ? wire : { ...wire, call_id: valid };
}

/** To the vendor, an acknowledgement is the final result of a call; the late result follows in a message. */
function withoutAcknowledgement(wire: JsonObject): JsonObject {
  if (wire.status !== 'in_progress') return wire;
  const { status: _, ...rest } = wire;
  return rest;
}
