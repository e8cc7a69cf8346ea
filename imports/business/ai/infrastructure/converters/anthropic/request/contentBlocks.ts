/** Converts an item to content blocks of the Messages API. https://platform.claude.com/docs/en/api/messages */
import { isErrorState } from '../../../../domain/entities/Tool';
import { UnsupportedFeatureError } from '../../../../domain/errors/LLMErrors';
import { isObject } from '../../../../domain/util/json';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import { parseArguments } from '../../shared/callArguments';
import { toCallId } from '../../shared/callIds';
import { withoutContainer } from '../containers';
import { isBlank } from '../response/blocks';
import { toFileBlock, toImageBlock } from './media';
import type { CallIdRule } from '../../shared/callIds';
import type {
  Content,
  FunctionCallItem,
  FunctionCallOutputItem,
  InputItem,
  MessageItem,
  ReasoningItem,
} from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

export interface ItemBlocks {
  readonly blocks: readonly JsonObject[];
  /** Paths are relative to the item. */
  readonly losses: readonly { readonly path: string; readonly what: string; readonly reason: string }[];
  readonly media: Media;
}

export interface Media {
  readonly hasImage: boolean;
  readonly hasFile: boolean;
  /** Whether it contains URLs that the vendor would have to fetch. */
  readonly hasUrl: boolean;
}

/** The API documents only the alphabet. Ids of other vendors have at most 64 characters. */
const ANTHROPIC_CALL_ID: CallIdRule = { pattern: /^[a-zA-Z0-9_-]+$/, maxLength: 64 };

const NO_LOSSES: ItemBlocks['losses'] = [];
export const NO_MEDIA: Media = { hasImage: false, hasFile: false, hasUrl: false };
const NO_BLOCKS = withoutMedia([]);

/** @throws UnsupportedFeatureError for content that this wire cannot express */
export function toContentBlocks(item: InputItem): ItemBlocks {
  switch (item.type) {
    case 'message':
      return messageBlocks(item);
    case 'function_call':
      return callBlock(item);
    case 'function_call_output':
      return resultBlock(item);
    case 'reasoning':
      return withoutMedia([thinkingBlock(item)]);
    case 'vendor_item':
      return withoutMedia([item.item]);
    default:
      return NO_BLOCKS;
  }
}

function withoutMedia(blocks: readonly JsonObject[], losses = NO_LOSSES): ItemBlocks {
  return { blocks, losses, media: NO_MEDIA };
}

/** Vendor fields take precedence over converted ones. */
function withVendorFields(block: JsonObject, vendorFields: JsonObject | undefined): JsonObject {
  return vendorFields === undefined ? block : { ...block, ...vendorFields };
}

function messageBlocks(item: MessageItem): ItemBlocks {
  const { content } = item;
  const converted = content.map(toContentBlock);
  const blocks = withCacheControl(withoutBlanks(converted), item);
  const losses = content.some(losesAnnotations) ? annotationLosses(content) : NO_LOSSES;
  return converted.every((block) => block?.type === 'text')
    ? withoutMedia(blocks, losses)
    : { blocks, losses, media: mediaOf(content) };
}

function withoutBlanks(blocks: readonly (JsonObject | undefined)[]): readonly JsonObject[] {
  return blocks.every((block) => block !== undefined) ? blocks : blocks.filter((block) => block !== undefined);
}

function annotationLosses(content: readonly Content[]): ItemBlocks['losses'] {
  return content.flatMap((part, index) =>
    losesAnnotations(part)
      ? [
          {
            path: `.content[${index}]`,
            what: 'annotations',
            reason: 'The Messages API accepts only its own citations.',
          },
        ]
      : [],
  );
}

function losesAnnotations(part: Content): boolean {
  return part.type === 'output_text' && part.annotations.length > 0 && part.vendor?.anthropic?.citations === undefined;
}

/** A message's `cache_control` is written on its last block. */
function withCacheControl(blocks: readonly JsonObject[], item: MessageItem): readonly JsonObject[] {
  const mark = item.vendor?.anthropic?.cache_control;
  const last = blocks.at(-1);
  return mark === undefined || last === undefined ? blocks : [...blocks.slice(0, -1), { ...last, cache_control: mark }];
}

