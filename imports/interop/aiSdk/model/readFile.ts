/** Converts files of the AI SDK's prompts and tool results to images and files. */
import type { LanguageModelV4FilePart, SharedV4FileDataReference } from '@ai-sdk/provider';
import type { InputContent } from '../../../business/ai/domain/types/ResponsesAPITypes';
import { BOLIDE } from './carriedItem';
import { AISDKCompatibleError, unsupportedFunctionality } from './aiSdkErrors';

type FileLike = Pick<LanguageModelV4FilePart, 'data' | 'mediaType' | 'filename'>;

/**
 * An image for `image/*`, a file for everything else. Files of a vendor's store are referred to by the provider's id or
 * by `bolide`, as in `{ anthropic: 'file_…' }`.
 * @throws UnsupportedFunctionalityError for data without a complete media type, NoSuchProviderReferenceError
 */
export function readFile({ data, mediaType, filename }: FileLike, providerId: string): InputContent {
  const isImage = mediaType === 'image' || mediaType.startsWith('image/');
  const name = filename === undefined ? {} : { filename };
  switch (data.type) {
    case 'url': {
      const url = data.originalUrl ?? data.url.toString();
      return isImage ? { type: 'input_image', image_url: url } : { type: 'input_file', file_url: url, ...name };
    }
    case 'reference': {
      const file_id = idIn(data.reference, providerId);
      return isImage ? { type: 'input_image', file_id } : { type: 'input_file', file_id, ...name };
    }
    case 'text': {
      const type = isComplete(mediaType) ? mediaType : 'text/plain';
      return { type: 'input_file', file_data: dataUri(type, new TextEncoder().encode(data.text)), ...name };
    }
    case 'data': {
      const type = isComplete(mediaType) ? mediaType : detectImage(data.data);
      if (type === undefined)
        throw unsupportedFunctionality(
          `file part with the media type "${mediaType}"`,
          `The media type "${mediaType}" of a file is incomplete. Write type and subtype, as in "application/pdf".`,
        );
      const uri = dataUri(type, data.data);
      return isImage ? { type: 'input_image', image_url: uri } : { type: 'input_file', file_data: uri, ...name };
    }
  }
}

export function dataUri(mediaType: string, data: Uint8Array | string): string {
  return `data:${mediaType};base64,${toBase64(data)}`;
}

export function toBase64(data: Uint8Array | string): string {
  if (typeof data === 'string') return data.replaceAll('-', '+').replaceAll('_', '/');
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString('base64');
}

function isComplete(mediaType: string): boolean {
  return /^[^/]+\/[^/*]+$/.test(mediaType);
}

/** The first bytes of the image formats that vendors accept, as base64 without the last, incomplete digit. */
const IMAGE_SIGNATURES = [
  ['iVBORw0KGg', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
] as const;

function detectImage(data: Uint8Array | string): string | undefined {
  const head = toBase64(data.slice(0, 16));
  return IMAGE_SIGNATURES.find(([signature]) => head.startsWith(signature))?.[1];
}

function idIn(reference: SharedV4FileDataReference['reference'], providerId: string): string {
  for (const name of [providerId, BOLIDE]) {
    const id = Object.hasOwn(reference, name) ? reference[name] : undefined;
    if (id !== undefined) return id;
  }
  throw new AISDKCompatibleError(
    'AI_NoSuchProviderReferenceError',
    `The file is not stored at "${providerId}". It is stored at: ${Object.keys(reference).join(', ')}.`,
    { provider: providerId, reference },
  );
}
