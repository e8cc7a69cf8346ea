import type { InputItem } from '../types/ResponsesAPITypes';
import type { JsonObject } from '../types/VendorTypes';

/**
 * The items from an index on, for a vendor that has those before it. An output says which program of the model made
 * its call. https://developers.openai.com/api/docs/guides/tools-programmatic-tool-calling
 */
export function withCallers(items: readonly InputItem[], from: number): readonly InputItem[] {
  const callers = new Map<string, JsonObject>();
  for (const item of items)
    if (item.type === 'function_call' && item.caller !== undefined) callers.set(item.call_id, item.caller);
  const rest = items.slice(from);
  if (callers.size === 0) return rest;
  return rest.map((item) => {
    const caller = item.type === 'function_call_output' ? callers.get(item.call_id) : undefined;
    return caller === undefined ? item : { ...item, caller };
  });
}
