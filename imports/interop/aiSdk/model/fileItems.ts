/**
 * Files that models generate: items whose base64 data becomes a file part of the AI SDK. The data is taken out of the
 * carried item, so that it exists once.
 */
import type { LanguageModelV4File, LanguageModelV4ReasoningFile } from '@ai-sdk/provider';
import { fieldsOf, isObject } from '../../../business/ai/domain/util/json';
import type { OutputItem } from '../../../business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { omit, toMetadata } from './carriedItem';
import { toBase64 } from './readFile';

/** The file part of an item; `undefined` for an item that is no file. */
export function toFilePart(item: OutputItem): LanguageModelV4File | LanguageModelV4ReasoningFile | undefined {
  if (item.type === 'image_generation_call' && typeof item.result === 'string') {
    const mediaType = `image/${typeof item.output_format === 'string' ? item.output_format : 'png'}`;
    return {
      type: 'file',
      mediaType,
      data: { type: 'data', data: item.result },
      providerMetadata: toMetadata({ item: omit(item, ['result']) }),
    };
  }
  // https://ai.google.dev/api/caching#Blob
  if (item.type !== 'vendor_item' || item.origin.wire !== 'gemini' || !isObject(item.item.inlineData)) return undefined;
  const { data, ...blob } = item.item.inlineData;
  if (typeof data !== 'string') return undefined;
  return {
    type: item.item.thought === true ? 'reasoning-file' : 'file',
    mediaType: typeof blob.mimeType === 'string' ? blob.mimeType : 'application/octet-stream',
    data: { type: 'data', data },
    providerMetadata: toMetadata({ item: { ...omit(item, []), item: { ...item.item, inlineData: blob } } }),
  };
}

/** The item with its data. */
export function restoreFile(item: JsonObject, data: Uint8Array | string): JsonObject {
  const base64 = typeof data === 'string' ? data : toBase64(data);
  if (item.type !== 'vendor_item') return { ...item, result: base64 };
  const part = fieldsOf(item.item);
  return { ...item, item: { ...part, inlineData: { ...fieldsOf(part.inlineData), data: base64 } } };
}
