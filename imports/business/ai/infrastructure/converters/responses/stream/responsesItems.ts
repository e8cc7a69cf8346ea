/** Output items as a Responses stream writes them, whichever wire they came over. */
import { writeForeignItem } from '../gateway/ResponsesGateway';
import { wireForm } from '../items';
import type { OutputItem } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject, WireName } from '../../../../domain/types/VendorTypes';
import { isCallItem, argumentsOrEmpty } from '../../stream/callItems';

const OWN: WireName = 'responses';

/** An item of the host's own that comes in stages of its own, which its events tell. */
export function isOwnHosted(item: OutputItem): boolean {
  return item.type !== 'message' && item.type !== 'reasoning' && !isCallItem(item) && isOwn(item);
}

/** @param index the item's place, which its id is made of where it has none */
export function streamItem(item: OutputItem, responseId: string, index: number): JsonObject {
  const { vendor, ...foreign } = writeForeignItem(item, { id: responseId, status: 'in_progress', output: [] }, index);
  if (isOwn(item)) return { id: foreign.id, ...wireForm(item) };
  const form = item.type === 'function_call' ? { ...foreign, arguments: argumentsOrEmpty(item) } : foreign;
  const words = Object.entries(vendor ?? {}).filter(([scheme]) => scheme !== 'openai_responses');
  return words.length === 0 ? form : { ...form, vendor: Object.fromEntries(words) };
}

/** The item as it stands when it begins, for items that come whole. */
export function initialForm(form: JsonObject): JsonObject {
  const begun: JsonObject = { ...form, status: 'in_progress' };
  if (form.type === 'function_call') return { ...begun, arguments: '' };
  if (form.type === 'custom_tool_call') return { ...begun, input: '' };
  if (form.type !== 'reasoning') return begun;
  const { encrypted_content: _, content: __, ...rest } = begun;
  return { ...rest, summary: [] };
}

function isOwn(item: OutputItem): boolean {
  return 'origin' in item && item.origin.wire === OWN;
}
