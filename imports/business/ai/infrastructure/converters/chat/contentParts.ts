/**
 * Converts content parts between the domain model and the chat wire.
 * https://platform.openai.com/docs/api-reference/chat/create#chat-create-messages
 */
import { isText, ownFieldsOf, vendorFieldsOf, without, withVendorFields } from './vendorFields';
import { UnsupportedFeatureError } from '../../../domain/errors/LLMErrors';
import type { Content, InputContent, InputFile, InputImage } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject, VendorQuirks } from '../../../domain/types/VendorTypes';
import { fieldsOf, isObject } from '../../../domain/util/json';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { WireContext } from '../Wire';

// To the wire

/** @throws UnsupportedFeatureError for content that the vendor cannot read; `path` is the part's JSON path */
export function toChatPart(part: Content, context: WireContext, path: string): JsonObject {
  const own = ownFieldsOf(vendorFieldsOf(part));
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      return { ...own, type: 'text', text: part.text };
    case 'refusal':
      return { type: 'text', text: part.refusal };
    case 'input_image':
      return { ...own, type: 'image_url', image_url: { ...fieldsOf(own.image_url), ...imageUrl(part, context, path) } };
    case 'input_file':
      return toFilePart(part, own, context, path);
    default:
      throw unsupported(path, `${context.vendor} has no content of type "${typeOfPart(part)}"`);
  }
}

/** Parts of unknown types reach converters unchanged, although `Content` has no member for them. */
export function typeOfPart(part: never): string {
  return String(fieldsOf(part).type);
}

/** Writes a single plain text as a string, which every vendor accepts. @param path the JSON path of the list */
export function toChatContent(
  content: readonly Content[],
  context: WireContext,
  path: () => string,
): string | JsonObject[] {
  const [first] = content;
  if (content.length === 0) return '';
  if (content.length === 1 && first?.type === 'input_text' && first.vendor?.openai === undefined) return first.text;
  const at = path();
  return content.map((part, index) => toChatPart(part, context, `${at}[${index}]`));
}

function imageUrl(part: InputImage, { quirks, vendor }: WireContext, path: string): JsonObject {
  if (part.image_url === undefined)
    throw unsupported(path, 'chat completions accept images by URL or data URI, not by file id');
  if (!quirks.fetchesImageUrls && !/^data:/i.test(part.image_url))
    throw unsupported(path, `${vendor} does not fetch images; inline this one as a data URI`);
  return omitUndefined({ url: part.image_url, detail: part.detail });
}

function toFilePart(part: InputFile, fields: JsonObject, { quirks, vendor }: WireContext, path: string): JsonObject {
  // A part of a type that the domain model lacks was stored in full among the vendor's fields.
  if (isSentAsItCame(fields, quirks)) return fields;
  const own = without(fields, DOCUMENT_FIELDS);
  const audio = toAudio(part);
  if (audio !== undefined) return { ...own, type: 'input_audio', input_audio: audio };
  if (quirks.acceptsFiles === false) throw unsupported(path, `${vendor} does not accept files in chat completions`);
  if (part.file_id !== undefined)
    return { ...own, type: 'file', file: { file_id: part.file_id, ...filenameField(part) } };
  if (part.file_data !== undefined)
    return {
      ...own,
      type: 'file',
      file: { ...filenameField(part), file_data: dataUri(part.file_data, part.filename, path) },
    };
  if (part.file_url !== undefined && quirks.fetchesFileUrls === true)
    return { ...own, type: 'file', file: { ...filenameField(part), file_data: part.file_url } };
  if (part.file_url !== undefined) throw unsupported(path, 'chat completions do not accept file URLs; inline the file');
  throw unsupported(path, 'the file has neither data nor an id');
}

/** Whether the part of a client is sent without changes. A vendor without Mistral's documents gets them as files. */
export function isSentAsItCame({ type }: JsonObject, { acceptsDocumentUrls = false }: VendorQuirks): boolean {
  return isText(type) && (type !== 'document_url' || acceptsDocumentUrls);
}

const DOCUMENT_FIELDS = ['type', 'document_url', 'document_name'];

function filenameField(part: InputFile): JsonObject {
  return part.filename === undefined ? {} : { filename: part.filename };
}

const AUDIO_FORMATS: Readonly<Record<string, string>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
};

/** This wire has a separate part type for audio. */
function toAudio(part: InputFile): JsonObject | undefined {
  const data = part.file_data;
  if (data?.startsWith('data:audio/') !== true) return undefined;
  const separator = data.indexOf(';base64,');
  const format = AUDIO_FORMATS[data.slice('data:'.length, separator)];
  return separator < 0 || format === undefined
    ? undefined
    : { data: data.slice(separator + ';base64,'.length), format };
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  json: 'application/json',
  xml: 'text/xml',
};

