/**
 * Pages of items as OpenAI lists them. https://platform.openai.com/docs/api-reference/responses/input-items,
 * https://platform.openai.com/docs/api-reference/conversations/list-items
 */
import type { HttpRequest } from '../../http/HttpMessages';
import { LLMInvalidRequestError } from '../../../business/ai/domain/errors/LLMErrors';
import { fieldsOf, isList, isObject } from '../../../business/ai/domain/util/json';
import type { Item } from '../../../business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { writeForeignItem } from '../../../business/ai/infrastructure/converters/responses/gateway/ResponsesGateway';
import { wireForm } from '../../../business/ai/infrastructure/converters/responses/items';
import { INCLUSIONS } from './checkForeignRequest';

export interface ListedItem {
  readonly id: string;
  readonly item: Item;
}

export interface PageQuery {
  readonly limit: number;
  readonly order: 'asc' | 'desc';
  /** The id of the item before the page. */
  readonly after: string | undefined;
  readonly include: ReadonlySet<string>;
}

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

/** @throws LLMInvalidRequestError with the name of the parameter */
export function readPageQuery(request: HttpRequest): PageQuery {
  const { limit, order = 'desc', after } = request.query;
  if (order !== 'asc' && order !== 'desc') throw invalid('order', 'must be "asc" or "desc"');
  if (after !== undefined && typeof after !== 'string') throw invalid('after', 'must be the id of an item');
  return { limit: readLimit(limit), order, after, include: readInclude(request) };
}

function readLimit(limit: unknown): number {
  if (limit === undefined) return DEFAULT_LIMIT;
  const value = typeof limit === 'string' && /^\d{1,9}$/.test(limit) ? Number(limit) : NaN;
  if (value >= 1 && value <= MAX_LIMIT) return value;
  throw invalid('limit', `must be an integer from 1 to ${MAX_LIMIT}`);
}

/** OpenAI's SDK writes lists as `include[]=a&include[]=b`. */
export function readInclude({ query }: HttpRequest): ReadonlySet<string> {
  const values = [query['include'], query['include[]']].flat().filter((value) => value !== undefined);
  const inclusions = values.filter((value) => typeof value === 'string').filter((value) => INCLUSIONS.includes(value));
  if (inclusions.length < values.length) throw invalid('include', `must consist of: ${INCLUSIONS.join(', ')}`);
  return new Set(inclusions);
}

/**
 * @param items in ascending order
 * @throws LLMInvalidRequestError if the item before the page is not among them
 */
export function pageOf(items: readonly ListedItem[], { limit, order, after, include }: PageQuery): JsonObject {
  const ordered = order === 'asc' ? items : items.toReversed();
  const start = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && start === 0) throw invalid('after', 'must be the id of an item in the list');
  return listOf(ordered.slice(start, start + limit), include, ordered.length > start + limit);
}

export function listOf(items: readonly ListedItem[], include: ReadonlySet<string>, hasMore: boolean): JsonObject {
  return {
    object: 'list',
    data: items.map((item) => writeItem(item, include)),
    first_id: items[0]?.id ?? null,
    last_id: items.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}

/** The item without the fields that are left out unless they are requested. */
export function writeItem({ id, item }: ListedItem, include: ReadonlySet<string>): JsonObject {
  const isForeign = !('origin' in item) || fieldsOf(item.origin).wire !== 'responses';
  const form = isForeign ? writeForeignItem(item, { id, status: 'completed', output: [] }, 0) : wireForm(item);
  return withoutUnrequested({ ...form, id }, include);
}

function withoutUnrequested(item: JsonObject, include: ReadonlySet<string>): JsonObject {
  const lacks = (inclusion: string): boolean => !include.has(inclusion);
  switch (item.type) {
    case 'reasoning':
      return lacks('reasoning.encrypted_content') ? without(item, 'encrypted_content') : item;
    case 'message':
      return isList(item.content) ? { ...item, content: item.content.map((part) => writePart(part, lacks)) } : item;
    case 'file_search_call':
      return lacks('file_search_call.results') ? { ...item, results: null } : item;
    case 'code_interpreter_call':
      return lacks('code_interpreter_call.outputs') ? { ...item, outputs: null } : item;
    case 'computer_call_output':
      return lacks('computer_call_output.output.image_url') && isObject(item.output)
        ? { ...item, output: without(item.output, 'image_url') }
        : item;
    case 'web_search_call':
      return lacks('web_search_call.action.sources') && isObject(item.action)
        ? { ...item, action: without(item.action, 'sources') }
        : item;
    default:
      return item;
  }
}

function writePart(part: unknown, lacks: (inclusion: string) => boolean): unknown {
  if (!isObject(part)) return part;
  if (part.type === 'output_text' && lacks('message.output_text.logprobs')) return { ...part, logprobs: [] };
  return part.type === 'input_image' && lacks('message.input_image.image_url') && part.image_url !== undefined
    ? { ...part, image_url: null }
    : part;
}

function without(object: JsonObject, field: string): JsonObject {
  const { [field]: _, ...rest } = object;
  return rest;
}

function invalid(parameter: string, what: string): LLMInvalidRequestError {
  return new LLMInvalidRequestError(`"${parameter}" ${what}.`, { path: parameter });
}
