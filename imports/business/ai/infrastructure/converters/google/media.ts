/**
 * Converts images and files to `inlineData` and `fileData` parts, and back.
 * https://ai.google.dev/gemini-api/docs/file-input-methods
 */
import { markOf, vendorFields, siblingsOf } from './googleTypes';
import type { GooglePart } from './googleTypes';
import { UnsupportedFeatureError } from '../../../domain/errors/LLMErrors';
import { isObject } from '../../../domain/util/json';
import type { InputFile, InputImage } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../domain/types/VendorTypes';

/** Media types by file extension, as far as Gemini supports them. */
const MIME_OF_EXTENSION: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  htm: 'text/html',
  xml: 'text/xml',
  json: 'application/json',
  rtf: 'text/rtf',
  css: 'text/css',
  js: 'text/javascript',
  py: 'text/x-python',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  heic: 'image/heic',
  heif: 'image/heif',
  gif: 'image/gif',
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  aac: 'audio/aac',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
  aiff: 'audio/aiff',
  mp4: 'video/mp4',
  mpeg: 'video/mpeg',
  mov: 'video/quicktime',
  webm: 'video/webm',
  wmv: 'video/wmv',
  '3gp': 'video/3gpp',
};

const FILES_API = 'https://generativelanguage.googleapis.com/v1beta/';

// ---- to parts

/**
 * @param fetchesUrls whether the vendor fetches URLs itself
 * @throws UnsupportedFeatureError for media that the vendor cannot read; `path` is its JSON path
 */
export function toMediaPart(part: InputImage | InputFile, fetchesUrls: boolean, path: string): GooglePart {
  const mark = markOf(part);
  if (mark.part !== undefined) return mark.part;
  const siblings = siblingsOf(part);
  const data = dataOf(part, path);
  if (data !== undefined)
    return {
      ...siblings,
      inlineData: { mimeType: data.mimeType, data: mark.base64url === true ? toUrlAlphabet(data.base64) : data.base64 },
    };
  const fileUri = uriOf(part, fetchesUrls, path);
  const mimeType = mimeOfName(nameOf(part) ?? fileUri);
  return { ...siblings, fileData: mimeType === undefined ? { fileUri } : { mimeType, fileUri } };
}

function dataOf(part: InputImage | InputFile, path: string): { mimeType: string; base64: string } | undefined {
  const text = part.type === 'input_image' ? part.image_url : part.file_data;
  if (text === undefined) return undefined;
  const uri = /^data:([^;,]*)(?:;[^;,]*)*;base64,/i.exec(text);
  if (uri !== null) {
    const mimeType = uri[1] || mimeOfName(nameOf(part));
    if (mimeType === undefined) throw unsupported(path, 'a data URI requires a media type');
    return { mimeType, base64: text.slice(uri[0].length) };
  }
  if (/^data:/i.test(text)) throw unsupported(path, 'a data URI must be base64');
  if (part.type === 'input_image') return undefined;
  const mimeType = mimeOfName(part.filename);
  if (mimeType === undefined) throw unsupported(path, 'bare base64 requires a filename with a known extension');
  return { mimeType, base64: text };
}

function uriOf(part: InputImage | InputFile, fetchesUrls: boolean, path: string): string {
  const url = part.type === 'input_image' ? part.image_url : part.file_url;
  if (url !== undefined && (fetchesUrls || isGoogleUri(url))) return url;
  if (url !== undefined) throw unsupported(path, 'the vendor does not fetch URLs. Inline the content as a data URI');
  if (part.file_id === undefined) throw unsupported(path, 'it has neither data nor a URL nor a file id');
  if (part.file_id.startsWith('files/')) return `${FILES_API}${part.file_id}`;
  if (isGoogleUri(part.file_id)) return part.file_id;
  throw unsupported(path, `the file id "${part.file_id}" belongs to neither the Files API nor Cloud Storage`);
}

/** Google itself reads from Cloud Storage, the Files API and YouTube (https://ai.google.dev/api/caching#FileData). */
function isGoogleUri(uri: string): boolean {
  return isYouTubeUri(uri) || /^(gs:\/\/|https:\/\/generativelanguage\.googleapis\.com\/)/i.test(uri);
}

