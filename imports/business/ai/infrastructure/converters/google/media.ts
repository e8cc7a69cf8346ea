/** Images and files: our parts as the wire's `inlineData` and `fileData`, and back. */
import { markOf, vendorFields, siblingsOf } from './googleTypes';
import type { GooglePart } from './googleTypes';
import { UnsupportedFeatureError } from '../../../domain/errors/LLMErrors';
import { isObject } from '../../../domain/json';
import type { InputFile, InputImage } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../domain/types/VendorTypes';

/**
 * Kinds that a file's name tells, as far as Gemini reads them
 * (https://ai.google.dev/gemini-api/docs/file-input-methods).
 */
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

// ---- out

/**
 * @param fetchesUrls whether the host fetches URLs itself
 * @throws UnsupportedFeatureError for what the host could not read; `where` is its JSON path
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
    if (mimeType === undefined) throw unsupported(path, 'a data URI needs its media type');
    return { mimeType, base64: text.slice(uri[0].length) };
  }
  if (/^data:/i.test(text)) throw unsupported(path, 'a data URI must be base64');
  if (part.type === 'input_image') return undefined;
  const mimeType = mimeOfName(part.filename);
  if (mimeType === undefined) throw unsupported(path, 'bare base64 needs a filename that tells its kind');
  return { mimeType, base64: text };
}

function uriOf(part: InputImage | InputFile, fetchesUrls: boolean, path: string): string {
  const url = part.type === 'input_image' ? part.image_url : part.file_url;
  if (url !== undefined && (fetchesUrls || isGoogleUri(url))) return url;
  if (url !== undefined)
    throw unsupported(path, 'this host does not fetch URLs; the content has to be inlined as a data URI');
  if (part.file_id === undefined) throw unsupported(path, 'it has neither data, URL nor file id');
  if (part.file_id.startsWith('files/')) return `${FILES_API}${part.file_id}`;
  if (isGoogleUri(part.file_id)) return part.file_id;
  throw unsupported(path, `the file id ${part.file_id} is not one of the Files API or of Cloud Storage`);
}

/** Cloud Storage, the Files API and YouTube are read by Google itself (https://ai.google.dev/api/caching#FileData). */
function isGoogleUri(uri: string): boolean {
  return /^(gs:\/\/|https:\/\/generativelanguage\.googleapis\.com\/|https:\/\/(www\.)?youtube\.com\/|https:\/\/youtu\.be\/)/i.test(
    uri,
  );
}

/** Whether the part needs no download: Google reads its URL, or sent it. */
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

// ---- back

/** The image or file of a part, or `undefined` where it has none that our words can say. */
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

/** Kept whole: a URI alone does not tell the kind, and other hosts may have no use for it at all. */
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

/** Something that other hosts can read; what is not stays an unknown part, and Gemini says what it thinks of it. */
function isBase64(data: string): boolean {
  const digits = data.endsWith('==') ? data.length - 2 : data.endsWith('=') ? data.length - 1 : data.length;
  return digits > 0 && digits % 4 !== 1 && !/[^A-Za-z0-9+/]/.test(data.slice(0, digits));
}

/**
 * Bytes may be written in either alphabet, with or without padding (https://protobuf.dev/programming-guides/json/);
 * data URIs want the standard one.
 */
function toStandardAlphabet(base64: string): string {
  return /[-_]/.test(base64) ? base64.replaceAll('-', '+').replaceAll('_', '/') : base64;
}

function toUrlAlphabet(base64: string): string {
  return base64.replaceAll('+', '-').replaceAll('/', '_');
}
