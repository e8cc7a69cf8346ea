/**
 * Batches, which make progress each time they are read.
 * https://platform.openai.com/docs/api-reference/batch, https://platform.claude.com/docs/en/api/messages/batches,
 * https://ai.google.dev/api/batch-api
 */
import type { JsonObject, VendorName } from '../../business/ai/domain/types/VendorTypes';
import { asString, isObject, objectsIn, parseJson } from '../json';
import { randomAlphanumeric } from '../randomIds';
import { renderJson } from '../rendering/RenderedResponse';
import { reject } from '../validation/Rejection';
import { endBatch } from './endBatch';
import { ObjectArchive } from './ObjectArchive';
import type { BatchedRequest, StoredBatch } from './ObjectArchive';
import { pageAfter } from './renderFiles';
import type { EndpointRequest, Rendered } from './renderFiles';

export function createBatch(request: EndpointRequest, archive: ObjectArchive): Rendered {
  const { vendor } = request;
  const body = jsonIn(request);
  const file = archive.files.get(ObjectArchive.key(vendor, asString(body.input_file_id)));
  if (file === undefined) return reject('Invalid input_file_id.', { param: 'input_file_id' });
  if (body.completion_window !== '24h' || typeof body.endpoint !== 'string')
    return reject("Invalid 'completion_window' or 'endpoint'.", { param: 'completion_window' });
  const requests = linesOf(file.bytes).map(({ custom_id: customId, body: batched }) => ({
    customId: asString(customId),
    body: isObject(batched) ? batched : {},
  }));
  const facts = {
    id: `batch_${randomAlphanumeric(24)}`,
    object: 'batch',
    endpoint: body.endpoint,
    errors: null,
    input_file_id: body.input_file_id,
    completion_window: '24h',
    status: 'validating',
    output_file_id: null,
    error_file_id: null,
    created_at: Math.floor(Date.now() / 1_000),
    request_counts: { total: requests.length, completed: 0, failed: 0 },
    metadata: body.metadata ?? null,
  };
  const wire = body.endpoint === '/v1/responses' ? 'responses' : 'chat_completions';
  return store(vendor, archive, facts.id, { facts, wire, requests });
}

