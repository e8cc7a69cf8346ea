/** Converts a part of a message or of a tool's output from any accepted form to a `Content` part. */
import { inputText, outputText } from '../../../domain/entities/Content';
import { field, freeze, optionalText, otherFields, record, requiredName, requiredText } from './fields';
import { describe, isList, isRecord, invalid } from './PlainReader';
import type { Plain, PlainRecord } from './PlainReader';
import type { Content, InputContent, InputFile, InputImage } from '../../../domain/types/ResponsesAPITypes';
import { parseUrl } from '../../../domain/util/parseUrl';

/** Determines whether text becomes `output_text` (assistant) or `input_text`. */
export type Speaker = 'assistant' | 'other';

/** Text, images and files. A part of an unknown type is passed through unchanged. */
export function normalizePart(part: Plain, speaker: Speaker, path: string): Content {
  if (typeof part === 'string') return freeze(speaker === 'assistant' ? outputText(part, freeze([])) : inputText(part));
  if (!isRecord(part))
    throw invalid(path, `must be a content part (an object with a type) or a string, not ${describe(part)}`);
  switch (requiredName(part, 'type', path)) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return textPart(part, speaker, path);
    case 'refusal':
      if (speaker !== 'assistant') throw invalid(path, 'is a refusal, which only an assistant message can hold');
      return freeze({
        ...otherFields(part, ['type', 'refusal'], path),
        type: 'refusal',
        refusal: requiredText(part, 'refusal', path),
      });
    case 'input_image':
    case 'input_image_url':
    case 'image_url':
      return imagePart(part, path);
    case 'image':
      return part.source === undefined ? unknownPart(part, path) : sourcedImagePart(part, path);
    case 'input_file':
      return filePart(part, part, path);
    case 'file':
      return part.file === undefined
        ? unknownPart(part, path)
        : filePart(part, record(part.file, `${path}.file`), path);
    default:
      return unknownPart(part, path);
  }
}

/** The output of a tool: a string, or parts. */
export function normalizeOutput(output: Plain | undefined, path: string): string | readonly InputContent[] {
  if (typeof output === 'string') return output;
  if (!isList(output))
    throw invalid(
      path,
      `must be a string or an array of content parts, not ${describe(output)}. Write other values as JSON text`,
    );
  return freeze(output.map((part, index) => inputPart(part, `${path}[${index}]`)));
}

function inputPart(part: Plain, path: string): InputContent {
  // For a speaker other than the assistant, text is input_text and refusals are rejected. Unknown parts are typed as
  // unknownPart describes.
  return normalizePart(part, 'other', path) as InputContent;
}

function textPart(part: PlainRecord, speaker: Speaker, path: string): Content {
  const text = requiredText(part, 'text', path);
  const others = otherFields(part, ['type', 'text', 'annotations', 'logprobs'], path);
  if (speaker !== 'assistant') return freeze({ type: 'input_text', text, ...others });
  return freeze({
    type: 'output_text',
    text,
    annotations: annotationsOf(part, path),
    ...others,
    ...field('logprobs', logprobsOf(part, path)),
  });
}

function annotationsOf(part: PlainRecord, path: string): readonly PlainRecord[] {
  const { annotations } = part;
  if (annotations === undefined || annotations === null) return freeze([]);
  if (!isList(annotations))
    throw invalid(`${path}.annotations`, `must be an array of objects, not ${describe(annotations)}`);
  return freeze(annotations.map((annotation, index) => record(annotation, `${path}.annotations[${index}]`)));
}

function logprobsOf(part: PlainRecord, path: string): readonly Plain[] | undefined {
  const { logprobs } = part;
  if (logprobs === undefined || logprobs === null) return undefined;
  if (!isList(logprobs)) throw invalid(`${path}.logprobs`, `must be an array if present, not ${describe(logprobs)}`);
  return logprobs;
}

/** `image_url` is a string in the Responses API, and `{ url, detail }` in Chat Completions. */
function imagePart(part: PlainRecord, path: string): InputImage {
  const nested = isRecord(part.image_url) ? part.image_url : undefined;
  const url = nested === undefined ? part.image_url : nested.url;
  const at = nested === undefined ? `${path}.image_url` : `${path}.image_url.url`;
  const image_url = url === undefined || url === null ? undefined : imageUrl(url, at);
  const file_id = optionalText(part, 'file_id', path);
  if (image_url === undefined && file_id === undefined) throw invalid(path, 'must have "image_url" or "file_id"');
  const detail =
    optionalText(part, 'detail', path) ??
    (nested === undefined ? undefined : optionalText(nested, 'detail', `${path}.image_url`));
  return image(
    part,
    { ...field('image_url', image_url), ...field('file_id', file_id), ...field('detail', detail) },
    path,
  );
}

