/** One item → its content blocks. */
import { UnsupportedFeatureError } from '../../../../domain/errors/LLMErrors';
import { isObject } from '../../../../domain/json';
import { argumentsObject } from '../../shared/callArguments';
import { toCallId } from '../../shared/callIds';
import { isBlank } from '../response/blocks';
import { fileBlock, imageBlock } from './media';
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
  /** URLs that the vendor's server would have to fetch. */
  readonly hasUrl: boolean;
}

/** The API names the alphabet only; 64 is what the ids of other vendors keep to. */
const ANTHROPIC_CALL_ID: CallIdRule = { pattern: /^[a-zA-Z0-9_-]+$/, maxLength: 64 };

const NO_LOSSES: ItemBlocks['losses'] = [];
const NOTHING = plain([]);
/** @throws UnsupportedFeatureError for content that this wire cannot express */
export function itemBlocks(item: InputItem): ItemBlocks {
  switch (item.type) {
    case 'message':
      return messageBlocks(item);
    case 'function_call':
      return callBlock(item);
    case 'function_call_output':
      return resultBlock(item);
    case 'reasoning':
      return plain([thinkingBlock(item)]);
    case 'vendor_item':
      return plain([item.item]);
    default:
      return NOTHING;
  }
}

function plain(blocks: readonly JsonObject[], losses = NO_LOSSES): ItemBlocks {
  return { blocks, losses, hasImage: false, hasFile: false, hasUrl: false };
}

/** Words of this wire win over what was converted. */
function withOwn(block: JsonObject, own: JsonObject | undefined): JsonObject {
  return own === undefined ? block : { ...block, ...own };
}

function messageBlocks(item: MessageItem): ItemBlocks {
  const blocks: JsonObject[] = [];
  let losses = NO_LOSSES;
  let isText = true;
  for (const [index, part] of item.content.entries()) {
    const block = contentBlock(part, index);
    if (block !== undefined) blocks.push(block);
    if (part.type === 'output_text' && dropsAnnotations(part)) {
      losses = [
        ...losses,
        { path: `.content[${index}]`, what: 'annotations', reason: 'this wire takes back only citations of its own' },
      ];
    }
    isText &&= block?.type === 'text';
  }
  const marked = withCacheControl(blocks, item);
  return isText ? plain(marked, losses) : { blocks: marked, losses, ...media(item.content) };
}

function dropsAnnotations(part: OutputText): boolean {
  return part.annotations.length > 0 && part.vendor?.anthropic?.citations === undefined;
}

/** A mark on the message as a whole stands on its last block. */
function withCacheControl(blocks: JsonObject[], item: MessageItem): readonly JsonObject[] {
  const mark = item.vendor?.anthropic?.cache_control;
  const last = blocks.at(-1);
  return mark === undefined || last === undefined ? blocks : [...blocks.slice(0, -1), { ...last, cache_control: mark }];
}

/** Blocks of this wire that callers may write as parts of a message. */
const OWN_PARTS: ReadonlySet<string> = new Set([
  'document',
  'search_result',
  'container_upload',
  'server_tool_use',
  'thinking',
  'redacted_thinking',
]);

/** `undefined` for a blank text: the API refuses those, unless it wrote them itself. */
function contentBlock(part: Content, index: number): JsonObject | undefined {
  const own = part.vendor?.anthropic;
  // A block that the inner language only describes in words.
  if (isObject(own?.block)) return own.block;
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      return isBlank(part.text) && own === undefined ? undefined : withOwn({ type: 'text', text: part.text }, own);
    case 'refusal':
      return isBlank(part.refusal) ? undefined : withOwn({ type: 'text', text: part.refusal }, own);
    case 'input_image':
      return withOwn(imageBlock(part), own);
    case 'input_file':
      return withOwn(fileBlock(part), own);
    default:
      return ownPart(part, index);
  }
}

/**
 * Parts of kinds that the inner language does not know reach converters whole, although its types have no member
 * for them.
 */
function ownPart(part: never, index: number): JsonObject {
  const { vendor: _, ...block } = part as JsonObject;
  const type = String(block.type);
  if (OWN_PARTS.has(type) || type.endsWith('_tool_result')) return block;
  throw new UnsupportedFeatureError(`content[${index}]: this wire has no ${type} part`, { path: `content[${index}]` });
}

function media(parts: readonly Content[]): Pick<ItemBlocks, 'hasImage' | 'hasFile' | 'hasUrl'> {
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
  const { value, malformed } = argumentsObject(item);
  const own = item.vendor?.anthropic;
  const block = withOwn(
    { type: 'tool_use', id: toCallId(item.call_id, ANTHROPIC_CALL_ID), name: item.name, input: value },
    own,
  );
  if (!malformed || own?.input !== undefined) return plain([block]);
  return plain(
    [block],
    [
      {
        path: '.arguments',
        what: 'arguments',
        reason: 'they are no JSON object; their text is sent in a field of one',
      },
    ],
  );
}

/** States in which a call ended without a result. */
const ERROR_STATES: ReadonlySet<string> = new Set(['failed', 'timeout', 'cancelled']);

function resultBlock(item: FunctionCallOutputItem): ItemBlocks {
  const block: JsonObject = { type: 'tool_result', tool_use_id: toCallId(item.call_id, ANTHROPIC_CALL_ID) };
  if (item.state !== undefined && ERROR_STATES.has(item.state)) block.is_error = true;
  if (typeof item.output === 'string') {
    block.content = item.output;
    return plain([withOwn(block, item.vendor?.anthropic)]);
  }
  const content = item.output.flatMap((part: InputContent, index) => contentBlock(part, index) ?? []);
  // No content at all is how this wire says that there is nothing to tell.
  if (content.length > 0) block.content = content;
  return { ...media(item.output), losses: NO_LOSSES, blocks: [withOwn(block, item.vendor?.anthropic)] };
}

function thinkingBlock(item: ReasoningItem): JsonObject {
  const own = item.vendor?.anthropic;
  if (own?.type === 'redacted_thinking') return { data: item.encrypted_content, ...own };
  const thinking = (item.content ?? []).map((part) => part.text).join('');
  return {
    type: 'thinking',
    thinking,
    ...(item.encrypted_content === undefined ? {} : { signature: item.encrypted_content }),
    ...own,
  };
}
