/** Converts parts of messages and results to contents. https://ai.google.dev/api/interactions-api#Resource:Content */
import { UnsupportedFeatureError } from '../../../../domain/errors/LLMErrors';
import { fieldsOf, isObject } from '../../../../domain/util/json';
import type { Content, InputFile, InputImage, OutputText } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import { isYouTubeUri, toMediaPart } from '../../google/media';
import { ownFields } from '../interactionsTypes';

export interface StepLoss {
  /** Path within the item: '' or `.content[2]`. */
  readonly at: string;
  readonly what: string;
  readonly reason: string;
}

/**
 * @param at the part's path within its item
 * @param path returns the item's JSON path, for errors
 * @throws UnsupportedFeatureError for content that the wire cannot express
 */
export function toContent(
  part: Content,
  fetchesUrls: boolean,
  at: string,
  path: () => string,
  losses: StepLoss[],
): JsonObject {
  switch (part.type) {
    case 'input_text':
      return { type: 'text', text: part.text, ...ownFields(part) };
    case 'output_text':
      return toText(part, at, losses);
    case 'refusal':
      return { type: 'text', text: part.refusal };
    case 'input_image':
      return { ...toMedia(part, fetchesUrls, `${path()}${at}`), ...resolutionOf(part), ...ownFields(part) };
    case 'input_file':
      if (part.filename !== undefined)
        losses.push({ at, what: 'filename', reason: 'The Interactions API has no field for it.' });
      return { ...toMedia(part, fetchesUrls, `${path()}${at}`), ...ownFields(part) };
    default:
      throw unknownPart(part, `${path()}${at}`);
  }
}

/** Annotations of the API itself are sent back as they came. */
function toText(part: OutputText, at: string, losses: StepLoss[]): JsonObject {
  const own = ownFields(part);
  if (part.annotations.length > 0 && own?.annotations === undefined)
    losses.push({
      at,
      what: `${part.annotations.length} annotations`,
      reason: 'The Interactions API takes only its own.',
    });
  return { type: 'text', text: part.text, ...own };
}

/** The two APIs differ in the form of media, not in the media that they take. */
function toMedia(part: InputImage | InputFile, fetchesUrls: boolean, path: string): JsonObject {
  const { inlineData, fileData } = toMediaPart(part, fetchesUrls, path);
  const { mimeType, data } = fieldsOf(inlineData);
  const { mimeType: typeOfFile, fileUri } = fieldsOf(fileData);
  const type = mimeType ?? typeOfFile;
  const kind = part.type === 'input_image' ? 'image' : kindOf(type, fileUri);
  const mime = type === undefined ? {} : { mime_type: type };
  return isObject(inlineData) ? { type: kind, data, ...mime } : { type: kind, uri: fileUri, ...mime };
}

/** URLs of YouTube have no extension: https://ai.google.dev/gemini-api/docs/interactions/video-understanding */
function kindOf(mimeType: unknown, uri: unknown): 'image' | 'audio' | 'video' | 'document' {
  if (typeof uri === 'string' && isYouTubeUri(uri)) return 'video';
  const [family] = String(mimeType).split('/');
  return family === 'image' || family === 'audio' || family === 'video' ? family : 'document';
}

function resolutionOf({ detail }: InputImage): JsonObject {
  return detail === undefined || detail === 'auto' ? {} : { resolution: detail };
}

/** Parts of unknown types reach converters unchanged, although `Content` has no member for them. */
function unknownPart(part: never, path: string): UnsupportedFeatureError {
  return new UnsupportedFeatureError(
    `The Interactions API has no content of type "${String(fieldsOf(part).type)}" (${path}).`,
    { path },
  );
}
