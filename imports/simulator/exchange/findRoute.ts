/** Finds the vendor, wire and operation that a request's URL addresses. */
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import { VENDORS } from '../../business/ai/domain/types/VendorTypes';
import type { VendorName, WireName } from '../../business/ai/domain/types/VendorTypes';
import { MEDIA_TASKS } from '../endpoints/renderMedia';
import type { MediaTask } from '../endpoints/renderMedia';
import type { EndpointOperation } from '../endpoints/renderOperation';
import { vendorProfile } from '../vendorProfiles';
import type { SchemaName } from '../vendorProfiles';

export type Operation =
  | {
      readonly kind: 'generate';
      readonly wire: WireName;
      /** From the URL; otherwise the body names it. */
      readonly model?: string;
      /** From the URL; otherwise the body decides. */
      readonly stream?: boolean;
      /** Streams as one JSON array instead of events. */
      readonly asArray?: boolean;
      readonly schema?: SchemaName;
    }
  | { readonly kind: 'count-tokens'; readonly wire: WireName; readonly model?: string }
  | { readonly kind: 'embed'; readonly model?: string }
  | EndpointOperation
  | { readonly kind: 'models'; readonly id?: string }
  | {
      readonly kind: 'stored-response';
      readonly id: string;
      readonly action: 'read' | 'delete' | 'cancel' | 'input-items';
    }
  | { readonly kind: 'cached-contents'; readonly id?: string }
  | { readonly kind: 'compact' };

export interface Route {
  readonly vendor: VendorName;
  /** Absent when the vendor has no such endpoint. */
  readonly operation?: Operation;
}

/** @returns undefined when the first segment is no vendor's prefix */
export function findRoute(
  method: string,
  pathname: string,
  query: Readonly<Record<string, string>>,
): Route | undefined {
  const [, prefix = '', ...rest] = pathname.replace(/\/{2,}/g, '/').split('/');
  const vendor = VENDORS.find((name) => vendorProfile(name).prefix === prefix);
  if (vendor === undefined) return undefined;
  const path = rest.map(decodeURIComponent).join('/');
  const operation =
    vendor === 'google'
      ? geminiOperation(method, path, query)
      : vendor === 'anthropic'
        ? anthropicOperation(method, path)
        : openaiOperation(vendor, method, path, query);
  return omitUndefined({ vendor, operation });
}

/**
 * OpenAI's paths under the roots that vendors put before them: `v1`, `openai/v1`, `openai/deployments/<name>`,
 * `models`.
 */
function openaiOperation(
  vendor: VendorName,
  method: string,
  path: string,
  query: Readonly<Record<string, string>>,
): Operation | undefined {
  const match = /^(?:openai\/)?(?:v1\/)?(?:deployments\/([^/]+)\/)?(?:models\/(?=chat\/))?(.*)$/.exec(path);
  const [, deployment, tail = ''] = match ?? [];
  // Azure's dated paths name their version (https://learn.microsoft.com/azure/ai-services/openai/reference).
  if (deployment !== undefined && (vendor !== 'azure_openai' || query['api-version'] === undefined)) return undefined;
  const { schemas } = vendorProfile(vendor);
  if (method === 'POST' && tail === 'chat/completions' && schemas.chat_completions !== undefined) {
    return omitUndefined({ kind: 'generate', wire: 'chat_completions', model: deployment });
  }
  if (method === 'POST' && tail === 'embeddings' && vendorProfile(vendor).hasEmbeddings)
    return omitUndefined({ kind: 'embed', model: deployment });
  const endpoint = endpointOperation(vendor, method, tail, deployment);
  if (endpoint !== undefined) return endpoint;
  if (method === 'GET' && /^models(\/|$)/.test(tail))
    return { kind: 'models', ...(tail === 'models' ? {} : { id: tail.slice('models/'.length) }) };
  if (schemas.responses === undefined || isBeforeResponses(query['api-version'])) return undefined;
  if (method === 'POST' && tail === 'responses') return { kind: 'generate', wire: 'responses' };
  if (method === 'POST' && tail === 'responses/compact') return { kind: 'compact' };
  if (method === 'POST' && tail === 'responses/input_tokens' && vendor === 'openai')
    return { kind: 'count-tokens', wire: 'responses' };
  const [, id, part] = /^responses\/([^/]+)(?:\/(cancel|input_items))?$/.exec(tail) ?? [];
  if (id === undefined) return undefined;
  if (method === 'POST' && part === 'cancel') return { kind: 'stored-response', id, action: 'cancel' };
  if (method === 'GET') return { kind: 'stored-response', id, action: part === 'input_items' ? 'input-items' : 'read' };
  return method === 'DELETE' && part === undefined ? { kind: 'stored-response', id, action: 'delete' } : undefined;
}

