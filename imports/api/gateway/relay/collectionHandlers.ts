/** Creates, lists, reads and deletes objects at their vendor, each for the user who created it only. */
import type { HttpRequest } from '../../http/HttpMessages';
import { LLMStreamError } from '../../../business/ai/domain/errors/LLMErrors';
import { isObject } from '../../../business/ai/domain/util/json';
import type { RelayRequest, RelayResponse } from '../../../business/ai/domain/types/RelayTypes';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { isVersion } from '../../../business/ai/infrastructure/converters/anthropic/request/headers';
import { HttpError } from '../../http/HttpError';
import type { RequestContext, RouteHandler } from '../../http/RequestContext';
import type { OwnedObject, VendorObjectGuard } from '../VendorObjectGuard';
import { sendRelayed, setHead, uploadOf } from './relayStreams';
import type { RelayProviders, RelayTarget } from './RelayProviders';
import { listOf } from './VendorCollection';
import type { VendorCollection } from './VendorCollection';

export interface CollectionPorts {
  readonly providers: RelayProviders;
  readonly vendorObjects: VendorObjectGuard;
  readonly maxBodyBytes: number;
}

/** The collection of a path, which two APIs may share. */
export type CollectionOf = (request: HttpRequest) => VendorCollection;

export function upload(collectionOf: CollectionOf, ports: CollectionPorts): RouteHandler {
  return async (context) => {
    const { request } = context;
    const collection = collectionOf(request);
    const target = await ports.providers.choose(context, collection.family);
    const { headers, body } = uploadOf(request, ports.maxBodyBytes);
    const shared = requestTo(context, collection);
    const sent = { ...shared, method: 'post' as const, headers: { ...shared.headers, ...headers }, body };
    await sendCreated(context, collection, target, await target.relay(sent), ports);
  };
}

export async function sendCreated(
  context: RequestContext,
  collection: VendorCollection,
  { row }: RelayTarget,
  relayed: RelayResponse,
  { vendorObjects }: CollectionPorts,
): Promise<void> {
  const created = await readObject(relayed);
  const { id } = created;
  if (typeof id === 'string') await vendorObjects.keep(context.principal, [id], row.id);
  await sendObject(context, collection, row.id, relayed, created, vendorObjects);
}

export function list(collectionOf: CollectionOf, ports: CollectionPorts): RouteHandler {
  return async (context) => {
    const { request, principal } = context;
    const collection = collectionOf(request);
    const target = await ports.providers.choose(context, collection.family);
    let shared = requestTo(context, collection);
    let isOwnAccount = false;
    const onSend: RelayRequest['onSend'] = (request) => {
      isOwnAccount = request.isOwnAccount;
      return Promise.resolve();
    };
    for (let pages = 1; ; pages += 1) {
      const relayed = await target.relay({ ...shared, method: 'get', onSend });
      const page = await readObject(relayed);
      const objects = listOf(page);
      const visible = await ports.vendorObjects.visibleAmong(principal, objects.map(idOf), isOwnAccount);
      const own = objects.filter((object) => visible.has(idOf(object)));
      const next = collection.nextPage(page, shared.query ?? {});
      if (own.length > 0 || next === undefined || pages === MAX_PAGES) {
        await keepRelated(context, collection, target.row.id, own, ports.vendorObjects);
        setHead(context, relayed);
        context.response.json(ownPage(page, own, collection, request));
        return;
      }
      // A page of other users' objects only.
      shared = { ...shared, query: { ...shared.query, ...next } };
    }
  };
}

/** Pages that are searched for objects of the caller. */
const MAX_PAGES = 100;

function ownPage(
  page: JsonObject,
  own: readonly JsonObject[],
  collection: VendorCollection,
  request: HttpRequest,
): JsonObject {
  const ids = {
    ...('first_id' in page ? { first_id: own[0]?.['id'] ?? null } : {}),
    ...('last_id' in page ? { last_id: own.at(-1)?.['id'] ?? null } : {}),
  };
  return { ...page, data: own.map((object) => collection.present?.(object, request) ?? object), ...ids };
}

/** @param action a path below the object, such as `cancel` */
export function act(
  collectionOf: CollectionOf,
  method: 'get' | 'post',
  action: string,
  ports: CollectionPorts,
): RouteHandler {
  return async (context) => {
    const collection = collectionOf(context.request);
    const { target, path, onSend } = await locate(context, collection, ports);
    const sent = { ...requestTo(context, collection), method, path: `${path}${action}`, onSend };
    const relayed = await target.relay(sent);
    await sendObject(context, collection, target.row.id, relayed, await readObject(relayed), ports.vendorObjects);
  };
}