export function isYouTubeUri(uri: string): boolean {
  return /^https:\/\/((www\.)?youtube\.com|youtu\.be)\//i.test(uri);
}

/** Whether the part needs no download, because Google reads its URL or sent the part itself. */
export function isFetchedByGoogle(part: InputImage | InputFile): boolean {
  const url = part.type === 'input_image' ? part.image_url : part.file_url;
  return markOf(part).part !== undefined || (url !== undefined && isGoogleUri(url));
}

function unsupported(path: string, reason: string): UnsupportedFeatureError {
  return new UnsupportedFeatureError(`${path} cannot be sent to Gemini: ${reason}.`, { path: path });
}

function nameOf(part: InputImage | InputFile): string | undefined {
  return part.type === 'input_file' ? part.filename : undefined;
}

function mimeOfName(name: string | undefined): string | undefined {
  const extension = /\.([a-z0-9]+)(?:[?#].*)?$/i.exec(name ?? '')?.[1]?.toLowerCase();
  return extension === undefined ? undefined : MIME_OF_EXTENSION[extension];
}

// ---- from parts

/** Returns the part's image or file, or `undefined` if it has none that can be expressed. */
export function fromMediaPart(part: GooglePart): InputImage | InputFile | undefined {
  const { inlineData, fileData, ...siblings } = part;
  if (isObject(inlineData) && fileData === undefined) return fromInlineData(inlineData, part, siblings);
  if (isObject(fileData) && inlineData === undefined) return fromFileData(fileData, part);
  return undefined;
}

function fromInlineData(blob: JsonObject, part: GooglePart, siblings: JsonObject): InputImage | InputFile | undefined {
  const { mimeType, data, ...more } = blob;
  if (typeof mimeType !== 'string' || typeof data !== 'string' || !/^[\w.+-]+\/[\w.+-]+(;[\w.+=-]+)*$/.test(mimeType))
    return undefined;
  const standard = toStandardAlphabet(data);
  if (!isBase64(standard)) return undefined;
  const uri = `data:${mimeType};base64,${standard}`;
  const isExact =
    !mimeType.includes(';') &&
    Object.keys(more).length === 0 &&
    (standard === data || toUrlAlphabet(standard) === data);
  const vendor = isExact
    ? vendorFields(siblings, standard === data ? {} : { base64url: true })
    : vendorFields(siblings, { part });
  return mimeType.startsWith('image/')
    ? { type: 'input_image', image_url: uri, ...vendor }
    : { type: 'input_file', file_data: uri, ...vendor };
}

/** The part is stored verbatim: a URI alone does not reveal its type, and may be of no use to other vendors. */
function fromFileData(file: JsonObject, part: GooglePart): InputImage | InputFile | undefined {
  const { fileUri: uri, mimeType } = file;
  if (typeof uri !== 'string') return undefined;
  const vendor = vendorFields(undefined, { part });
  const isPublic = /^https?:/i.test(uri) && !isGoogleUri(uri);
  if (typeof mimeType === 'string' && mimeType.startsWith('image/')) {
    return isPublic
      ? { type: 'input_image', image_url: uri, ...vendor }
      : { type: 'input_image', file_id: uri, ...vendor };
  }
  return isPublic ? { type: 'input_file', file_url: uri, ...vendor } : { type: 'input_file', file_id: uri, ...vendor };
}

/** Whether other vendors can read it. Invalid data stays an unknown part, which Gemini then rejects itself. */
function isBase64(data: string): boolean {
  const digits = data.endsWith('==') ? data.length - 2 : data.endsWith('=') ? data.length - 1 : data.length;
  return digits > 0 && digits % 4 !== 1 && !/[^A-Za-z0-9+/]/.test(data.slice(0, digits));
}

/**
 * Bytes may use either base64 alphabet, with or without padding (https://protobuf.dev/programming-guides/json/). Data
 * URIs require the standard one.
 */
function toStandardAlphabet(base64: string): string {
  return /[-_]/.test(base64) ? base64.replaceAll('-', '+').replaceAll('_', '/') : base64;
}

function toUrlAlphabet(base64: string): string {
  return base64.replaceAll('+', '-').replaceAll('/', '_');
}
