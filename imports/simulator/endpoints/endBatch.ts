/** What a batch of each vendor has when it has ended: results for its requests, and its counts. */
import type { JsonObject, VendorName } from '../../business/ai/domain/types/VendorTypes';
import { asString, isObject } from '../json';
import { randomAlphanumeric } from '../randomIds';
import { createErrorBody } from '../rendering/createErrorBody';
import { ObjectArchive } from './ObjectArchive';
import type { BatchedRequest, CancellableOutcome, StoredBatch } from './ObjectArchive';
import { geminiFile, openAIFile, storeFile } from './renderFiles';
import type { EndpointRequest } from './renderFiles';

interface Result {
  readonly customId: string;
  readonly outcome: CancellableOutcome;
  readonly status: number;
  readonly body: JsonObject;
}

export function endBatch(request: EndpointRequest, batch: StoredBatch, archive: ObjectArchive): StoredBatch {
  const results = batch.requests.map((each, index) => resultOf(request, batch, each, index));
  const end =
    batch.facts.object === 'batch' ? endOpenAI : batch.facts.type === 'message_batch' ? endAnthropic : endGemini;
  return end(request, batch, results, archive);
}

/** Returns the result of one request. The first half of a cancelled batch is done. */
function resultOf(
  { vendor, batches, answer }: EndpointRequest,
  { wire, requests, isCancelling, facts }: StoredBatch,
  { customId, body }: BatchedRequest,
  index: number,
): Result {
  const isDone = !isCancelling || index < Math.floor(requests.length / 2);
  const planned = isDone ? (batches.outcomeOf?.(customId, index) ?? 'answered') : 'cancelled';
  if (planned === 'errored') {
    const message = 'The simulated request failed.';
    return { customId, outcome: planned, status: 500, body: createErrorBody(vendor, { status: 500, message }) };
  }
  if (planned !== 'answered') return { customId, outcome: planned, status: 0, body: {} };
  const model = isObject(facts.metadata) ? asString(facts.metadata.model).replace(/^models\//, '') : '';
  const answered = answer(wire, wire === 'gemini' ? { model, body } : { body });
  return { customId, outcome: answered.status === 200 ? 'answered' : 'errored', ...answered };
}

function endOpenAI(
  { vendor }: EndpointRequest,
  batch: StoredBatch,
  results: readonly Result[],
  archive: ObjectArchive,
): StoredBatch {
  const ended = results.map(({ customId, outcome, status, body }) => ({
    id: `batch_req_${randomAlphanumeric(24)}`,
    custom_id: customId,
    response: status === 0 ? null : { status_code: status, request_id: randomAlphanumeric(20), body },
    error:
      outcome === 'expired'
        ? { code: 'batch_expired', message: 'This request could not be executed before the completion window expired.' }
        : outcome === 'cancelled'
          ? { code: 'batch_cancelled', message: 'This request was not executed because the batch was cancelled.' }
          : null,
  }));
  const fileOf = (lines: readonly object[], name: string): string | null =>
    lines.length === 0 ? null : storeLines(vendor, archive, lines, name);
  const failed = ended.filter(({ response }) => response?.status_code !== 200);
  const succeeded = ended.length - failed.length;
  const isExpired = results.some(({ outcome }) => outcome === 'expired');
  return {
    ...batch,
    results: '',
    facts: {
      ...batch.facts,
      status: batch.isCancelling ? 'cancelled' : isExpired ? 'expired' : 'completed',
      output_file_id: fileOf(
        ended.filter(({ response }) => response?.status_code === 200),
        'batch_output.jsonl',
      ),
      error_file_id: fileOf(failed, 'batch_errors.jsonl'),
      request_counts: { total: ended.length, completed: succeeded, failed: failed.length },
    },
  };
}

function storeLines(vendor: VendorName, archive: ObjectArchive, lines: readonly object[], name: string): string {
  const bytes = Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n'));
  const file = openAIFile(bytes, name, 'batch_output');
  storeFile(vendor, archive, bytes, file);
  return file.id;
}

const ANTHROPIC_TYPES = {
  answered: 'succeeded',
  errored: 'errored',
  expired: 'expired',
  cancelled: 'canceled',
} as const satisfies Record<CancellableOutcome, string>;

/** In another order than that of the requests. */
function endAnthropic({ origin }: EndpointRequest, batch: StoredBatch, results: readonly Result[]): StoredBatch {
  const lines = results.toReversed().map(({ customId, outcome, body }) => ({
    custom_id: customId,
    result: {
      type: ANTHROPIC_TYPES[outcome],
      ...(outcome === 'answered' ? { message: body } : outcome === 'errored' ? { error: body } : {}),
    },
  }));
  const count = (outcome: CancellableOutcome): number => results.filter((each) => each.outcome === outcome).length;
  return {
    ...batch,
    results: lines.map((line) => JSON.stringify(line)).join('\n'),
    facts: {
      ...batch.facts,
      processing_status: 'ended',
      ended_at: new Date().toISOString(),
      results_url: `${origin}/anthropic/v1/messages/batches/${asString(batch.facts.id)}/results`,
      request_counts: {
        processing: 0,
        succeeded: count('answered'),
        errored: count('errored'),
        canceled: count('cancelled'),
        expired: count('expired'),
      },
    },
  };
}

/** An expired batch has no results at all. */
function endGemini(
  _request: EndpointRequest,
  batch: StoredBatch,
  results: readonly Result[],
  archive: ObjectArchive,
): StoredBatch {
  const isExpired = results.some(({ outcome }) => outcome === 'expired');
  const lines = results
    .filter(({ status }) => status !== 0)
    .map(({ customId, status, body }) => ({ key: customId, ...(status === 200 ? { response: body } : body) }));
  const bytes = Buffer.from(lines.map((line) => JSON.stringify(line)).join('\n'));
  const file = geminiFile(bytes, 'results');
  const metadata = isObject(batch.facts.metadata) ? batch.facts.metadata : {};
  const hasResults = !isExpired && !batch.isCancelling;
  if (hasResults) archive.files.set(ObjectArchive.key('google', file.name), { facts: file, bytes });
  const succeeded = results.filter(({ outcome }) => outcome === 'answered').length;
  const state = batch.isCancelling ? 'CANCELLED' : isExpired ? 'EXPIRED' : 'SUCCEEDED';
  return {
    ...batch,
    results: '',
    facts: {
      ...batch.facts,
      done: true,
      metadata: {
        ...metadata,
        state: `BATCH_STATE_${state}`,
        batchStats: {
          requestCount: String(results.length),
          ...(hasResults
            ? {
                successfulRequestCount: String(succeeded),
                failedRequestCount: String(results.length - succeeded),
              }
            : {}),
        },
        ...(hasResults ? { output: { responsesFile: file.name } } : {}),
      },
    },
  };
}
