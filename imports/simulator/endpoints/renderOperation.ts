/** Responds to the endpoints of files, batches, images and audio. */
import { reject } from '../validation/Rejection';
import type { ObjectArchive } from './ObjectArchive';
import { createBatch, createGeminiBatch, createMessageBatch, listBatches, readBatch } from './renderBatches';
import { createFile, listFiles, readFile } from './renderFiles';
import type { EndpointRequest, Rendered } from './renderFiles';
import { renderMedia } from './renderMedia';
import type { MediaTask } from './renderMedia';

export type EndpointOperation =
  | { readonly kind: 'files'; readonly id?: string; readonly part: string }
  | { readonly kind: 'batches'; readonly id?: string; readonly part: string; readonly model?: string }
  | { readonly kind: 'media'; readonly task: MediaTask; readonly model?: string };

export function renderOperation(
  operation: EndpointOperation,
  request: EndpointRequest,
  archive: ObjectArchive,
): Rendered {
  if (operation.kind === 'media') return renderMedia(operation.task, operation.model, request);
  const { kind, id, part } = operation;
  if (id !== undefined) return (kind === 'files' ? readFile : readBatch)(request, id, part, archive);
  if (request.method === 'GET') return (kind === 'files' ? listFiles : listBatches)(request, archive);
  if (request.method !== 'POST') return reject(`Unknown request URL: ${request.method}.`, { status: 404 });
  if (operation.kind === 'files') return createFile(request, archive);
  if (request.vendor === 'google') return createGeminiBatch(request, operation.model ?? '', archive);
  return (request.vendor === 'anthropic' ? createMessageBatch : createBatch)(request, archive);
}
