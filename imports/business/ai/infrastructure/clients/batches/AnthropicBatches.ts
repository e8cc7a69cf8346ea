/**
 * Anthropic's Message Batches. They take no name or metadata, so that a batch shows what it is in the ids of its
 * results alone. https://platform.claude.com/docs/en/build-with-claude/batch-processing
 */
import { LLMInvalidRequestError, LLMStreamError } from '../../../domain/errors/LLMErrors';
import type {
  FoundBatch,
  NewVendorBatch,
  SubmittedBatch,
  UnreadableResult,
  VendorBatchApi,
  VendorBatchResult,
  VendorBatchState,
} from '../../../domain/interfaces/VendorBatches';
import { fieldsOf, isList, isObject } from '../../../domain/util/json';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import { linesBody, numberOf, readResults, requestJson, TRANSFER_TIMEOUT_MS } from './batchRequests';
import type { SendBatchRequest } from './batchRequests';

const PATH = '/messages/batches';
const PAGE = 100;
const MAX_PAGES = 50;
const CLOCK_SKEW_MS = 600_000;

export class AnthropicBatches implements VendorBatchApi {
  /** The API accepts 256 MB; this leaves room for what surrounds the requests. */
  readonly limits = { requests: 100_000, bytes: 250 * 1024 * 1024 };
  private readonly send: SendBatchRequest;

  constructor(send: SendBatchRequest) {
    this.send = send;
  }

  encode(customId: string, { stream: _, ...params }: JsonObject): string {
    return JSON.stringify({ custom_id: customId, params });
  }

  async create({ lines, headers }: NewVendorBatch, signal: AbortSignal): Promise<VendorBatchState> {
    const separated = lines.map((line, index) => (index === lines.length - 1 ? line : `${line},`));
    const created = await requestJson(this.send, {
      method: 'post',
      path: PATH,
      ...omitUndefined({ headers }),
      body: linesBody(separated, '{"requests":[', ']}'),
      timeout: TRANSFER_TIMEOUT_MS,
      signal,
    });
    return stateOf(created);
  }

  /** Finds the batch whose results have the marker, among the batches of that time with as many requests. */
  async find(
    { marker, since, requests }: { readonly marker: string } & SubmittedBatch,
    signal: AbortSignal,
  ): Promise<FoundBatch> {
    let isUndecided = false;
    let after: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const query = omitUndefined({ limit: String(PAGE), after_id: after });
      const listed = await requestJson(this.send, { method: 'get', path: PATH, query, signal });
      const batches = isList(listed['data']) ? listed['data'].filter(isObject) : [];
      for (const batch of batches) {
        const state = stateOf(batch);
        if (createdAt(batch) < since - CLOCK_SKEW_MS || state.counts.total !== requests) continue;
        if (!state.hasEnded) isUndecided = true;
        else if (await this.isMarked(state, marker, signal)) return { id: state.id };
      }
      const last = batches.at(-1);
      if (listed['has_more'] !== true || last === undefined || createdAt(last) < since - CLOCK_SKEW_MS) break;
      after = stateOf(last).id;
    }
    return isUndecided ? 'undecided' : undefined;
  }

  async read(id: string, signal: AbortSignal): Promise<VendorBatchState> {
    return stateOf(await requestJson(this.send, { method: 'get', path: pathOf(id), signal }));
  }

  async *results(
    { id }: VendorBatchState,
    signal: AbortSignal,
  ): AsyncGenerator<VendorBatchResult | UnreadableResult, void, undefined> {
    const path = `${pathOf(id)}/results`;
    const { body } = await this.send({ method: 'get', path, signal, timeout: TRANSFER_TIMEOUT_MS });
    yield* readResults(body, toResult);
  }

  async cancel(id: string, signal: AbortSignal): Promise<void> {
    try {
      await requestJson(this.send, { method: 'post', path: `${pathOf(id)}/cancel`, signal });
    } catch (error) {
      // It has ended.
      if (!(error instanceof LLMInvalidRequestError)) throw error;
    }
  }

  private async isMarked(state: VendorBatchState, marker: string, signal: AbortSignal): Promise<boolean> {
    let isUnreadable = false;
    for await (const result of this.results(state, signal))
      if ('unreadable' in result) isUnreadable = true;
      else return result.customId.startsWith(`${marker}-`);
    // The batch would be submitted again, if it is ours.
    if (isUnreadable) throw new LLMStreamError(`The results of the batch "${state.id}" are not JSON.`);
    return false;
  }
}

function stateOf(batch: JsonObject): VendorBatchState {
  const { id, processing_status: status, request_counts: counts, cancel_initiated_at: cancelledAt } = batch;
  if (typeof id !== 'string' || id === '')
    throw new LLMInvalidRequestError('Anthropic returned no id of a batch.', { vendor: 'anthropic' });
  const { processing, succeeded, errored, canceled, expired } = fieldsOf(counts);
  const failed = numberOf(errored) + numberOf(canceled) + numberOf(expired);
  const hasEnded = status === 'ended';
  return {
    id,
    hasEnded,
    ...(hasEnded ? { ending: typeof cancelledAt === 'string' ? 'cancelled' : 'completed' } : {}),
    counts: { total: numberOf(processing) + numberOf(succeeded) + failed, succeeded: numberOf(succeeded), failed },
    // The results have a path of their own.
    outputs: hasEnded ? [id] : [],
  };
}

function createdAt({ created_at: created }: JsonObject): number {
  return typeof created === 'string' ? Date.parse(created) : 0;
}

function pathOf(id: string): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}

function toResult({ custom_id: customId, result }: JsonObject): VendorBatchResult {
  const id = typeof customId === 'string' ? customId : '';
  const { type, message, error } = fieldsOf(result);
  if (type === 'succeeded') return { customId: id, outcome: { body: fieldsOf(message) } };
  if (type === 'expired') return { customId: id, outcome: { ending: 'expired' } };
  if (type === 'canceled') return { customId: id, outcome: { ending: 'cancelled' } };
  return { customId: id, outcome: { status: undefined, errorBody: error } };
}
