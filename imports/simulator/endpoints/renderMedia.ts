/**
 * Images, audio and moderations. https://platform.openai.com/docs/api-reference/images,
 * https://platform.openai.com/docs/api-reference/audio
 */
import { createHash } from 'node:crypto';
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';
import { asString, isObject, parseJson } from '../json';
import { renderJson, renderSse } from '../rendering/RenderedResponse';
import { reject } from '../validation/Rejection';
import { parseMultipart } from './parseMultipart';
import type { EndpointRequest, Rendered } from './renderFiles';

export type MediaTask =
  | 'images/generations'
  | 'images/edits'
  | 'images/variations'
  | 'audio/speech'
  | 'audio/transcriptions'
  | 'audio/translations'
  | 'moderations';

export const MEDIA_TASKS: readonly string[] = [
  'images/generations',
  'images/edits',
  'images/variations',
  'audio/speech',
  'audio/transcriptions',
  'audio/translations',
  'moderations',
] satisfies MediaTask[];

const IMAGE_USAGE = {
  input_tokens: 12,
  output_tokens: 100,
  total_tokens: 112,
  input_tokens_details: { text_tokens: 12, image_tokens: 0 },
};
const AUDIO_USAGE = { type: 'tokens', input_tokens: 30, output_tokens: 7, total_tokens: 37 };
/** Bytes of simulated speech. */
const SPEECH_LENGTH = 300_000;

interface Form {
  readonly fields: JsonObject;
  readonly files: Readonly<Record<string, Buffer>>;
}

export function renderMedia(task: MediaTask, model: string | undefined, request: EndpointRequest): Rendered {
  const form = readForm(task, request);
  if (form === undefined) return reject('Could not parse the body of the request.');
  const { fields, files } = form;
  const named = model ?? asString(fields.model);
  if (named === '' && task !== 'images/generations')
    return reject('you must provide a model parameter', { param: 'model' });
  if (named.includes('no-such-model'))
    return reject(`The model '${named}' does not exist`, { status: 404, code: 'model_not_found' });
  if (task === 'moderations') return renderModeration(named, fields);
  const isStream = fields.stream === true || fields.stream === 'true';
  switch (task) {
    case 'images/generations':
    case 'images/edits':
    case 'images/variations': {
      if (task !== 'images/variations' && asString(fields.prompt) === '')
        return reject("Missing required parameter: 'prompt'.", { param: 'prompt' });
      if (task !== 'images/generations' && files.image === undefined && files['image[]'] === undefined)
        return reject("Missing required parameter: 'image'.", { param: 'image' });
      const b64_json = Buffer.from(digestOf(request.bytes)).toString('base64');
      if (!isStream) return renderJson(200, { created: 1, data: [{ b64_json }], model: named, usage: IMAGE_USAGE });
      const type = task === 'images/generations' ? 'image_generation' : 'image_edit';
      return renderSse([
        sse({ type: `${type}.partial_image`, b64_json, partial_image_index: 0 }),
        sse({ type: `${type}.completed`, b64_json, usage: IMAGE_USAGE }),
      ]);
    }
    case 'audio/speech': {
      if (asString(fields.input) === '' || asString(fields.voice) === '')
        return reject("Missing required parameter: 'voice' or 'input'.", { param: 'input' });
      if (fields.stream_format === 'sse')
        return renderSse([
          sse({ type: 'speech.audio.delta', audio: 'AAAA' }),
          sse({ type: 'speech.audio.done', usage: AUDIO_USAGE }),
        ]);
      const bytes = Buffer.alloc(SPEECH_LENGTH, digestOf(request.bytes));
      return {
        status: 200,
        headers: { 'content-type': 'audio/mpeg' },
        frames: [bytes.subarray(0, 1_000), bytes.subarray(1_000)],
      };
    }
    case 'audio/transcriptions':
    case 'audio/translations': {
      const { file } = files;
      if (file === undefined) return reject("Missing required parameter: 'file'.", { param: 'file' });
      const text = `${file.length} bytes, ${digestOf(file).slice(0, 8)}, ${named}`;
      if (fields.response_format === 'text')
        return {
          status: 200,
          headers: { 'content-type': 'text/plain; charset=utf-8' },
          frames: [Buffer.from(`${text}\n`)],
        };
      if (!isStream) return renderJson(200, { text, usage: AUDIO_USAGE });
      return renderSse([
        sse({ type: 'transcript.text.delta', delta: text }),
        sse({ type: 'transcript.text.done', text, usage: AUDIO_USAGE }),
      ]);
    }
  }
}

/** https://platform.openai.com/docs/api-reference/moderations/object */
function renderModeration(model: string, { input }: JsonObject): Rendered {
  if (input === undefined) return reject("Missing required parameter: 'input'.", { param: 'input' });
  const flagged = JSON.stringify(input).includes('kill');
  const result = { flagged, categories: { violence: flagged }, category_scores: { violence: flagged ? 0.9 : 0.01 } };
  return renderJson(200, { id: 'modr-simulated', model, results: [result] });
}

function readForm(task: MediaTask, { contentType, bytes }: EndpointRequest): Form | undefined {
  if (task === 'images/generations' || task === 'audio/speech' || task === 'moderations') {
    try {
      const fields = parseJson(bytes.toString());
      return isObject(fields) ? { fields, files: {} } : undefined;
    } catch {
      return undefined;
    }
  }
  const parts = parseMultipart(contentType, bytes);
  if (parts === undefined) return undefined;
  const isFile = ({ filename }: { readonly filename?: string }): boolean => filename !== undefined;
  return {
    fields: Object.fromEntries(
      parts.filter((part) => !isFile(part)).map(({ name, bytes: value }) => [name, value.toString()]),
    ),
    files: Object.fromEntries(parts.filter(isFile).map(({ name, bytes: value }) => [name, value])),
  };
}

function digestOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function sse(data: JsonObject): { readonly data: string } {
  return { data: JSON.stringify(data) };
}
