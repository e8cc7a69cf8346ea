/**
 * Converts a history to `system` and `messages`, without the reasoning and items of other vendors.
 * https://platform.claude.com/docs/en/api/messages
 */
import { LLMInvalidRequestError, UnsupportedFeatureError } from '../../../../domain/errors/LLMErrors';
import { NO_MEDIA, toContentBlocks } from './contentBlocks';
import { withMessageMarks } from './cacheMarks';
import { AnthropicTurns, isSystemMessage } from './AnthropicTurns';
import { SLICE } from '../../../../domain/util/slices';
import type { Slices } from '../../../../domain/util/slices';
import { keepHistories } from '../../shared/conversionCache';
import { FOLLOW_INSTRUCTIONS, ONLY_INSTRUCTIONS } from '../../shared/taggedInstructions';
import type { ItemBlocks, Media } from './contentBlocks';
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
 * @param mark of the cache, for the messages up to which it is written. Absent: none are marked
 * @throws UnsupportedFeatureError for content that the wire or the model does not support
 */
export function* toConversation(
  items: readonly InputItem[],
  context: WireContext,
  features: AnthropicModelFeatures,
  pathOf: (item: InputItem) => string,
  mark?: JsonObject,
): Slices<AnthropicConversation> {
  const losses: Loss[] = [];
  const system: JsonObject[] = [];
  const turns = new AnthropicTurns(features, losses);
  let hasStarted = false;
  const kept = convertedHistory(items);
  let index = -1;
  for (const item of items) {
    index += 1;
    if (index > 0 && index % SLICE === 0) yield;
    const reason = reasonToDrop(item, context, features);
    if (reason !== undefined) {
      losses.push({ path: pathOf(item), what: item.type, reason });
      continue;
    }
    let converted: ItemBlocks;
    try {
      converted = kept.convert(item, index);
    } catch (error) {
      throw withPath(error, pathOf(item));
    }
    const { blocks, media } = converted;
    if (media !== NO_MEDIA) assertSupported(media, context, pathOf(item));
    if (converted.losses.length > 0)
      for (const loss of converted.losses) losses.push({ ...loss, path: `${pathOf(item)}${loss.path}` });
    const isSystem = isSystemMessage(item);
    if (isSystem) assertTextOnly(media, () => pathOf(item));
    if (isSystem && !hasStarted) {
      system.push(...blocks);
    } else {
      hasStarted = true;
      turns.add(item, blocks, pathOf);
    }
  }
  const finished = turns.finish();
  if (finished.length === 0 && system.length > 0) {
    finished.push({ role: 'user', content: [{ type: 'text', text: FOLLOW_INSTRUCTIONS }] });
    losses.push(ONLY_INSTRUCTIONS);
  }
  const written = finished.map((message, at) => sameAs(kept.writtenAt(at), message));
  const messages = mark === undefined ? written : withMessageMarks(written, mark);
  kept.keepWritten(messages);
  return { system, messages, losses };
}

const convertedHistory = keepHistories<ItemBlocks, JsonObject>(toContentBlocks);

/** The previous request's message if the new one is the same, so that its JSON is written once. */
function sameAs(earlier: JsonObject | undefined, message: JsonObject): JsonObject {
  if (earlier === undefined || earlier.role !== message.role) return message;
  const before = earlier.content;
  const now = message.content;
  if (!Array.isArray(before) || !Array.isArray(now) || before.length !== now.length) return message;
  for (let index = 0; index < now.length; index += 1) if (before[index] !== now[index]) return message;
  for (const key in message) if (key !== 'content' && earlier[key] !== message[key]) return message;
  for (const key in earlier) if (!(key in message)) return message;
  return earlier;
}

/** An error of an item's conversion, with the item's path. */
function withPath(error: unknown, path: string): unknown {
  if (error instanceof UnsupportedFeatureError)
    return new UnsupportedFeatureError(`${path}: ${error.message}`, {
      path: error.path === undefined ? path : `${path}.${error.path}`,
      cause: error,
    });
  if (error instanceof LLMInvalidRequestError)
    return new LLMInvalidRequestError(`${path}: ${error.message}`, { path, cause: error });
  return error;
}

/**
 * Reasoning and vendor items are valid only at the vendor that produced them. The API itself ignores the thinking of
 * another of its models.
 */
function reasonToDrop(
  item: InputItem,
  context: WireContext,
  { signsThinking }: AnthropicModelFeatures,
): string | undefined {
  switch (item.type) {
    case 'message':
    case 'function_call':
    case 'function_call_output':
      return undefined;
    case 'reasoning':
      if (!isFromThisVendor(item.origin, context))
        return 'Reasoning can be returned only to the vendor that produced it.';
      return signsThinking && item.content !== undefined && (item.encrypted_content ?? '') === ''
        ? 'Claude accepts thinking only with its signature, which a response that was cut off may lack.'
        : undefined;
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

function assertSupported(media: Media, { capabilities, quirks }: WireContext, path: string): void {
  if (media.hasImage && !capabilities.supportsVision)
    throw new UnsupportedFeatureError(`The model does not support images (${path}).`, { path });
  if (media.hasFile && !capabilities.supportsFiles)
    throw new UnsupportedFeatureError(`The model does not support files (${path}).`, { path });
  if (media.hasUrl && !quirks.fetchesImageUrls) {
    throw new UnsupportedFeatureError(`The vendor does not fetch URLs (${path}). Inline the content as a data URI.`, {
      path,
    });
  }
}

function assertTextOnly({ hasImage, hasFile }: Media, path: () => string): void {
  if (hasImage || hasFile)
    throw new UnsupportedFeatureError(`System messages may contain only text (${path()}).`, { path: path() });
}
