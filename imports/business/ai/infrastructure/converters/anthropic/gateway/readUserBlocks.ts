/**
 * Reads the content blocks of a user turn in a Messages API request as message and tool result items.
 * https://platform.claude.com/docs/en/api/messages
 */
import { LLMInvalidRequestError } from '../../../../domain/errors/LLMErrors';
import { isObject, isObjectList } from '../../../../domain/util/json';
import { carryFields, isBlank } from '../response/blocks';
import type {
  FunctionCallOutputItem,
  InputContent,
  InputText,
  MessageItem,
} from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import { parseUrl } from '../../../../domain/util/parseUrl';

/** Adjacent parts form one message, each tool result its own item. */
export function readUserBlocks(
  role: 'user' | 'system',
  blocks: readonly JsonObject[],
  path: string,
): (MessageItem | FunctionCallOutputItem)[] {
  const items: (MessageItem | FunctionCallOutputItem)[] = [];
  let parts: InputContent[] | undefined;
  blocks.forEach((block, index) => {
    if (block.type === 'tool_result') {
      parts = undefined;
      items.push(readToolResult(block, `${path}[${index}]`));
    } else if (parts === undefined) {
      parts = [toInputPart(block)];
      items.push({ type: 'message', role, content: parts });
    } else {
      parts.push(toInputPart(block));
    }
  });
  return items;
}

function readToolResult(block: JsonObject, path: string): FunctionCallOutputItem {
  const { type: _, tool_use_id, content, is_error, ...rest } = block;
  if (typeof tool_use_id !== 'string' || tool_use_id === '')
    throw new LLMInvalidRequestError(`"${path}.tool_use_id" must be a string.`, { path: `${path}.tool_use_id` });
  return {
    type: 'function_call_output',
    call_id: tool_use_id,
    output: readOutput(content, path),
    ...(is_error === true ? { state: 'failed' } : {}),
    ...carryFields(is_error === undefined || is_error === true ? rest : { ...rest, is_error }),
  };
}

/**
 * A result without content becomes an empty list, which is written without content again. An object, which Anthropic
 * refuses, is serialized.
 */
function readOutput(content: unknown, path: string): string | readonly InputContent[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return content;
  if (isObject(content)) return JSON.stringify(content);
  if (!isObjectList(content))
    throw new LLMInvalidRequestError(`"${path}.content" must be a string, a list of blocks or an object.`, {
      path: `${path}.content`,
    });
  return content.map(toInputPart);
}

function toInputPart(block: JsonObject): InputContent {
  return textPart(block) ?? imagePart(block) ?? documentPart(block) ?? describeBlock(block);
}

function textPart(block: JsonObject): InputText | undefined {
  const { type, text, ...rest } = block;
  if (type !== 'text' || typeof text !== 'string') return undefined;
  // The vendor fields show that a client of this wire wrote the blank text, so it is not dropped.
  return { type: 'input_text', text, ...(isBlank(text) ? { vendor: { anthropic: rest } } : carryFields(rest)) };
}

function imagePart(block: JsonObject): InputContent | undefined {
  const { type, source, ...rest } = block;
  if (type !== 'image' || !isObject(source)) return undefined;
  const media = readSource(source);
  switch (media?.kind) {
    case 'data':
      return media.uri.startsWith('data:image/')
        ? { type: 'input_image', image_url: media.uri, ...carryFields(rest) }
        : undefined;
    case 'url':
      return { type: 'input_image', image_url: media.url, ...carryFields(rest) };
    case 'file':
      return { type: 'input_image', file_id: media.file_id, ...carryFields(rest) };
    case undefined:
      return undefined;
  }
}

function documentPart(block: JsonObject): InputContent | undefined {
  const { type, source, title, ...others } = block;
  if (type !== 'document' || !isObject(source)) return undefined;
  const hasTitle = typeof title === 'string' && title !== '';
  const rest = hasTitle || title === undefined ? others : { ...others, title };
  const filename = hasTitle ? { filename: title } : {};
  const media = readSource(source);
  switch (media?.kind) {
    case 'data':
      return { type: 'input_file', file_data: media.uri, ...filename, ...carryFields(rest) };
    case 'url':
      return { type: 'input_file', file_url: media.url, ...filename, ...carryFields(rest) };
    case 'file':
      return { type: 'input_file', file_id: media.file_id, ...filename, ...carryFields(rest) };
    case undefined: {
      const text = plainText(source);
      // The original source is stored as well, since file_data cannot represent a text source exactly.
      return text === undefined
        ? undefined
        : { type: 'input_file', file_data: textUri(text), ...filename, ...carryFields({ ...rest, source }) };
    }
  }
}

type MediaSource =
  | { readonly kind: 'data'; readonly uri: string }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'file'; readonly file_id: string };

/** Returns `undefined` for a source with unknown fields or invalid data. */
function readSource(source: JsonObject): MediaSource | undefined {
  const { type, media_type, data, url, file_id, ...rest } = source;
  if (Object.keys(rest).length > 0) return undefined;
  if (
    type === 'base64' &&
    typeof media_type === 'string' &&
    isMediaType(media_type) &&
    typeof data === 'string' &&
    isBase64(data)
  ) {
    return { kind: 'data', uri: `data:${media_type};base64,${data}` };
  }
  if (type === 'url' && typeof url === 'string' && /^https?:\/\//i.test(url) && parseUrl(url) !== undefined)
    return { kind: 'url', url };
  if (type === 'file' && typeof file_id === 'string' && file_id !== '') return { kind: 'file', file_id };
  return undefined;
}

function isMediaType(type: string): boolean {
  return /^[a-z]+\/[a-z0-9.+-]+$/.test(type) && type !== 'image/jpg';
}

function isBase64(data: string): boolean {
  const digits = data.endsWith('==') ? data.length - 2 : data.endsWith('=') ? data.length - 1 : data.length;
  return digits > 0 && digits % 4 !== 1 && !/[^A-Za-z0-9+/]/.test(data.slice(0, digits));
}

function plainText(source: JsonObject): string | undefined {
  const { type, data, content } = source;
  if (type === 'text' && typeof data === 'string' && data !== '') return data;
  if (type === 'content' && typeof content === 'string' && content !== '') return content;
  if (type !== 'content' || !isObjectList(content)) return undefined;
  const text = textOfBlocks(content);
  return text === '' ? undefined : text;
}

function textUri(text: string): string {
  return `data:text/plain;base64,${Buffer.from(text, 'utf8').toString('base64')}`;
}

function textOfBlocks(blocks: readonly JsonObject[]): string {
  return blocks.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])).join('\n');
}

/** Any other block becomes readable text for other wires and is stored verbatim for this one. */
function describeBlock(block: JsonObject): InputText {
  const { title, source, content } = block;
  const text =
    block.type === 'search_result' && isObjectList(content)
      ? [title, source, textOfBlocks(content)].filter((line) => typeof line === 'string').join('\n')
      : JSON.stringify(block);
  return { type: 'input_text', text, vendor: { anthropic: { block } } };
}
