/** Output items as a Responses stream writes them, whichever wire they came over. */
import { writeForeignItem } from '../gateway/ResponsesGateway';
import { wireForm } from '../items';
import type { OutputItem } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject, WireName } from '../../../../domain/types/VendorTypes';
import { isCallItem, argumentsOrEmpty } from '../../stream/callItems';

const OWN_WIRE: WireName = 'responses';

/** An item of the host's own that comes in stages of its own, which its events tell. */
export function isOwnHostedItem(item: OutputItem): boolean {
  return item.type !== 'message' && item.type !== 'reasoning' && !isCallItem(item) && isFromResponsesWire(item);
}

/** @param index the item's place, which its id is made of where it has none */
export function streamItem(item: OutputItem, responseId: string, index: number): JsonObject {
  const { vendor, ...foreign } = writeForeignItem(item, { id: responseId, status: 'in_progress', output: [] }, index);
  if (isFromResponsesWire(item)) return { id: foreign.id, ...wireForm(item) };
  const form = item.type === 'function_call' ? { ...foreign, arguments: argumentsOrEmpty(item) } : foreign;
  const foreignFields = Object.entries(vendor ?? {}).filter(([scheme]) => scheme !== 'openai_responses');
  return foreignFields.length === 0 ? form : { ...form, vendor: Object.fromEntries(foreignFields) };
}

/** The item as it stands when it begins, for items that come whole. */
export function initialForm(form: JsonObject): JsonObject {
  const started: JsonObject = { ...form, status: 'in_progress' };
  if (form.type === 'function_call') return { ...started, arguments: '' };
  if (form.type === 'custom_tool_call') return { ...started, input: '' };
  if (form.type !== 'reasoning') return started;
  const { encrypted_content: _, content: __, ...rest } = started;
  return { ...rest, summary: [] };
}

function isFromResponsesWire(item: OutputItem): boolean {
  return 'origin' in item && item.origin.wire === OWN_WIRE;
}
