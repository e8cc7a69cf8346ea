/**
 * Converts images and files to `image` and `document` blocks.
 * https://platform.claude.com/docs/en/build-with-claude/files#file-types-and-content-blocks
 */
import { LLMInvalidRequestError, UnsupportedFeatureError } from '../../../../domain/errors/LLMErrors';
import type { InputFile, InputImage } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp']);

/** Media types of bare base64, by file extension. */
const TYPE_OF_EXTENSION: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  txt: 'text/plain',
  text: 'text/plain',
  log: 'text/plain',
  md: 'text/markdown',
  markdown: 'text/markdown',
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  html: 'text/html',
  htm: 'text/html',
  xml: 'application/xml',
  json: 'application/json',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  gif: 'image/gif',
  webp: 'image/webp',
};

/** Text formats whose media type does not start with `text/`. */
const TEXT_TYPES: ReadonlySet<string> = new Set([
  'application/json',
  'application/xml',
  'application/yaml',
  'application/x-yaml',
  'application/javascript',
  'application/typescript',
  'application/toml',
  'application/sql',
]);

/** @throws UnsupportedFeatureError for an image format that Claude does not support */
export function toImageBlock(part: InputImage): JsonObject {
  // An image that came over this wire has its source in the vendor fields.
  if (part.vendor?.anthropic?.source !== undefined) return { type: 'image' };
  return { type: 'image', source: imageSource(part) };
}

function imageSource({ image_url, file_id }: InputImage): JsonObject {
  if (file_id !== undefined) return { type: 'file', file_id };
  if (image_url === undefined) throw new LLMInvalidRequestError('An image requires "image_url" or "file_id".');
  if (/^https?:/i.test(image_url)) return { type: 'url', url: image_url };
  const { type, base64 } = parseDataUri(image_url);
  return base64Image(type, base64);
}

function base64Image(type: string, data: string | undefined): JsonObject {
  const media_type = type === 'image/jpg' ? 'image/jpeg' : type;
  if (data === undefined || !IMAGE_TYPES.has(media_type))
    throw new UnsupportedFeatureError(
      `Claude does not support images of type "${type || 'unknown'}". Use JPEG, PNG, GIF or WebP.`,
    );
  return { type: 'base64', media_type, data };
}

/** @throws UnsupportedFeatureError for a file format that Claude does not support */
export function toFileBlock(part: InputFile): JsonObject {
  const title = part.filename === undefined ? {} : { title: part.filename };
  if (part.vendor?.anthropic?.source !== undefined) return { type: 'document', ...title };
  if (part.file_id !== undefined)
    return { type: 'document', source: { type: 'file', file_id: part.file_id }, ...title };
  if (part.file_url !== undefined) return { type: 'document', source: { type: 'url', url: part.file_url }, ...title };
  if (part.file_data === undefined)
    throw new LLMInvalidRequestError('A file requires "file_data", "file_url" or "file_id".');
  const { type, base64, text } = parseFileData(part.file_data, part.filename);
  if (type.startsWith('image/')) return { type: 'image', source: base64Image(type, base64) };
  return { type: 'document', source: documentSource(type, base64, text), ...title };
}

function documentSource(type: string, base64: string | undefined, text: string | undefined): JsonObject {
  if (type === 'application/pdf' && base64 !== undefined) return { type: 'base64', media_type: type, data: base64 };
  if (type.startsWith('text/') || TEXT_TYPES.has(type)) {
    return {
      type: 'text',
      media_type: 'text/plain',
      data: text ?? Buffer.from(base64 ?? '', 'base64').toString('utf8'),
    };
  }
  throw new UnsupportedFeatureError(
    `Claude does not support files of type "${type || 'unknown'}". Use PDF, text or images.`,
  );
}

interface MediaData {
  /** Media type in lower case; empty if unknown. */
  readonly type: string;
  readonly base64?: string;
  /** The content itself, if it was not base64. */
  readonly text?: string;
}

function parseFileData(data: string, filename: string | undefined): MediaData {
  if (/^data:/i.test(data)) return parseDataUri(data);
  const extension = filename?.toLowerCase().split('.').at(-1) ?? '';
  return { type: TYPE_OF_EXTENSION[extension] ?? '', base64: data };
}

/** RFC 2397. The data may have megabytes, so only the header is split. */
function parseDataUri(uri: string): MediaData {
  const comma = uri.indexOf(',');
  if (!/^data:/i.test(uri) || comma < 0)
    throw new LLMInvalidRequestError('An image must be an http(s) URL or a data URI.');
  const [type = '', ...parameters] = uri.slice('data:'.length, comma).toLowerCase().split(';');
  const data = uri.slice(comma + 1);
  return parameters.includes('base64')
    ? { type, base64: data }
    : { type: type === '' ? 'text/plain' : type, text: percentDecode(data) };
}

function percentDecode(data: string): string {
  try {
    return decodeURIComponent(data);
  } catch (cause) {
    throw new LLMInvalidRequestError('A data URI contains an invalid percent-encoding.', { cause });
  }
}