/** @param part a path below the object, such as `content` */
export function download(collectionOf: CollectionOf, part: string, ports: CollectionPorts): RouteHandler {
  return async (context) => {
    const collection = collectionOf(context.request);
    const { target, path, onSend } = await locate(context, collection, ports);
    const shared = requestTo(context, collection);
    await sendRelayed(context, await target.relay({ ...shared, method: 'get', path: `${path}${part}`, onSend }));
  };
}

export function remove(collectionOf: CollectionOf, ports: CollectionPorts): RouteHandler {
  return async (context) => {
    const collection = collectionOf(context.request);
    const { id, target, path, onSend } = await locate(context, collection, ports);
    const relayed = await target.relay({ ...requestTo(context, collection), method: 'delete', path, onSend });
    const deleted = await readObject(relayed);
    await ports.vendorObjects.forget(context.principal, id);
    setHead(context, relayed);
    context.response.json(deleted);
  };
}

interface Located extends Pick<OwnedObject, 'onSend'> {
  readonly id: string;
  readonly target: RelayTarget;
  readonly path: string;
}

/** What is located may be nobody's: `onSend` refuses the request about it. */
async function locate(
  context: RequestContext,
  { family, noun, path }: VendorCollection,
  { providers, vendorObjects }: CollectionPorts,
): Promise<Located> {
  const id = String(context.request.params['id']);
  const { providerId, onSend } = await vendorObjects.locate(context.principal, noun, id);
  // Dots would address another path.
  if (/^\.{0,2}$/.test(id)) throw new HttpError(404, `${noun} not found.`);
  const target = await providers.choose(context, family, providerId);
  return { id, target, path: `${path}/${encodeURIComponent(id)}`, onSend };
}

async function sendObject(
  context: RequestContext,
  collection: VendorCollection,
  providerId: string,
  relayed: RelayResponse,
  object: JsonObject,
  vendorObjects: VendorObjectGuard,
): Promise<void> {
  await keepRelated(context, collection, providerId, [object], vendorObjects);
  setHead(context, relayed);
  context.response.json(collection.present?.(object, context.request) ?? object);
}

async function keepRelated(
  { principal }: RequestContext,
  { relatedIds }: VendorCollection,
  providerId: string,
  objects: readonly JsonObject[],
  vendorObjects: VendorObjectGuard,
): Promise<void> {
  const ids = objects.flatMap((object) => relatedIds?.(object) ?? []);
  await vendorObjects.keep(
    principal,
    ids.filter((id) => typeof id === 'string'),
    providerId,
  );
}

/** What every request to the vendor has. The client's own authorization is not among it. */
export function requestTo(
  { request, signal }: RequestContext,
  { family, path }: VendorCollection,
): Omit<RelayRequest, 'method'> {
  const query = Object.entries(request.query).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string' && !OWN_QUERY.has(entry[0]),
  );
  return {
    path,
    signal,
    ...(query.length === 0 ? {} : { query: Object.fromEntries(query) }),
    headers: family === 'anthropic' ? anthropicHeaders(request) : {},
  };
}

/** Parameters for the gateway itself. */
const OWN_QUERY: ReadonlySet<string> = new Set(['provider', 'key', 'api-version']);

function anthropicHeaders({ headers }: HttpRequest): Readonly<Record<string, string>> {
  const version = headers['anthropic-version'];
  const beta = headers['anthropic-beta'];
  return {
    ...(isVersion(version) ? { 'anthropic-version': version } : {}),
    ...(typeof beta === 'string' && /^[\w.,\- ]{1,1000}$/.test(beta) ? { 'anthropic-beta': beta } : {}),
  };
}

export async function readObject(relayed: RelayResponse): Promise<JsonObject> {
  const text = await relayed.text();
  try {
    const parsed: unknown = JSON.parse(text);
    if (isObject(parsed)) return parsed;
  } catch {
    // Reported below, without the body.
  }
  throw new LLMStreamError(`The vendor's response is no JSON object (${text.length} characters).`, {
    status: relayed.status,
    retryable: false,
  });
}

function idOf({ id }: JsonObject): string {
  return typeof id === 'string' ? id : '';
}
