/**
 * Converts output items, from whichever wire, to the form they have in a Responses stream.
 * https://platform.openai.com/docs/api-reference/responses-streaming/response/output_item
 */
import { writeForeignItem } from '../gateway/ResponsesGateway';
import { wireForm } from '../items';
import type { OutputItem } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject, WireName } from '../../../../domain/types/VendorTypes';
import { isCallItem, argumentsOrEmpty } from '../../stream/callItems';

const OWN_WIRE: WireName = 'responses';

/** Whether the item is a hosted one of a Responses vendor, whose progress that vendor reports in its own events. */
export function isOwnHostedItem(item: OutputItem): boolean {
  return item.type !== 'message' && item.type !== 'reasoning' && !isCallItem(item) && isFromResponsesWire(item);
}

/** @param index the item's output index; its id is derived from it if it has none */
export function streamItem(item: OutputItem, responseId: string, index: number): JsonObject {
  const { vendor, ...foreign } = writeForeignItem(item, { id: responseId, status: 'in_progress', output: [] }, index);
  if (isFromResponsesWire(item)) return { id: foreign.id, ...wireForm(item) };
  const form = item.type === 'function_call' ? { ...foreign, arguments: argumentsOrEmpty(item) } : foreign;
  const foreignFields = Object.entries(vendor ?? {}).filter(([scheme]) => scheme !== 'openai_responses');
  return foreignFields.length === 0 ? form : { ...form, vendor: Object.fromEntries(foreignFields) };
}

/** The item in its initial state, for items that arrive complete. */
export function initialForm(form: JsonObject): JsonObject {
  const started: JsonObject = { ...form, status: 'in_progress' };
  if (form.type === 'function_call') return { ...started, arguments: '' };
  if (form.type === 'custom_tool_call') return { ...started, input: '' };
  if (form.type !== 'reasoning' && form.type !== 'image_generation_call') return started;
  const { encrypted_content: _, content: __, ...rest } = started;
  return form.type === 'reasoning' ? { ...rest, summary: [] } : { ...rest, result: null };
}

function isFromResponsesWire(item: OutputItem): boolean {
  return 'origin' in item && item.origin.wire === OWN_WIRE;
}
