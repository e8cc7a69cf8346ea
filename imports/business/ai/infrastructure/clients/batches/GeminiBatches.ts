/**
 * The batch mode of the Gemini API: a file of requests, a file of results. The batch is marked by its display name.
 * https://ai.google.dev/gemini-api/docs/batch-api, https://ai.google.dev/api/batch-api, https://ai.google.dev/api/files
 */
import { LLMInvalidRequestError } from '../../../domain/errors/LLMErrors';
import { vendorError } from '../../../domain/errors/vendorErrors';
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
import { linesBody, numberOf, readResults, requestJson, textOf, TRANSFER_TIMEOUT_MS } from './batchRequests';
import type { SendBatchRequest } from './batchRequests';

const PAGE = 100;
const MAX_PAGES = 50;

/** The API has names with `BATCH_STATE_`, and older ones with `JOB_STATE_`. */
const ENDINGS: Readonly<Record<string, NonNullable<VendorBatchState['ending']>>> = {
  SUCCEEDED: 'completed',
  PARTIALLY_SUCCEEDED: 'completed',
  EXPIRED: 'expired',
  CANCELLED: 'cancelled',
  FAILED: 'failed',
};

export class GeminiBatches implements VendorBatchApi {
  /** Files have up to 2 GB; no number of requests is documented. */
  readonly limits = { requests: 100_000, bytes: 2_000_000_000 };
  private readonly send: SendBatchRequest;
  private readonly modelPath: (model: string) => string;

  /** @param modelPath as in the paths of single requests, such as `models/gemini-2.5-flash` */
  constructor(send: SendBatchRequest, modelPath: (model: string) => string) {
    this.send = send;
    this.modelPath = modelPath;
  }

  encode(customId: string, body: JsonObject): string {
    return JSON.stringify({ key: customId, request: body });
  }

  /** In one request of two parts: what the file is, and its bytes. */
  async upload({ marker, lines }: NewVendorBatch, signal: AbortSignal): Promise<string> {
    const boundary = `bolide-${marker}`;
    const facts = JSON.stringify({ file: { displayName: marker, mimeType: 'application/jsonl' } });
    const head = `--${boundary}\r\ncontent-type: application/json; charset=utf-8\r\n\r\n${facts}\r\n--${boundary}\r\ncontent-type: application/jsonl\r\n\r\n`;
    const { file } = await requestJson(this.send, {
      method: 'post',
      path: '/upload/files',
      headers: {
        'x-goog-upload-protocol': 'multipart',
        'content-type': `multipart/related; boundary=${boundary}`,
      },
      body: linesBody(lines, head, `\r\n--${boundary}--`),
      timeout: TRANSFER_TIMEOUT_MS,
      signal,
    });
    return nameOf(fieldsOf(file)['name'], 'files/');
  }

  async create({ marker, model, fileId }: NewVendorBatch, signal: AbortSignal): Promise<VendorBatchState> {
    const batch = { displayName: marker, inputConfig: { fileName: fileId } };
    const path = `/${this.modelPath(model)}:batchGenerateContent`;
    return stateOf(await requestJson(this.send, { method: 'post', path, body: JSON.stringify({ batch }), signal }));
  }

  async find({ marker }: { readonly marker: string } & SubmittedBatch, signal: AbortSignal): Promise<FoundBatch> {
    let pageToken: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const query = omitUndefined({ pageSize: String(PAGE), pageToken });
      const listed = await requestJson(this.send, { method: 'get', path: '/batches', query, signal });
      const operations = isList(listed['operations']) ? listed['operations'].filter(isObject) : [];
      const found = operations.find(({ metadata }) => fieldsOf(metadata)['displayName'] === marker);
      if (found !== undefined) return { id: nameOf(found['name'], 'batches/') };
      pageToken = textOf(listed['nextPageToken']);
      if (pageToken === undefined) return undefined;
    }
    return undefined;
  }

  async read(id: string, signal: AbortSignal): Promise<VendorBatchState> {
    return stateOf(await requestJson(this.send, { method: 'get', path: pathOf(id, 'batches/'), signal }));
  }

  async *results(
    { outputs }: VendorBatchState,
    signal: AbortSignal,
  ): AsyncGenerator<VendorBatchResult | UnreadableResult, void, undefined> {
    for (const file of outputs) {
      const path = `/download${pathOf(file, 'files/')}:download`;
      const query = { alt: 'media' };
      const { body } = await this.send({ method: 'get', path, query, signal, timeout: TRANSFER_TIMEOUT_MS });
      yield* readResults(body, toResult);
    }
  }

  async cancel(id: string, signal: AbortSignal): Promise<void> {
    try {
      await requestJson(this.send, { method: 'post', path: `${pathOf(id, 'batches/')}:cancel`, body: '{}', signal });
    } catch (error) {
      // It has ended.
      if (!(error instanceof LLMInvalidRequestError)) throw error;
    }
  }
}

/** @param operation a long-running operation, whose metadata is the batch */
function stateOf({ name, metadata, error }: JsonObject): VendorBatchState {
  const { state, batchStats, output } = fieldsOf(metadata);
  const { requestCount, successfulRequestCount, failedRequestCount } = fieldsOf(batchStats);
  const ending = typeof state === 'string' ? ENDINGS[state.replace(/^(?:BATCH|JOB)_STATE_/, '')] : undefined;
  const file = textOf(fieldsOf(output)['responsesFile']);
  return omitUndefined({
    id: nameOf(name, 'batches/'),
    hasEnded: ending !== undefined,
    ending,
    counts: {
      total: numberOf(requestCount),
      succeeded: numberOf(successfulRequestCount),
      failed: numberOf(failedRequestCount),
    },
    outputs: file === undefined ? [] : [file],
    error: ending === 'failed' ? vendorError({ vendor: 'google', body: { error } }) : undefined,
  });
}

function toResult({ key, response, error }: JsonObject): VendorBatchResult {
  const customId = typeof key === 'string' ? key : '';
  if (isObject(response)) return { customId, outcome: { body: response } };
  return { customId, outcome: { status: undefined, errorBody: { error } } };
}

/** @throws LLMInvalidRequestError for a name that would address another path */
function nameOf(name: unknown, prefix: string): string {
  if (typeof name === 'string' && name.startsWith(prefix) && /^[\w-]+$/.test(name.slice(prefix.length))) return name;
  throw new LLMInvalidRequestError('Google returned no name of a batch or file.', { vendor: 'google' });
}

function pathOf(name: string, prefix: string): string {
  return `/${nameOf(name, prefix)}`;
}
