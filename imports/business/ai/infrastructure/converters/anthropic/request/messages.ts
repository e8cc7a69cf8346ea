/**
 * A history → `system` and `messages`, without what is sealed for somebody else.
 * https://platform.claude.com/docs/en/api/messages
 */
import { LLMInvalidRequestError, UnsupportedFeatureError } from '../../../../domain/errors/LLMErrors';
import { toContentBlocks } from './contentBlocks';
import { AnthropicTurns, isSystemMessage } from './AnthropicTurns';
import { cacheByPosition } from '../../shared/conversionCache';
import type { ItemBlocks } from './contentBlocks';
import type { AnthropicModelFeatures } from '../modelFeatures';
import type { InputItem } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject, Loss, Origin } from '../../../../domain/types/VendorTypes';
import type { WireContext } from '../../Wire';

export interface AnthropicConversation {
  /** What the operator said before anybody else. */
  readonly system: readonly JsonObject[];
  readonly messages: readonly JsonObject[];
  readonly losses: readonly Loss[];
}

/**
 * @param items a repaired history
 * @param pathOf where an item stands in what the caller gave
 * @throws UnsupportedFeatureError for content that the wire or the model cannot take
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
  const convert = blocksInHistory(items);
  for (const [index, item] of items.entries()) {
    const reason = reasonToDrop(item, context);
    if (reason !== undefined) {
      losses.push({ path: pathOf(item), what: item.type, reason });
      continue;
    }
    const converted = convertWithPath(
      () => convert(item, index),
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
  return { system, messages: turns.finish(), losses };
}

const blocksInHistory = cacheByPosition(toContentBlocks);

/** The parts know what is wrong with them, the conversation knows where they stand. */
function convertWithPath(convert: () => ItemBlocks, path: () => string): ItemBlocks {
  try {
    return convert();
  } catch (error) {
    if (error instanceof UnsupportedFeatureError)
      throw new UnsupportedFeatureError(`${path()}: ${error.message}`, { path: path(), cause: error });
    if (error instanceof LLMInvalidRequestError)
      throw new LLMInvalidRequestError(`${path()}: ${error.message}`, { path: path(), cause: error });
    throw error;
  }
}

/**
 * Sealed and hosted things are good only where they were made; the API itself leaves out what another of its models
 * sealed.
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
        : 'reasoning goes back only to the vendor that sealed it';
    case 'vendor_item':
      return isFromThisVendor(item.origin, context) ? undefined : 'it goes back only to the vendor that made it';
    case 'compaction':
      return 'a sealed summary goes back only to the vendor that made it';
    default:
      return 'it is known only to the host that made it';
  }
}

function isFromThisVendor(origin: Origin | undefined, context: WireContext): boolean {
  return origin?.wire === 'anthropic_messages' && (origin.vendor === undefined || origin.vendor === context.vendor);
}

function assertSupported(blocks: ItemBlocks, { capabilities, quirks }: WireContext, path: () => string): void {
  if (blocks.hasImage && !capabilities.supportsVision)
    throw new UnsupportedFeatureError(`${path()}: the model sees no images`, { path: path() });
  if (blocks.hasFile && !capabilities.supportsFiles)
    throw new UnsupportedFeatureError(`${path()}: the model reads no files`, { path: path() });
  if (blocks.hasUrl && !quirks.fetchesImageUrls) {
    throw new UnsupportedFeatureError(`${path()}: the host fetches no URLs; the content must be sent along`, {
      path: path(),
    });
  }
}

function assertTextOnly(blocks: ItemBlocks, path: () => string): void {
  if (blocks.hasImage || blocks.hasFile)
    throw new UnsupportedFeatureError(`${path()}: system messages hold text only`, { path: path() });
}
