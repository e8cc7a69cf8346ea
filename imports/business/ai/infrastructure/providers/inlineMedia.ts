/** Downloads images and files behind URLs that the vendor does not fetch itself, and inlines them in the request. */
import type { Content, InputContent, InputFile, InputImage, InputItem } from '../../domain/types/ResponsesAPITypes';
import { MediaDownloads } from './MediaDownloads';
import type { MediaDownloadsOptions } from './MediaDownloads';

export interface InlineOptions extends MediaDownloadsOptions {
  /** Whether the vendor fetches this part's URL itself. */
  readonly isFetchedByVendor: (part: InputImage | InputFile) => boolean;
}

/** Items are immutable, so one download serves every later turn of the conversation. */
const inlinedItems = new WeakMap<InputItem, { readonly item: InputItem; readonly bytes: number }>();

/**
 * @returns at once the same array if nothing has to be fetched
 * @throws LLMInvalidRequestError, with the part's path, for URLs that are not allowed or don't lead to media, and for
 *   downloads that fail or are too large together; the signal's reason
 */
export function inlineMedia(
  items: readonly InputItem[],
  options: InlineOptions,
): readonly InputItem[] | Promise<readonly InputItem[]> {
  if (!holdsMedia(items, options)) return items;
  const downloads = new MediaDownloads(options);
  return Promise.all(items.map((item, index) => inlineItem(item, `input[${index}]`, options, downloads)));
}

async function inlineItem(
  item: InputItem,
  path: string,
  options: InlineOptions,
  downloads: MediaDownloads,
): Promise<InputItem> {
  const parts = partsOf(item);
  if (!parts.some((part) => needsDownload(part, options))) return item;
  const cached = inlinedItems.get(item);
  if (cached !== undefined) {
    downloads.count(cached.bytes, path);
    return cached.item;
  }
  let bytes = 0;
  const fetched = await Promise.all(
    parts.map((part, index) =>
      needsDownload(part, options)
        ? inlinePart(part, `${path}.content[${index}]`, downloads, (size) => (bytes += size))
        : Promise.resolve(part),
    ),
  );
  const result = withParts(item, fetched);
  inlinedItems.set(item, { item: result, bytes });
  return result;
}

/** Cheap checks first: long conversations consist mostly of calls and texts, and each request goes through them. */
function holdsMedia(items: readonly InputItem[], options: InlineOptions): boolean {
  for (const item of items) {
    if (item.type === 'function_call' || item.type === 'reasoning') continue;
    if (item.type === 'function_call_output' && typeof item.output === 'string') continue;
    if (item.type === 'message' && item.role === 'assistant') continue;
    if (partsOf(item).some((part) => needsDownload(part, options))) return true;
  }
  return false;
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
  downloads: MediaDownloads,
  onSize: (bytes: number) => void,
): Promise<InputImage | InputFile> {
  const url = urlOf(part) ?? '';
  const { bytes, contentType } = await downloads.fetch(url, part.type, path);
  onSize(bytes.byteLength);
  const data = `data:${contentType};base64,${Buffer.from(bytes).toString('base64')}`;
  if (part.type === 'input_image') return { ...part, image_url: data };
  const { file_url: _, ...rest } = part;
  return { ...rest, file_data: data, filename: part.filename ?? (new URL(url).pathname.split('/').pop() || 'file') };
}