/** Block types that callers may use directly as message parts. */
const WIRE_PARTS: ReadonlySet<string> = new Set([
  'document',
  'search_result',
  'container_upload',
  'server_tool_use',
  'thinking',
  'redacted_thinking',
]);

/** Returns `undefined` for a blank text, which the API rejects unless it produced the text itself. */
function toContentBlock(part: Content, index: number): JsonObject | undefined {
  const vendorFields = part.vendor?.anthropic;
  // The part merely describes this block in text.
  if (isObject(vendorFields?.block)) return vendorFields.block;
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      return isBlank(part.text) && vendorFields === undefined
        ? undefined
        : withVendorFields({ type: 'text', text: part.text }, vendorFields);
    case 'refusal':
      return isBlank(part.refusal) ? undefined : withVendorFields({ type: 'text', text: part.refusal }, vendorFields);
    case 'input_image':
      return withVendorFields(toImageBlock(part), vendorFields);
    case 'input_file':
      return withVendorFields(toFileBlock(part), vendorFields);
    default:
      return wirePart(part, index);
  }
}

/** Parts of unknown types reach converters unchanged, although `Content` has no member for them. */
function wirePart(part: never, index: number): JsonObject {
  const { vendor: _, ...block } = part as JsonObject;
  const type = String(block.type);
  if (WIRE_PARTS.has(type) || type.endsWith('_tool_result')) return block;
  throw new UnsupportedFeatureError(`The Messages API has no content of type "${type}" (content[${index}]).`, {
    path: `content[${index}]`,
  });
}

function mediaOf(parts: readonly Content[]): Media {
  let hasImage = false;
  let hasFile = false;
  let hasUrl = false;
  for (const part of parts) {
    if (part.type === 'input_image') {
      hasImage = true;
      hasUrl ||= part.image_url !== undefined && /^https?:/i.test(part.image_url);
    } else if (part.type === 'input_file') {
      hasFile = true;
      hasUrl ||= part.file_url !== undefined;
    }
  }
  return { hasImage, hasFile, hasUrl };
}

function callBlock(item: FunctionCallItem): ItemBlocks {
  const { value, malformed } = parseArguments(item);
  const vendorFields = withoutContainer(item.vendor?.anthropic);
  const block = withVendorFields(
    { type: 'tool_use', id: toCallId(item.call_id, ANTHROPIC_CALL_ID), name: item.name, input: value },
    vendorFields,
  );
  if (!malformed || vendorFields?.input !== undefined) return withoutMedia([block]);
  return withoutMedia(
    [block],
    [
      {
        path: '.arguments',
        what: 'arguments',
        reason: 'They are not a JSON object, so their text is sent as a field of one.',
      },
    ],
  );
}

function resultBlock(item: FunctionCallOutputItem): ItemBlocks {
  const { output } = item;
  const type = 'tool_result';
  const tool_use_id = toCallId(item.call_id, ANTHROPIC_CALL_ID);
  const isError = isErrorState(item.state);
  if (typeof output === 'string') {
    const content = isError && isBlank(output) ? NO_MESSAGE : output;
    const block = isError ? { type, tool_use_id, is_error: true, content } : { type, tool_use_id, content };
    return withoutMedia([withVendorFields(block, item.vendor?.anthropic)]);
  }
  const blocks = withoutBlanks(output.map(toContentBlock));
  // An empty result is expressed by omitting the content, which an error must have.
  const content = blocks.length > 0 ? blocks : isError ? NO_MESSAGE : undefined;
  const block = omitUndefined({ type, tool_use_id, is_error: isError ? true : undefined, content });
  return { blocks: [withVendorFields(block, item.vendor?.anthropic)], losses: NO_LOSSES, media: mediaOf(output) };
}

const NO_MESSAGE = 'The tool failed without a message.';

function thinkingBlock(item: ReasoningItem): JsonObject {
  const vendorFields = item.vendor?.anthropic;
  if (vendorFields?.type === 'redacted_thinking') return { data: item.encrypted_content, ...vendorFields };
  const thinking = (item.content ?? []).map((part) => part.text).join('');
  return { type: 'thinking', thinking, ...omitUndefined({ signature: item.encrypted_content }), ...vendorFields };
}