function endpointOperation(
  vendor: VendorName,
  method: string,
  tail: string,
  deployment: string | undefined,
): EndpointOperation | undefined {
  const { offers } = vendorProfile(vendor);
  const [, kind, id, part = ''] = /^(files|batches)(?:\/([^/]+)(\/content|\/cancel)?)?$/.exec(tail) ?? [];
  if ((kind === 'files' || kind === 'batches') && offers.includes('files')) return omitUndefined({ kind, part, id });
  const [group = ''] = tail.split('/');
  if (method !== 'POST' || !MEDIA_TASKS.includes(tail) || !offers.includes(group)) return undefined;
  // Listed above.
  return omitUndefined({ kind: 'media', task: tail as MediaTask, model: deployment });
}

/** Azure serves Responses from its version 2025-03-01-preview on. */
function isBeforeResponses(apiVersion = ''): boolean {
  return /^\d{4}-/.test(apiVersion) && apiVersion < '2025-03-01';
}

function anthropicOperation(method: string, path: string): Operation | undefined {
  if (method === 'POST' && path === 'v1/messages') return { kind: 'generate', wire: 'anthropic_messages' };
  if (method === 'POST' && path === 'v1/messages/count_tokens')
    return { kind: 'count-tokens', wire: 'anthropic_messages' };
  const [, collection, objectId, part = ''] =
    /^v1\/(files|messages\/batches)(?:\/([^/]+)(\/content|\/results|\/cancel)?)?$/.exec(path) ?? [];
  if (collection !== undefined)
    return omitUndefined({ kind: collection === 'files' ? 'files' : 'batches', part, id: objectId });
  if (method === 'GET' && /^v1\/models(\/|$)/.test(path))
    return { kind: 'models', ...(path === 'v1/models' ? {} : { id: path.slice('v1/models/'.length) }) };
  return undefined;
}

/** https://ai.google.dev/api/batch-api, https://ai.google.dev/api/files */
function geminiBatchOperation(method: string, path: string): EndpointOperation | undefined {
  const [, model] = /^v1beta\/models\/([^:/]+):batchGenerateContent$/.exec(path) ?? [];
  if (model !== undefined && method === 'POST') return { kind: 'batches', part: '', model };
  const [, kind, id, verb = ''] =
    /^(?:upload\/|download\/)?v1beta\/(files|batches)(?:\/([\w-]+)(:download|:cancel)?)?$/.exec(path) ?? [];
  if (kind === undefined || (kind === 'batches' && id === undefined && method !== 'GET')) return undefined;
  return omitUndefined({
    kind: kind === 'files' ? 'files' : 'batches',
    part: verb === ':download' ? '/content' : verb === ':cancel' ? '/cancel' : '',
    id: id === undefined ? undefined : `${kind}/${id}`,
  });
}

/** https://ai.google.dev/api/interactions-api */
function interactionsOperation(method: string, path: string): Operation | undefined {
  const [match, id, cancel] = /^v1(?:beta)?\/interactions(?:\/([^/]+)(\/cancel)?)?$/.exec(path) ?? [];
  if (match === undefined) return undefined;
  if (id === undefined) return method === 'POST' ? { kind: 'generate', wire: 'interactions' } : undefined;
  if (cancel !== undefined) return method === 'POST' ? { kind: 'stored-response', id, action: 'cancel' } : undefined;
  if (method === 'GET') return { kind: 'stored-response', id, action: 'read' };
  return method === 'DELETE' ? { kind: 'stored-response', id, action: 'delete' } : undefined;
}

/** The URLs of both the Gemini API and Vertex AI. */
function geminiOperation(method: string, path: string, query: Readonly<Record<string, string>>): Operation | undefined {
  const batched = geminiBatchOperation(method, path);
  if (batched !== undefined) return batched;
  const interaction = interactionsOperation(method, path);
  if (interaction !== undefined) return interaction;
  const [isCachedContents, cachedId] = /^v1beta\/cachedContents(?:\/([^/]+))?$/.exec(path) ?? [];
  if (isCachedContents !== undefined) return omitUndefined({ kind: 'cached-contents', id: cachedId });
  const [, project, resource = ''] =
    /^v1(?:beta1?|alpha)?\/(projects\/[^/]+\/locations\/[^/]+\/(?:publishers\/google\/)?)?(.*)$/.exec(path) ?? [];
  if (method === 'GET' && /^models(\/|$)/.test(resource))
    return { kind: 'models', ...(resource === 'models' ? {} : { id: resource.slice('models/'.length) }) };
  const [, model, verb] =
    /^(?:models|tunedModels)\/([^:]+):(generateContent|streamGenerateContent|countTokens|batchEmbedContents)$/.exec(
      resource,
    ) ?? [];
  if (method !== 'POST' || model === undefined) return undefined;
  if (verb === 'batchEmbedContents') return { kind: 'embed', model };
  if (verb === 'countTokens') return { kind: 'count-tokens', wire: 'gemini', model };
  const stream = verb === 'streamGenerateContent';
  return {
    kind: 'generate',
    wire: 'gemini',
    model,
    stream,
    asArray: stream && query.alt !== 'sse',
    schema: project === undefined ? 'gemini.generateContent' : 'vertex.generateContent',
  };
}
