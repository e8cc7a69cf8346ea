/** A collection of objects that vendors store, as its API describes them. */
import type { HttpRequest } from '../../http/HttpMessages';
import { isObject } from '../../../business/ai/domain/util/json';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import type { ApiFamily } from './RelayProviders';

export interface VendorCollection {
  readonly family: ApiFamily;
  /** What error messages call one. */
  readonly noun: string;
  /** Below the root of the vendor's API. */
  readonly path: string;
  /** How a list continues: after an object's id, with a token, or not at all. */
  readonly nextPage: (
    page: JsonObject,
    query: Readonly<Record<string, string>>,
  ) => Readonly<Record<string, string>> | undefined;
  /** The objects of other collections that belong to the same user. */
  readonly relatedIds?: (object: JsonObject) => readonly unknown[];
  /** The object as the gateway's client is to see it. */
  readonly present?: (object: JsonObject, request: HttpRequest) => JsonObject;
}

export const OPENAI_FILES: VendorCollection = {
  family: 'openai',
  noun: 'File',
  path: '/files',
  nextPage: afterLast,
};

export const OPENAI_BATCHES: VendorCollection = {
  family: 'openai',
  noun: 'Batch',
  path: '/batches',
  nextPage: afterLast,
  relatedIds: ({ output_file_id: output, error_file_id: errors }) => [output, errors],
};

export const ANTHROPIC_FILES: VendorCollection = {
  family: 'anthropic',
  noun: 'File',
  path: '/files',
  nextPage: (page, query) =>
    typeof page['next_page'] === 'string' ? { page: page['next_page'] } : besideIds(page, query),
};

export const MESSAGE_BATCHES: VendorCollection = {
  family: 'anthropic',
  noun: 'Message batch',
  path: '/messages/batches',
  nextPage: besideIds,
  present: (batch, request) =>
    typeof batch['results_url'] === 'string' && typeof batch['id'] === 'string'
      ? { ...batch, results_url: `${batchesUrl(request)}/${batch['id']}/results` }
      : batch,
};

/** https://platform.openai.com/docs/api-reference/batch/list */
function afterLast(page: JsonObject): Readonly<Record<string, string>> | undefined {
  const last = listOf(page).at(-1)?.['id'];
  return page['has_more'] === true && typeof last === 'string' ? { after: last } : undefined;
}

/** https://platform.claude.com/docs/en/api/listing-message-batches */
function besideIds(
  page: JsonObject,
  query: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> | undefined {
  const { has_more: hasMore, first_id: first, last_id: last } = page;
  if (hasMore !== true) return undefined;
  if (query['before_id'] !== undefined) return typeof first === 'string' ? { before_id: first } : undefined;
  return typeof last === 'string' ? { after_id: last } : undefined;
}

export function listOf({ data }: JsonObject): readonly JsonObject[] {
  return Array.isArray(data) ? data.filter(isObject) : [];
}

/** The vendor's own URL would be requested with the gateway's token. */
function batchesUrl(request: HttpRequest): string {
  const { host = 'localhost' } = request.headers;
  const forwarded = String(request.headers['x-forwarded-proto'] ?? '')
    .split(',')[0]
    ?.trim();
  const protocol = forwarded === 'https' || forwarded === 'http' ? forwarded : request.protocol;
  const [path = ''] = /^.*?\/messages\/batches/.exec(request.originalUrl) ?? [];
  return `${protocol}://${host}${path}`;
}
