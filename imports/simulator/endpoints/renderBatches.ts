/**
 * Batches, which are complete when they are read for the first time.
 * https://platform.openai.com/docs/api-reference/batch, https://platform.claude.com/docs/en/api/messages/batches
 */
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';
import { asString, isObject, objectsIn, parseJson } from '../json';
import { randomAlphanumeric } from '../randomIds';
import { renderJson } from '../rendering/RenderedResponse';
import { reject } from '../validation/Rejection';
import { ObjectArchive } from './ObjectArchive';
import type { StoredBatch } from './ObjectArchive';
import { openAIFile, pageAfter, storeFile } from './renderFiles';
import type { EndpointRequest, Rendered } from './renderFiles';

export function createBatch(request: EndpointRequest, archive: ObjectArchive): Rendered {
  const { vendor } = request;
  const body = jsonIn(request);
  const file = archive.files.get(ObjectArchive.key(vendor, asString(body.input_file_id)));
  if (file === undefined) return reject('Invalid input_file_id.', { param: 'input_file_id' });
  if (body.completion_window !== '24h' || typeof body.endpoint !== 'string')
    return reject("Invalid 'completion_window' or 'endpoint'.", { param: 'completion_window' });
  const lines = file.bytes
    .toString()
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(parseJson)
    .filter(isObject);
  const results = lines.map(({ custom_id: customId }) =>
    JSON.stringify({
      id: `batch_req_${randomAlphanumeric(24)}`,
      custom_id: customId,
      response: { status_code: 200, request_id: randomAlphanumeric(20), body: { object: 'chat.completion' } },
      error: null,
    }),
  );
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
    request_counts: { total: lines.length, completed: 0, failed: 0 },
    metadata: body.metadata ?? null,
  };
  archive.batches.set(ObjectArchive.key(vendor, facts.id), { facts, results: results.join('\n') });
  return renderJson(200, facts);
}

export function createMessageBatch(request: EndpointRequest, archive: ObjectArchive): Rendered {
  const requests = objectsIn(jsonIn(request).requests);
  if (requests.length === 0) return reject('requests: Field required');
  for (const [index, { params, custom_id: customId }] of requests.entries())
    if (!isObject(params) || typeof params.model !== 'string' || typeof customId !== 'string')
      return reject(`requests.${index}.params.model: Field required`);
    else if (params.model.includes('/'))
      return reject(`requests.${index}.params.model: model not found`, { status: 404 });
  const results = requests.map(({ custom_id: customId }) =>
    JSON.stringify({ custom_id: customId, result: { type: 'succeeded', message: { type: 'message' } } }),
  );
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
  archive.batches.set(ObjectArchive.key('anthropic', facts.id), { facts, results: results.join('\n') });
  return renderJson(200, facts);
}

export function listBatches({ vendor, query }: EndpointRequest, archive: ObjectArchive): Rendered {
  const all = ObjectArchive.listed(archive.batches, vendor).map(({ facts }) => facts);
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
      frames: batch.results.split('\n').map((line) => Buffer.from(`${line}\n`)),
    };
  const facts = part === '/cancel' ? cancelled(batch) : completed(request, batch, archive);
  archive.batches.set(key, { ...batch, facts });
  return renderJson(200, facts);
}

function cancelled({ facts }: StoredBatch): JsonObject {
  return facts.object === 'batch'
    ? { ...facts, status: 'cancelling' }
    : { ...facts, processing_status: 'canceling', cancel_initiated_at: new Date().toISOString() };
}

function completed(
  { vendor, origin }: EndpointRequest,
  { facts, results }: StoredBatch,
  archive: ObjectArchive,
): JsonObject {
  if (facts.object !== 'batch')
    return {
      ...facts,
      processing_status: 'ended',
      ended_at: new Date().toISOString(),
      results_url: `${origin}/anthropic/v1/messages/batches/${String(facts.id)}/results`,
    };
  if (facts.status !== 'validating') return facts;
  const bytes = Buffer.from(results);
  const file = openAIFile(bytes, 'batch_output.jsonl', 'batch_output');
  storeFile(vendor, archive, bytes, file);
  return { ...facts, status: 'completed', output_file_id: file.id };
}

function jsonIn({ bytes }: EndpointRequest): JsonObject {
  try {
    const parsed = parseJson(bytes.toString());
    return isObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}
