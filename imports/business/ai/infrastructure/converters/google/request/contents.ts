/**
 * A history as Gemini's contents: roles that alternate, all answers of a turn together, the operator's words apart
 * from them.
 */
import { inputText } from '../../../../domain/entities/Content';
import { ContentsBuilder } from './ContentsBuilder';
import { partsOfItem } from './parts';
import { markOf } from '../googleTypes';
import { repairHistory } from '../../shared/repairHistory';
import type { GoogleModelFeatures } from '../modelFeatures';
import type { PartsContext } from './parts';
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

/** @throws UnsupportedFeatureError for content that the wire cannot express */
export function toContents(
  input: readonly InputItem[],
  features: GoogleModelFeatures,
  fetchesUrls: boolean,
): GoogleConversation {
  const { items, losses: repairs } = repairHistory(input, { nativeAsync: false });
  const losses: Loss[] = [...repairs];
  const context: PartsContext = { fetchesUrls, mediaInResults: features.supportsMediaInResults };
  const calls = new Map<string, FunctionCallItem>();
  const builder = new ContentsBuilder();
  const systemParts: GooglePart[] = [];
  let systemFields: JsonObject = {};
  let leading = true;
  let index = -1;
  // One function for all items: paths are wanted for losses and errors only.
  const path = (): string => pathOf(items, input, index);

  for (const item of items) {
    index += 1;
    if (isSystemMessage(item)) {
      if (leading) {
        systemFields = { ...systemFields, ...markOf(item).content };
        systemParts.push(...partsOfItem(item, context, path).parts);
        continue;
      }
      losses.push({
        path: path(),
        what: `the ${item.role} role`,
        reason: 'Gemini takes instructions at the beginning only; sent as marked user text',
      });
      builder.add(asUserText(item), partsOfItem(asUserText(item), context, path));
      continue;
    }
    leading = false;
    if (item.type === 'function_call') calls.set(item.call_id, item);
    const call = item.type === 'function_call_output' ? calls.get(item.call_id) : undefined;
    const converted = partsOfItem(item, call === undefined ? context : { ...context, call }, path);
    for (const loss of converted.losses)
      losses.push({ path: `${path()}${loss.at}`, what: loss.what, reason: loss.reason });
    builder.add(item, converted);
  }
  return { systemParts, systemFields, contents: builder.finish(features.requiresSignatures), losses };
}

/** Repaired histories hold items that the caller's does not; those are named by where they stand. */
function pathOf(items: readonly InputItem[], input: readonly InputItem[], index: number): string {
  const item = items[index];
  const place = item === undefined || input[index] === item ? index : input.indexOf(item);
  return `input[${place === -1 ? index : place}]`;
}

function isSystemMessage(item: InputItem): item is MessageItem {
  return item.type === 'message' && (item.role === 'system' || item.role === 'developer');
}

const tagged = new WeakMap<MessageItem, MessageItem>();

/**
 * Instructions in the middle of a history: a user message between marks, so that the model can tell them from the
 * user's own words.
 */
function asUserText(item: MessageItem): MessageItem {
  let message = tagged.get(item);
  if (message === undefined) {
    const content = [
      inputText(`<${item.role}_instructions>`),
      ...item.content,
      inputText(`</${item.role}_instructions>`),
    ];
    message = { type: 'message', role: 'user', content };
    tagged.set(item, message);
  }
  return message;
}
