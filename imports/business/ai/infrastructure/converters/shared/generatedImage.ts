/**
 * Shows clients of other wires the images that Gemini's models generate, which are parts of their answers.
 * https://ai.google.dev/gemini-api/docs/image-generation
 */
import { fieldsOf } from '../../../domain/util/json';
import type { OutputItem } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../domain/types/VendorTypes';

export interface GeneratedImage {
  readonly mimeType: string;
  readonly data: string;
}

/** @returns undefined for an item that is no image, and for a draft among the model's thoughts */
export function generatedImageOf(item: OutputItem): GeneratedImage | undefined {
  if (item.type !== 'vendor_item' || item.origin.wire !== 'gemini' || item.item.thought === true) return undefined;
  const { mimeType, data } = fieldsOf(item.item.inlineData);
  return typeof data === 'string' && typeof mimeType === 'string' && mimeType.startsWith('image/')
    ? { mimeType, data }
    : undefined;
}

/** An entry of `images`, as https://openrouter.ai/docs/features/multimodal/image-generation has it in messages and deltas. */
export function toChatImage({ mimeType, data }: GeneratedImage): JsonObject {
  return { type: 'image_url', image_url: { url: `data:${mimeType};base64,${data}` } };
}

/** Stands in place of an image for Anthropic's clients, whose API has none in answers. */
export function omittedImage({ mimeType }: GeneratedImage): string {
  return `[The model generated an image (${mimeType}), which the Messages API cannot return.]`;
}
