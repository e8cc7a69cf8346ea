/**
 * The batches of OpenAI, of Azure OpenAI and of Groq, which have the same API: a file of requests, one or two files of
 * results. The batch is marked by its metadata.
 *
 * https://developers.openai.com/api/docs/guides/batch, https://learn.microsoft.com/azure/ai-foundry/openai/how-to/batch,
 * https://console.groq.com/docs/batch
 */
import { LLMInvalidRequestError } from '../../../domain/errors/LLMErrors';
import type {
  FoundBatch,
  NewVendorBatch,
  SubmittedBatch,
  UnreadableResult,
  VendorBatchApi,
  VendorBatchLimits,
  VendorBatchResult,
  VendorBatchState,
} from '../../../domain/interfaces/VendorBatches';
import { fieldsOf, isList, isObject } from '../../../domain/util/json';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import { linesBody, numberOf, readResults, requestJson, textOf, TRANSFER_TIMEOUT_MS } from './batchRequests';
import type { SendBatchRequest } from './batchRequests';

export interface OpenAIBatchesOptions {
  readonly vendor: string;
  readonly endpoint: '/v1/responses' | '/v1/chat/completions';
  readonly limits: VendorBatchLimits;
  readonly send: SendBatchRequest;
  /** Azure's name of the model. Default: that of the request. */
  readonly deployment?: string | undefined;
}

/** The key of the batch's metadata. */
const MARKER = 'bolide_batch';
/** Batches per page of the list, and pages that are read: a batch that is looked for is among the newest. */
const PAGE = 100;
const MAX_PAGES = 50;

const ENDINGS: Readonly<Record<string, NonNullable<VendorBatchState['ending']>>> = {
  completed: 'completed',
  expired: 'expired',
  cancelled: 'cancelled',
  failed: 'failed',
};

export class OpenAIBatches implements VendorBatchApi {
  readonly limits: VendorBatchLimits;
  private readonly options: OpenAIBatchesOptions;

  constructor(options: OpenAIBatchesOptions) {
    this.options = options;
    this.limits = options.limits;
  }

  encode(customId: string, body: JsonObject): string {
    const { endpoint: url, deployment: model } = this.options;
    const sent = model === undefined ? body : { ...body, model };
    return JSON.stringify({ custom_id: customId, method: 'POST', url, body: sent });
  }

  /** RFC 7578. */
  async upload({ marker, lines }: NewVendorBatch, signal: AbortSignal): Promise<string> {
    const boundary = `bolide-${marker}`;
    const head = [
      `--${boundary}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\nbatch`,
      `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${marker}.jsonl"`,
      'content-type: application/jsonl\r\n\r\n',
    ].join('\r\n');
    const { id } = await requestJson(this.options.send, {
      method: 'post',
      path: '/files',
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
      body: linesBody(lines, head, `\r\n--${boundary}--\r\n`),
      timeout: TRANSFER_TIMEOUT_MS,
      signal,
    });
    return this.idOf(id);
  }

  async create({ marker, fileId }: NewVendorBatch, signal: AbortSignal): Promise<VendorBatchState> {
    const { endpoint, send } = this.options;
    const batch = {
      input_file_id: fileId,
      endpoint,
      completion_window: '24h',
      metadata: { [MARKER]: marker },
    };
    return this.stateOf(
      await requestJson(send, { method: 'post', path: '/batches', body: JSON.stringify(batch), signal }),
    );
  }

