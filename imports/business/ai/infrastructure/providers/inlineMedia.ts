/** Downloads images and files behind URLs that the vendor does not fetch itself, and inlines them in the request. */
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type { Content, InputContent, InputFile, InputImage, InputItem } from '../../domain/types/ResponsesAPITypes';
import { guardedDownload } from '../clients/http/guardedDownload';

export interface InlineOptions {
  /** Whether the vendor fetches this part's URL itself. */
  readonly isFetchedByVendor: (part: InputImage | InputFile) => boolean;
  readonly allowPrivateHosts: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Vendors accept about 20 MB of media in one request. https://ai.google.dev/gemini-api/docs/file-input-methods */
const MAX_BYTES = 20 * 1024 * 1024;
const TIMEOUT_MS = 30_000;
const CONTENT_TYPES = {
  input_image: ['image/*'],
  input_file: ['application/*', 'text/*', 'audio/*', 'video/*', 'image/*'],
} as const;

/** Items are immutable, so one download serves every later turn of the conversation. */
const inlinedItems = new WeakMap<InputItem, InputItem>();

/**
 * @returns the same array if nothing has to be fetched
 * @throws LLMInvalidRequestError, with the part's path, for URLs that are not allowed or don't lead to media
 */
export async function inlineMedia(items: readonly InputItem[], options: InlineOptions): Promise<readonly InputItem[]> {
  if (!items.some((item) => mayHoldMedia(item) && partsOf(item).some((part) => needsDownload(part, options))))
    return items;
  return Promise.all(items.map((item, index) => inlineItem(item, `input[${index}]`, options)));
}

async function inlineItem(item: InputItem, path: string, options: InlineOptions): Promise<InputItem> {
  const parts = partsOf(item);
  if (!parts.some((part) => needsDownload(part, options))) return item;
  const cached = inlinedItems.get(item);
  if (cached !== undefined) return cached;
  const fetched = await Promise.all(
    parts.map((part, index) =>
      needsDownload(part, options) ? inlinePart(part, `${path}.content[${index}]`, options) : Promise.resolve(part),
    ),
  );
  const result = withParts(item, fetched);
  inlinedItems.set(item, result);
  return result;
}

/** A cheap check first: long conversations consist mostly of calls and texts. */
function mayHoldMedia(item: InputItem): boolean {
  return (
    (item.type === 'message' && item.role !== 'assistant') ||
    (item.type === 'function_call_output' && typeof item.output !== 'string')
  );
}

function partsOf(item: InputItem): readonly Content[] {
  if (item.type === 'message') return item.content;
  if (item.type === 'function_call_output' && typeof item.output !== 'string') return item.output;
  return [];
}

function withParts(item: InputItem, parts: readonly Content[]): InputItem {
  if (item.type === 'message') return { ...item, content: parts };
  // An output holds input parts only, and inlining preserves each part's type.
  return item.type === 'function_call_output' ? { ...item, output: parts as readonly InputContent[] } : item;
}

function needsDownload(part: Content, { isFetchedByVendor }: InlineOptions): part is InputImage | InputFile {
  return (
    (part.type === 'input_image' || part.type === 'input_file') &&
    /^https?:/i.test(urlOf(part) ?? '') &&
    !isFetchedByVendor(part)
  );
}

function urlOf(part: InputImage | InputFile): string | undefined {
  return part.type === 'input_image' ? part.image_url : part.file_url;
}

async function inlinePart(
  part: InputImage | InputFile,
  path: string,
  options: InlineOptions,
): Promise<InputImage | InputFile> {
  const url = urlOf(part) ?? '';
  const { bytes, contentType } = await download(url, part.type, path, options);
  const data = `data:${contentType};base64,${Buffer.from(bytes).toString('base64')}`;
  if (part.type === 'input_image') return { ...part, image_url: data };
  const { file_url: _, ...rest } = part;
  return { ...rest, file_data: data, filename: part.filename ?? (new URL(url).pathname.split('/').pop() || 'file') };
}

async function download(
  url: string,
  partType: keyof typeof CONTENT_TYPES,
  path: string,
  { allowPrivateHosts, signal }: InlineOptions,
): ReturnType<typeof guardedDownload> {
  try {
    return await guardedDownload(url, {
      maxBytes: MAX_BYTES,
      timeout: TIMEOUT_MS,
      contentTypes: CONTENT_TYPES[partType],
      signal,
      allowPrivateHosts,
    });
  } catch (cause) {
    if (cause instanceof LLMInvalidRequestError) throw new LLMInvalidRequestError(cause.message, { cause, path });
    throw cause;
  }
}