function image(part: PlainRecord, fields: Omit<InputImage, 'type'>, path: string): InputImage {
  return freeze({
    ...otherFields(part, ['type', 'source', 'image_url', 'file_id', 'detail'], path),
    type: 'input_image',
    ...fields,
  });
}

/** An image in a tool result in Anthropic's Messages format (https://docs.anthropic.com/en/api/messages). */
function sourcedImagePart(part: PlainRecord, path: string): InputImage {
  const at = `${path}.source`;
  const source = record(part.source, at);
  switch (source.type) {
    case 'base64': {
      const url = `data:${requiredName(source, 'media_type', at)};base64,${requiredText(source, 'data', at)}`;
      return image(part, { image_url: imageUrl(url, at) }, path);
    }
    case 'url':
      return image(part, { image_url: imageUrl(source.url, `${at}.url`) }, path);
    case 'file':
      return image(part, { file_id: requiredName(source, 'file_id', at) }, path);
    default:
      throw invalid(`${at}.type`, 'must be one of: base64, url, file');
  }
}

/** `fields` is the part itself in the Responses API, and its `file` in Chat Completions. */
function filePart(part: PlainRecord, fields: PlainRecord, path: string): InputFile {
  const at = fields === part ? path : `${path}.file`;
  const file_id = optionalText(fields, 'file_id', at);
  const file_url = optionalText(fields, 'file_url', at);
  const file_data = optionalText(fields, 'file_data', at);
  if (file_id === undefined && file_url === undefined && file_data === undefined)
    throw invalid(at, 'must have "file_id", "file_url" or "file_data"');
  return freeze({
    ...otherFields(part, ['type', 'file', 'file_id', 'file_url', 'file_data', 'filename'], path),
    type: 'input_file',
    ...field('file_id', file_id),
    ...field('file_url', file_url === undefined ? undefined : httpUrl(file_url, `${at}.file_url`)),
    ...field('file_data', file_data === undefined ? undefined : fileData(file_data, `${at}.file_data`)),
    ...field('filename', optionalText(fields, 'filename', at)),
  });
}

/**
 * A part that is newer than this code, or specific to one wire. `Content` has no member for it: converters meet it in
 * their `default` branch, pass it through if it belongs to their wire, and reject it otherwise.
 */
function unknownPart(part: PlainRecord, path: string): Content {
  return freeze({ ...part, ...otherFields(part, [], path) }) as unknown as Content;
}

/** Accepts an http(s) URL, or a data URI with a base64 image. */
function imageUrl(value: Plain | undefined, path: string): string {
  if (typeof value !== 'string')
    throw invalid(path, `must be a string with an http(s) URL or a data URI, not ${describe(value)}`);
  if (!isDataUri(value)) return httpUrl(value, path);
  if (!/^data:image\/[\w.+-]+(;[\w.+=-]+)*;base64,/i.test(value.slice(0, 200))) {
    throw invalid(path, 'must be a data URI of the form data:image/<kind>;base64,<data>');
  }
  checkBase64(value.slice(value.indexOf(',') + 1), path);
  return value;
}

function httpUrl(value: string, path: string): string {
  if (!/^https?:\/\//i.test(value) || parseUrl(value) === undefined)
    throw invalid(path, 'must be an http or https URL, or a data URI with base64');
  return value;
}

/** Accepts a data URI of any type, or plain base64. */
function fileData(value: string, path: string): string {
  if (!isDataUri(value)) {
    checkBase64(value, path);
    return value;
  }
  if (!/^data:[\w.+-]+\/[\w.+-]+(;[^,;]+)*;base64,/i.test(value.slice(0, 500))) {
    throw invalid(path, 'must be a data URI of the form data:<type>/<kind>;base64,<data>, or base64 alone');
  }
  checkBase64(value.slice(value.indexOf(',') + 1), path);
  return value;
}

function isDataUri(value: string): boolean {
  return /^data:/i.test(value);
}

function checkBase64(data: string, path: string): void {
  const digits = data.endsWith('==') ? data.length - 2 : data.endsWith('=') ? data.length - 1 : data.length;
  // Searching for one invalid character needs no backtracking, however long the data is.
  if (digits === 0 || digits % 4 === 1 || /[^A-Za-z0-9+/]/.test(data.slice(0, digits))) {
    throw invalid(path, 'must be base64 in the standard alphabet (A-Z a-z 0-9 + /), without line breaks');
  }
}