  async find(
    { marker, since }: { readonly marker: string } & SubmittedBatch,
    signal: AbortSignal,
  ): Promise<FoundBatch> {
    let after: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const query = omitUndefined({ limit: String(PAGE), after });
      const { data, has_more: hasMore } = await requestJson(this.options.send, {
        method: 'get',
        path: '/batches',
        query,
        signal,
      });
      const batches = isList(data) ? data.filter(isObject) : [];
      const found = batches.find(({ metadata }) => fieldsOf(metadata)[MARKER] === marker);
      if (found !== undefined) return { id: this.idOf(found['id']) };
      const last = batches.at(-1);
      // Newest first. The vendor's clock may differ.
      if (hasMore !== true || last === undefined || numberOf(last['created_at']) * 1_000 < since - CLOCK_SKEW_MS)
        return undefined;
      after = this.idOf(last['id']);
    }
    return undefined;
  }

  async read(id: string, signal: AbortSignal): Promise<VendorBatchState> {
    return this.stateOf(await requestJson(this.options.send, { method: 'get', path: this.pathOf(id), signal }));
  }

  async *results(
    { outputs }: VendorBatchState,
    signal: AbortSignal,
  ): AsyncGenerator<VendorBatchResult | UnreadableResult, void, undefined> {
    for (const fileId of outputs) {
      const path = `/files/${encodeURIComponent(fileId)}/content`;
      const { body } = await this.options.send({ method: 'get', path, signal, timeout: TRANSFER_TIMEOUT_MS });
      yield* readResults(body, toResult);
    }
  }

  async cancel(id: string, signal: AbortSignal): Promise<void> {
    try {
      await requestJson(this.options.send, { method: 'post', path: `${this.pathOf(id)}/cancel`, signal });
    } catch (error) {
      // It has ended.
      if (!(error instanceof LLMInvalidRequestError)) throw error;
    }
  }

  private stateOf(batch: JsonObject): VendorBatchState {
    const { id, status, request_counts: counts, output_file_id: output, error_file_id: failed, errors } = batch;
    const { total, completed, failed: failures } = fieldsOf(counts);
    const ending = typeof status === 'string' ? ENDINGS[status] : undefined;
    return omitUndefined({
      id: this.idOf(id),
      hasEnded: ending !== undefined,
      ending,
      counts: { total: numberOf(total), succeeded: numberOf(completed), failed: numberOf(failures) },
      outputs: [textOf(output), textOf(failed)].filter((each) => each !== undefined),
      error: ending === 'failed' ? this.rejection(errors) : undefined,
    });
  }

  private rejection(errors: unknown): LLMInvalidRequestError {
    const { data } = fieldsOf(errors);
    const [first] = isList(data) ? data : [];
    const { message, code, line } = fieldsOf(first);
    const { vendor } = this.options;
    return new LLMInvalidRequestError(
      `${vendor} rejected the batch: ${textOf(message) ?? 'no reason given'}${typeof line === 'number' ? ` (line ${line})` : ''}`,
      { vendor, ...(typeof code === 'string' ? { vendorCode: code } : {}) },
    );
  }

  private pathOf(id: string): string {
    return `/batches/${encodeURIComponent(this.idOf(id))}`;
  }

  private idOf(id: unknown): string {
    // A dot segment would address another path.
    if (typeof id === 'string' && !/^\.{0,2}$/.test(id)) return id;
    const { vendor } = this.options;
    throw new LLMInvalidRequestError(`${vendor} returned no id.`, { vendor });
  }
}

const CLOCK_SKEW_MS = 600_000;

/** Reads one result. Expired and cancelled requests have error codes of their own. */
function toResult({ custom_id: customId, response, error }: JsonObject): VendorBatchResult {
  const id = typeof customId === 'string' ? customId : '';
  const { status_code: status, body } = fieldsOf(response);
  if (numberOf(status) >= 200 && numberOf(status) < 300) return { customId: id, outcome: { body: fieldsOf(body) } };
  const { code } = fieldsOf(error);
  if (code === 'batch_expired') return { customId: id, outcome: { ending: 'expired' } };
  if (code === 'batch_cancelled') return { customId: id, outcome: { ending: 'cancelled' } };
  const failed = typeof status === 'number' ? status : undefined;
  return { customId: id, outcome: { status: failed, errorBody: isObject(body) ? body : { error } } };
}
