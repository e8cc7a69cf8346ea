/**
 * Converts a history to `system` and `messages`, without the reasoning and items of other vendors.
 * https://platform.claude.com/docs/en/api/messages
 */
import { LLMInvalidRequestError, UnsupportedFeatureError } from '../../../../domain/errors/LLMErrors';
import { toContentBlocks } from './contentBlocks';
import { AnthropicTurns, isSystemMessage } from './AnthropicTurns';
import { keepHistories } from '../../shared/conversionCache';
import type { ItemBlocks } from './contentBlocks';
import type { AnthropicModelFeatures } from '../modelFeatures';
import type { InputItem } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject, Loss, Origin } from '../../../../domain/types/VendorTypes';
import type { WireContext } from '../../Wire';

export interface AnthropicConversation {
  /** Blocks of the leading system messages. */
  readonly system: readonly JsonObject[];
  readonly messages: readonly JsonObject[];
  readonly losses: readonly Loss[];
}

/**
 * @param items a repaired history
 * @param pathOf returns the path of an item in the caller's input
 * @throws UnsupportedFeatureError for content that the wire or the model does not support
 */
export function toConversation(
  items: readonly InputItem[],
  context: WireContext,
  features: AnthropicModelFeatures,
  pathOf: (item: InputItem) => string,
): AnthropicConversation {
  const losses: Loss[] = [];
  const system: JsonObject[] = [];
  const turns = new AnthropicTurns(features.supportsSystemMessages, losses);
  let hasStarted = false;
  const kept = convertedHistory(items);
  for (const [index, item] of items.entries()) {
    const reason = reasonToDrop(item, context);
    if (reason !== undefined) {
      losses.push({ path: pathOf(item), what: item.type, reason });
      continue;
    }
    const converted = convertWithPath(
      () => kept.convert(item, index),
      () => pathOf(item),
    );
    assertSupported(converted, context, () => pathOf(item));
    for (const loss of converted.losses) losses.push({ ...loss, path: `${pathOf(item)}${loss.path}` });
    if (isSystemMessage(item)) assertTextOnly(converted, () => pathOf(item));
    if (isSystemMessage(item) && !hasStarted) {
      system.push(...converted.blocks);
    } else {
      hasStarted = true;
      turns.add(item, converted.blocks, pathOf);
    }
  }
  const messages = turns.finish().map((message, index) => sameAs(kept.writtenAt(index), message));
  kept.keepWritten(messages);
  return { system, messages, losses };
}

const convertedHistory = keepHistories<ItemBlocks, JsonObject>(toContentBlocks);

/** The previous request's message if the new one is the same, so that its JSON is written once. */
function sameAs(earlier: JsonObject | undefined, message: JsonObject): JsonObject {
  if (earlier?.role !== message.role) return message;
  const [before, now] = [earlier?.content, message.content];
  if (!Array.isArray(before) || !Array.isArray(now) || before.length !== now.length) return message;
  for (let index = 0; index < now.length; index += 1) if (before[index] !== now[index]) return message;
  const keys = Object.keys(message);
  if (keys.length !== Object.keys(earlier ?? {}).length) return message;
  return keys.every((key) => key === 'content' || earlier?.[key] === message[key]) ? (earlier ?? message) : message;
}

/** Adds the item's path to errors of its conversion. */
function convertWithPath(convert: () => ItemBlocks, path: () => string): ItemBlocks {
  try {
    return convert();
  } catch (error) {
    if (error instanceof UnsupportedFeatureError)
      throw new UnsupportedFeatureError(`${path()}: ${error.message}`, {
        path: error.path === undefined ? path() : `${path()}.${error.path}`,
        cause: error,
      });
    if (error instanceof LLMInvalidRequestError)
      throw new LLMInvalidRequestError(`${path()}: ${error.message}`, { path: path(), cause: error });
    throw error;
  }
}

/**
 * Reasoning and vendor items are valid only at the vendor that produced them. The API itself ignores the thinking of
 * another of its models.
 */
function reasonToDrop(item: InputItem, context: WireContext): string | undefined {
  switch (item.type) {
    case 'message':
    case 'function_call':
    case 'function_call_output':
      return undefined;
    case 'reasoning':
      return isFromThisVendor(item.origin, context)
        ? undefined
        : 'Reasoning can be returned only to the vendor that produced it.';
    case 'vendor_item':
      return isFromThisVendor(item.origin, context)
        ? undefined
        : 'It can be returned only to the vendor that produced it.';
    case 'compaction':
      return 'An encrypted summary can be returned only to the vendor that produced it.';
    default:
      return 'Only the vendor that produced it supports it.';
  }
}

function isFromThisVendor(origin: Origin | undefined, context: WireContext): boolean {
  return origin?.wire === 'anthropic_messages' && (origin.vendor === undefined || origin.vendor === context.vendor);
}

function assertSupported(blocks: ItemBlocks, { capabilities, quirks }: WireContext, path: () => string): void {
  if (blocks.hasImage && !capabilities.supportsVision)
    throw new UnsupportedFeatureError(`The model does not support images (${path()}).`, { path: path() });
  if (blocks.hasFile && !capabilities.supportsFiles)
    throw new UnsupportedFeatureError(`The model does not support files (${path()}).`, { path: path() });
  if (blocks.hasUrl && !quirks.fetchesImageUrls) {
    throw new UnsupportedFeatureError(`The vendor does not fetch URLs (${path()}). Inline the content as a data URI.`, {
      path: path(),
    });
  }
}

function assertTextOnly(blocks: ItemBlocks, path: () => string): void {
  if (blocks.hasImage || blocks.hasFile)
    throw new UnsupportedFeatureError(`System messages may contain only text (${path()}).`, { path: path() });
}
