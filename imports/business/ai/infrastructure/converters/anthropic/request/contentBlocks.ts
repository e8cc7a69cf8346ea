/** Converts an item to content blocks of the Messages API. https://platform.claude.com/docs/en/api/messages */
import { isErrorState } from '../../../../domain/entities/Tool';
import { UnsupportedFeatureError } from '../../../../domain/errors/LLMErrors';
import { isObject } from '../../../../domain/json';
import { parseArguments } from '../../shared/callArguments';
import { toCallId } from '../../shared/callIds';
import { isBlank } from '../response/blocks';
import { toFileBlock, toImageBlock } from './media';
import type { CallIdRule } from '../../shared/callIds';
import type {
  Content,
  FunctionCallItem,
  FunctionCallOutputItem,
  InputContent,
  InputItem,
  MessageItem,
  OutputText,
  ReasoningItem,
} from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

export interface ItemBlocks {
  readonly blocks: readonly JsonObject[];
  /** Paths are relative to the item. */
  readonly losses: readonly { readonly path: string; readonly what: string; readonly reason: string }[];
  readonly hasImage: boolean;
  readonly hasFile: boolean;
  /** Whether it contains URLs that the vendor would have to fetch. */
  readonly hasUrl: boolean;
}

/** The API documents only the alphabet. Ids of other vendors have at most 64 characters. */
const ANTHROPIC_CALL_ID: CallIdRule = { pattern: /^[a-zA-Z0-9_-]+$/, maxLength: 64 };

const NO_LOSSES: ItemBlocks['losses'] = [];
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
  return { blocks, losses, hasImage: false, hasFile: false, hasUrl: false };
}

/** Vendor fields take precedence over converted ones. */
function withVendorFields(block: JsonObject, vendorFields: JsonObject | undefined): JsonObject {
  return vendorFields === undefined ? block : { ...block, ...vendorFields };
}

function messageBlocks(item: MessageItem): ItemBlocks {
  const blocks: JsonObject[] = [];
  let losses = NO_LOSSES;
  let isText = true;
  for (const [index, part] of item.content.entries()) {
    const block = toContentBlock(part, index);
    if (block !== undefined) blocks.push(block);
    if (part.type === 'output_text' && losesAnnotations(part)) {
      losses = [
        ...losses,
        { path: `.content[${index}]`, what: 'annotations', reason: 'The Messages API accepts only its own citations.' },
      ];
    }
    isText &&= block?.type === 'text';
  }
  const cached = withCacheControl(blocks, item);
  return isText ? withoutMedia(cached, losses) : { blocks: cached, losses, ...mediaFlags(item.content) };
}

function losesAnnotations(part: OutputText): boolean {
  return part.annotations.length > 0 && part.vendor?.anthropic?.citations === undefined;
}

/** A message's `cache_control` is written on its last block. */
function withCacheControl(blocks: JsonObject[], item: MessageItem): readonly JsonObject[] {
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

function mediaFlags(parts: readonly Content[]): Pick<ItemBlocks, 'hasImage' | 'hasFile' | 'hasUrl'> {
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
  const vendorFields = item.vendor?.anthropic;
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
  const block: JsonObject = { type: 'tool_result', tool_use_id: toCallId(item.call_id, ANTHROPIC_CALL_ID) };
  if (isErrorState(item.state)) block.is_error = true;
  if (typeof item.output === 'string') {
    block.content = item.output;
    return withoutMedia([withVendorFields(block, item.vendor?.anthropic)]);
  }
  const content = item.output.flatMap((part: InputContent, index) => toContentBlock(part, index) ?? []);
  // An empty result is expressed by omitting the content.
  if (content.length > 0) block.content = content;
  return { ...mediaFlags(item.output), losses: NO_LOSSES, blocks: [withVendorFields(block, item.vendor?.anthropic)] };
}

function thinkingBlock(item: ReasoningItem): JsonObject {
  const vendorFields = item.vendor?.anthropic;
  if (vendorFields?.type === 'redacted_thinking') return { data: item.encrypted_content, ...vendorFields };
  const thinking = (item.content ?? []).map((part) => part.text).join('');
  return {
    type: 'thinking',
    thinking,
    ...(item.encrypted_content === undefined ? {} : { signature: item.encrypted_content }),
    ...vendorFields,
  };
}