function dataUri(data: string, filename: string | undefined, path: string): string {
  if (data.startsWith('data:')) return data;
  const mediaType = MEDIA_TYPES[/\.([a-z0-9]+)$/i.exec(filename ?? '')?.[1]?.toLowerCase() ?? ''];
  if (mediaType === undefined)
    throw unsupported(path, 'base64 data needs a data URI prefix or a filename with a known extension');
  return `data:${mediaType};base64,${data}`;
}

function unsupported(path: string, reason: string): UnsupportedFeatureError {
  return new UnsupportedFeatureError(`Cannot send "${path}": ${reason}.`, { path });
}

// From the wire

/**
 * Reads a part of a client's request. Fields without a domain equivalent are preserved verbatim under
 * `vendor.openai`.
 */
export function fromChatPart(raw: JsonObject): InputContent {
  const { type, text, image_url, file, input_audio } = raw;
  if (type === 'text' && typeof text === 'string')
    return { type: 'input_text', text, ...siblingFields(raw, ['type', 'text']) };
  if (type === 'image_url' && isObject(image_url) && typeof image_url.url === 'string')
    return fromImagePart(raw, image_url, image_url.url);
  // https://docs.mistral.ai/capabilities/vision, which takes the form of OpenAI, too
  if (type === 'image_url' && isText(image_url))
    return { type: 'input_image', image_url, ...siblingFields(raw, ['type', 'image_url']) };
  if (type === 'document_url' && isText(raw.document_url)) return fromDocument(raw, raw.document_url);
  if (type === 'file' && isObject(file)) {
    const { file_id, file_data, filename } = file;
    const fields = {
      ...stringField('file_id', file_id),
      // OpenRouter takes a URL in place of the data.
      ...stringField(/^https?:/i.test(String(file_data)) ? 'file_url' : 'file_data', file_data),
      ...stringField('filename', filename),
    };
    const isComplete =
      (file_id !== undefined || file_data !== undefined) && Object.keys(fields).length === Object.keys(file).length;
    if (isComplete) return { type: 'input_file', ...fields, ...siblingFields(raw, ['type', 'file']) };
  }
  if (type === 'input_audio' && isObject(input_audio)) {
    const { data, format } = input_audio;
    const mediaType = format === 'wav' ? 'audio/wav' : format === 'mp3' ? 'audio/mpeg' : undefined;
    if (typeof data === 'string' && mediaType !== undefined && Object.keys(input_audio).length === 2) {
      return {
        type: 'input_file',
        filename: `audio.${String(format)}`,
        file_data: `data:${mediaType};base64,${data}`,
        ...siblingFields(raw, ['type', 'input_audio']),
      };
    }
  }
  const url = mediaUrl(raw);
  return url === undefined ? unknownPart(raw) : fromDocument(raw, url);
}

/**
 * The URL of a video or of audio: https://openrouter.ai/docs/features/multimodal/videos,
 * https://docs.vllm.ai/en/latest/features/multimodal_inputs.html
 */
function mediaUrl(raw: JsonObject): string | undefined {
  const { data, format } = fieldsOf(raw.input_audio);
  if (raw.type === 'input_audio' && isText(data) && isText(format)) return `data:audio/${format};base64,${data}`;
  const { url } = fieldsOf(raw.type === 'video_url' ? raw.video_url : raw.type === 'audio_url' && raw.audio_url);
  return isText(url) && /^(?:data|https?):/i.test(url) ? url : undefined;
}

/** Vendors have their own part types. For other wires, a part of an unknown one is a file that holds its JSON. */
function unknownPart(raw: JsonObject): InputFile {
  const json = Buffer.from(JSON.stringify(raw)).toString('base64');
  return {
    type: 'input_file',
    filename: `${String(raw.type)}.json`,
    file_data: `data:application/json;base64,${json}`,
    ...withVendorFields(raw, undefined),
  };
}

/** Reads a part of one vendor's own, such as Mistral's for documents, which other vendors have as files. */
function fromDocument(raw: JsonObject, url: string): InputFile {
  return {
    type: 'input_file',
    ...stringField(/^data:/i.test(url) ? 'file_data' : 'file_url', url),
    ...stringField('filename', raw.document_name),
    ...withVendorFields(raw, undefined),
  };
}

function fromImagePart(raw: JsonObject, image: JsonObject, url: string): InputImage {
  const { detail } = image;
  const others = without(image, typeof detail === 'string' ? ['url', 'detail'] : ['url']);
  const siblings = without(raw, ['type', 'image_url']);
  return {
    type: 'input_image',
    image_url: url,
    ...(typeof detail === 'string' ? { detail } : {}),
    ...withVendorFields(Object.keys(others).length === 0 ? siblings : { ...siblings, image_url: others }, undefined),
  };
}

function siblingFields(raw: JsonObject, keys: readonly string[]): ReturnType<typeof withVendorFields> {
  return withVendorFields(without(raw, keys), undefined);
}

function stringField<K extends string>(key: K, value: unknown): { [P in K]?: string } {
  return (typeof value === 'string' ? { [key]: value } : {}) as { [P in K]?: string };
}
