/**
 * Images and files behind URLs that the host does not fetch itself, downloaded under guard and put into the
 * request.
 */
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type { Content, InputContent, InputFile, InputImage, InputItem } from '../../domain/types/ResponsesAPITypes';
import { downloadGuarded } from '../clients/http/guardedDownload';

export interface InlineOptions {
  /** Whether the host reads this part's URL itself. */
  readonly hostFetches: (part: InputImage | InputFile) => boolean;
  readonly allowPrivateHosts: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * What hosts take in one request, all media together, is about 20 MB
 * (https://ai.google.dev/gemini-api/docs/file-input-methods).
 */
const MAX_BYTES = 20 * 1024 * 1024;
const TIMEOUT = 30_000;
const KINDS = {
  input_image: ['image/*'],
  input_file: ['application/*', 'text/*', 'audio/*', 'video/*', 'image/*'],
} as const;

/** Items are immutable, so what was downloaded for one serves every later turn of its conversation. */
const inlined = new WeakMap<InputItem, InputItem>();

/**
 * The same array where nothing has to be fetched.
 * @throws LLMInvalidRequestError for URLs that are not allowed or give no media, with the part's path
 */
export async function inlineMedia(items: readonly InputItem[], options: InlineOptions): Promise<readonly InputItem[]> {
  if (!items.some((item) => mayHoldMedia(item) && partsOf(item).some((part) => hasToBeFetched(part, options))))
    return items;
  return Promise.all(items.map((item, index) => inlineItem(item, `input[${index}]`, options)));
}

async function inlineItem(item: InputItem, path: string, options: InlineOptions): Promise<InputItem> {
  const parts = partsOf(item);
  if (!parts.some((part) => hasToBeFetched(part, options))) return item;
  const known = inlined.get(item);
  if (known !== undefined) return known;
  const fetched = await Promise.all(
    parts.map((part, index) =>
      hasToBeFetched(part, options) ? inlinePart(part, `${path}.content[${index}]`, options) : Promise.resolve(part),
    ),
  );
  const result = withParts(item, fetched);
  inlined.set(item, result);
  return result;
}

/** Long conversations are mostly calls and texts, which cost no more than this look. */
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
  // An output holds input parts only, and inlining keeps each part's type.
  return item.type === 'function_call_output' ? { ...item, output: parts as readonly InputContent[] } : item;
}

function hasToBeFetched(part: Content, { hostFetches }: InlineOptions): part is InputImage | InputFile {
  return (
    (part.type === 'input_image' || part.type === 'input_file') &&
    /^https?:/i.test(urlOf(part) ?? '') &&
    !hostFetches(part)
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
  kind: keyof typeof KINDS,
  path: string,
  { allowPrivateHosts, signal }: InlineOptions,
): ReturnType<typeof downloadGuarded> {
  try {
    return await downloadGuarded(url, {
      maxBytes: MAX_BYTES,
      timeout: TIMEOUT,
      contentTypes: KINDS[kind],
      signal,
      allowPrivateHosts,
    });
  } catch (cause) {
    if (cause instanceof LLMInvalidRequestError) throw new LLMInvalidRequestError(cause.message, { cause, path });
    throw cause;
  }
}
