/**
 * Files. https://platform.openai.com/docs/api-reference/files, https://console.groq.com/docs/api-reference#files,
 * https://platform.claude.com/docs/en/api/files-create
 */
import type { JsonObject, VendorName, WireName } from '../../business/ai/domain/types/VendorTypes';
import { randomAlphanumeric } from '../randomIds';
import { renderJson } from '../rendering/RenderedResponse';
import type { RenderedResponse } from '../rendering/RenderedResponse';
import { reject } from '../validation/Rejection';
import type { Rejection } from '../validation/Rejection';
import type { BatchBehaviour } from './BatchBehaviour';
import { ObjectArchive } from './ObjectArchive';
import type { StoredFile } from './ObjectArchive';
import { parseMultipart, textIn } from './parseMultipart';
import type { FormPart } from './parseMultipart';
import { asString, isObject } from '../json';

export interface EndpointRequest {
  readonly vendor: VendorName;
  readonly method: string;
  readonly query: Readonly<Record<string, string>>;
  readonly contentType: string;
  readonly bytes: Buffer;
  /** The URL of the simulator, without a path. */
  readonly origin: string;
  readonly batches: BatchBehaviour;
  /** What the vendor answers to a request of a batch. */
  readonly answer: (
    wire: WireName,
    request: { readonly model?: string; readonly body: JsonObject },
  ) => { readonly status: number; readonly body: JsonObject };
}

export type Rendered = RenderedResponse | Rejection;

const PURPOSES = new Set(['assistants', 'batch', 'fine-tune', 'vision', 'user_data', 'evals']);

export function createFile(request: EndpointRequest, archive: ObjectArchive): Rendered {
  const { vendor } = request;
  const parts = parseMultipart(request.contentType, request.bytes);
  if (parts === undefined) return reject('Could not parse multipart form');
  if (vendor === 'google') return storeGeminiFile(parts, archive);
  const file = parts.find(({ name, filename }) => name === 'file' && filename !== undefined);
  if (file === undefined) return reject("'file' is a required property", { param: 'file' });
  if (vendor === 'anthropic')
    return storeFile(vendor, archive, file.bytes, {
      id: `file_${randomAlphanumeric(24)}`,
      type: 'file',
      filename: file.filename,
      mime_type: 'text/plain',
      size_bytes: file.bytes.length,
      created_at: new Date().toISOString(),
      downloadable: false,
    });
  const purpose = textIn(parts, 'purpose');
  if (purpose === undefined || !PURPOSES.has(purpose))
    return reject(`'${purpose ?? ''}' is not one of ['assistants', 'batch', …] - 'purpose'`, { param: 'purpose' });
  return storeFile(vendor, archive, file.bytes, openAIFile(file.bytes, file.filename ?? 'file', purpose));
}

/** https://ai.google.dev/api/files#method:-media.upload */
function storeGeminiFile([facts, content]: readonly FormPart[], archive: ObjectArchive): Rendered {
  if (facts === undefined || content === undefined) return reject('Multipart body must have two parts.');
  const named: unknown = JSON.parse(facts.bytes.toString());
  const file = isObject(named) && isObject(named.file) ? named.file : {};
  const stored = geminiFile(content.bytes, asString(file.displayName));
  archive.files.set(ObjectArchive.key('google', stored.name), { facts: stored, bytes: content.bytes });
  return renderJson(200, { file: stored });
}

export function geminiFile(bytes: Buffer, displayName: string): JsonObject & { readonly name: string } {
  const name = `files/${randomAlphanumeric(12).toLowerCase()}`;
  const createTime = new Date().toISOString();
  return {
    name,
    displayName,
    mimeType: 'application/jsonl',
    sizeBytes: String(bytes.length),
    createTime,
    state: 'ACTIVE',
  };
}

export function openAIFile(bytes: Buffer, filename: string, purpose: string): JsonObject & { readonly id: string } {
  return {
    id: `file-${randomAlphanumeric(22)}`,
    object: 'file',
    bytes: bytes.length,
    created_at: Math.floor(Date.now() / 1_000),
    filename,
    purpose,
    status: 'processed',
  };
}

export function storeFile(
  vendor: VendorName,
  archive: ObjectArchive,
  bytes: Buffer,
  facts: JsonObject & { readonly id: string },
): RenderedResponse {
  archive.files.set(ObjectArchive.key(vendor, facts.id), { facts, bytes });
  return renderJson(200, facts);
}

export function listFiles({ vendor, query }: EndpointRequest, archive: ObjectArchive): RenderedResponse {
  const all = ObjectArchive.listed(archive.files, vendor).map(({ facts }) => facts);
  if (vendor === 'anthropic') {
    const start = Number(query['page']?.slice('page_'.length) ?? 0);
    const limit = Number(query['limit'] ?? 20);
    const next = start + limit < all.length ? `page_${start + limit}` : null;
    return renderJson(200, { data: all.slice(start, start + limit), next_page: next });
  }
  // Groq's list has no pages.
  if (vendor === 'groq') return renderJson(200, { object: 'list', data: all });
  return renderJson(200, pageAfter(all, query, 10_000));
}

export function pageAfter(
  all: readonly JsonObject[],
  query: Readonly<Record<string, string>>,
  defaultLimit: number,
): JsonObject {
  const start = query['after'] === undefined ? 0 : all.findIndex(({ id }) => id === query['after']) + 1;
  const limit = Number(query['limit'] ?? defaultLimit);
  const data = all.slice(start, start + limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + limit < all.length,
  };
}

export function readFile(request: EndpointRequest, id: string, part: string, archive: ObjectArchive): Rendered {
  const { vendor, method } = request;
  const key = ObjectArchive.key(vendor, id);
  const file: StoredFile | undefined = archive.files.get(key);
  if (file === undefined) return reject(`No such File object: ${id}`, { status: 404, param: 'id' });
  if (method === 'DELETE') {
    archive.files.delete(key);
    return renderJson(
      200,
      vendor === 'anthropic' ? { id, type: 'file_deleted' } : { id, object: 'file', deleted: true },
    );
  }
  if (part === '') return renderJson(200, file.facts);
  if (vendor === 'anthropic' && file.facts.downloadable !== true)
    return reject('File is not downloadable. Only files created by tools can be downloaded.');
  return {
    status: 200,
    headers: {
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename="${String(file.facts.filename)}"`,
      'content-length': String(file.bytes.length),
    },
    frames: chunksOf(file.bytes),
  };
}

const CHUNK = 64 * 1024;

function chunksOf(bytes: Buffer): readonly Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / CHUNK) }, (_, index) =>
    bytes.subarray(index * CHUNK, (index + 1) * CHUNK),
  );
}