export function createMessageBatch(request: EndpointRequest, archive: ObjectArchive): Rendered {
  const requests = objectsIn(jsonIn(request).requests);
  if (requests.length === 0) return reject('requests: Field required');
  const batched: BatchedRequest[] = [];
  for (const [index, { params, custom_id: customId }] of requests.entries())
    if (!isObject(params) || typeof params.model !== 'string' || typeof customId !== 'string')
      return reject(`requests.${index}.params.model: Field required`);
    else if (!/^[\w-]{1,64}$/.test(customId)) return reject(`requests.${index}.custom_id: String should match pattern`);
    else if (params.model.includes('/'))
      return reject(`requests.${index}.params.model: model not found`, { status: 404 });
    else batched.push({ customId, body: params });
  if (new Set(batched.map(({ customId }) => customId)).size < batched.length)
    return reject('requests: custom_id must be unique');
  const facts = {
    id: `msgbatch_${randomAlphanumeric(24)}`,
    type: 'message_batch',
    processing_status: 'in_progress',
    request_counts: { processing: requests.length, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
    created_at: new Date().toISOString(),
    expires_at: new Date(Date.now() + 86_400_000).toISOString(),
    ended_at: null,
    cancel_initiated_at: null,
    archived_at: null,
    results_url: null,
  };
  return store('anthropic', archive, facts.id, { facts, wire: 'anthropic_messages', requests: batched });
}

export function createGeminiBatch(request: EndpointRequest, model: string, archive: ObjectArchive): Rendered {
  const { batch } = jsonIn(request);
  const { displayName, inputConfig } = isObject(batch) ? batch : {};
  const fileName = isObject(inputConfig) ? asString(inputConfig.fileName) : '';
  const file = archive.files.get(ObjectArchive.key('google', fileName));
  if (file === undefined) return reject(`File ${fileName} not found.`, { status: 404 });
  const requests = linesOf(file.bytes).map(({ key, request: batched }) => ({
    customId: asString(key),
    body: isObject(batched) ? batched : {},
  }));
  const name = `batches/${randomAlphanumeric(24).toLowerCase()}`;
  const facts = {
    name,
    metadata: {
      '@type': 'type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch',
      model: `models/${model}`,
      displayName: asString(displayName),
      name,
      state: 'BATCH_STATE_PENDING',
      createTime: new Date().toISOString(),
      batchStats: { requestCount: String(requests.length), pendingRequestCount: String(requests.length) },
    },
  };
  return store('google', archive, name, { facts, wire: 'gemini', requests });
}

export function listBatches(request: EndpointRequest, archive: ObjectArchive): Rendered {
  const { vendor, query } = request;
  for (const [key, batch] of archive.batches)
    if (key.startsWith(`${vendor} `)) archive.batches.set(key, advanced(request, batch, archive));
  const all = ObjectArchive.listed(archive.batches, vendor).map(({ facts }) => facts);
  if (vendor === 'google') {
    const start = Number(query['pageToken'] ?? 0);
    const end = start + Number(query['pageSize'] ?? 10);
    return renderJson(200, {
      operations: all.slice(start, end),
      ...(end < all.length ? { nextPageToken: String(end) } : {}),
    });
  }
  const { after_id: after, ...rest } = query;
  const { object: _, ...page } = pageAfter(all, after === undefined ? rest : { ...rest, after }, 20);
  return renderJson(200, vendor === 'anthropic' ? page : { object: 'list', ...page });
}

export function readBatch(request: EndpointRequest, id: string, part: string, archive: ObjectArchive): Rendered {
  const { vendor, method } = request;
  const key = ObjectArchive.key(vendor, id);
  const batch = archive.batches.get(key);
  if (batch === undefined) return reject(`No batch found with id '${id}'.`, { status: 404 });
  if (method === 'DELETE') {
    archive.batches.delete(key);
    return renderJson(200, { id, type: 'message_batch_deleted' });
  }
  if (part === '/results')
    return {
      status: 200,
      headers: { 'content-type': 'application/x-jsonl' },
      frames: (batch.results ?? '').split('\n').map((line) => Buffer.from(`${line}\n`)),
    };
  const changed = part === '/cancel' ? cancelled(batch) : advanced(request, batch, archive);
  archive.batches.set(key, changed);
  return renderJson(200, vendor === 'google' && part === '/cancel' ? {} : changed.facts);
}

function store(
  vendor: VendorName,
  archive: ObjectArchive,
  id: string,
  batch: Pick<StoredBatch, 'facts' | 'wire' | 'requests'>,
): Rendered {
  archive.batches.set(ObjectArchive.key(vendor, id), { ...batch, reads: 0, isCancelling: false });
  return renderJson(200, batch.facts);
}

function cancelled(batch: StoredBatch): StoredBatch {
  const { facts } = batch;
  const cancelling =
    facts.object === 'batch'
      ? { status: 'cancelling' }
      : facts.type === 'message_batch'
        ? { processing_status: 'canceling', cancel_initiated_at: new Date().toISOString() }
        : {};
  return { ...batch, isCancelling: true, facts: { ...facts, ...cancelling } };
}

function advanced(request: EndpointRequest, batch: StoredBatch, archive: ObjectArchive): StoredBatch {
  const { readsInProgress = 0, rejects } = request.batches;
  const { facts } = batch;
  if (batch.results !== undefined) return batch;
  if (rejects !== undefined && facts.object === 'batch')
    return {
      ...batch,
      results: '',
      facts: {
        ...facts,
        status: 'failed',
        errors: { object: 'list', data: [{ code: 'invalid_request', message: rejects, line: 1 }] },
      },
    };
  if (batch.reads >= readsInProgress || batch.isCancelling) return endBatch(request, batch, archive);
  const isOpenAI = facts.object === 'batch';
  return {
    ...batch,
    reads: batch.reads + 1,
    facts: { ...facts, ...(isOpenAI ? { status: 'in_progress' } : running(facts)) },
  };
}

function running({ metadata }: JsonObject): JsonObject {
  return isObject(metadata) ? { metadata: { ...metadata, state: 'BATCH_STATE_RUNNING' } } : {};
}

function linesOf(bytes: Buffer): readonly JsonObject[] {
  return bytes
    .toString()
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(parseJson)
    .filter(isObject);
}

function jsonIn({ bytes }: EndpointRequest): JsonObject {
  try {
    const parsed = parseJson(bytes.toString());
    return isObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}
