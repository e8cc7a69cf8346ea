/**
 * Threads, containers and files that Anthropic stores. They work only there, and only for the user who created them,
 * because users may share a key. https://platform.claude.com/docs/en/api/beta/messages/create
 */
import { isList, isObject } from '../../business/ai/domain/json';
import type { VendorObjectStore } from '../../business/ai/domain/interfaces/VendorObjectStore';
import type { GenerateOptions } from '../../business/ai/domain/types/LLMTypes';
import type { LLMResponse } from '../../business/ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../business/ai/domain/types/StreamEvents';
import type { WireName } from '../../business/ai/domain/types/VendorTypes';
import { hasScope } from '../auth/ApiPrincipal';
import type { ApiPrincipal } from '../auth/ApiPrincipal';
import { HttpError } from '../http/HttpError';

const WIRE = 'anthropic_messages';

export class VendorObjectGuard {
  private readonly store: VendorObjectStore;

  constructor(store: VendorObjectStore) {
    this.store = store;
  }

  /**
   * Admins own the key, so they may use every object of the vendor.
   * @param wire of the provider that will serve the request
   * @throws HttpError for a thread that another wire would lose, and for an object that the caller did not create
   */
  async check(principal: ApiPrincipal, { vendor, input }: GenerateOptions, wire: WireName | undefined): Promise<void> {
    const { thread, container } = vendor?.anthropic ?? {};
    if (wire !== WIRE) {
      if (isObject(thread)) throw new HttpError(400, NO_THREADS, { errorCode: 'thread_unsupported_request' });
      return;
    }
    if (hasScope(principal, 'admin')) return;
    const { userId } = principal;
    if (isObject(thread) && typeof thread.previous_message_id === 'string') {
      const id = thread.previous_message_id;
      if (!(await this.store.isOwner(userId, id)))
        throw new HttpError(404, `No thread continues from message "${shortened(id)}".`, {
          path: 'thread.previous_message_id',
          errorCode: 'thread_not_found',
        });
    }
    const containerId = idOf(container);
    if (containerId !== undefined && !(await this.store.isOwner(userId, containerId)))
      throw new HttpError(404, `Container "${shortened(containerId)}" not found.`, { path: 'container' });
    for (const fileId of new Set(findFileIds(input, isFileReference)))
      if (!(await this.store.isOwner(userId, fileId)))
        throw new HttpError(404, `File "${shortened(fileId)}" not found.`, { path: 'file_id' });
  }

  /** Records the objects that a response has created. */
  async record({ userId }: ApiPrincipal, { vendor }: GenerateOptions, response: LLMResponse): Promise<void> {
    if (response.vendor.wire !== WIRE) return;
    const containerId = idOf(response.vendor.fields?.container);
    const ids = [
      ...(isObject(vendor?.anthropic?.thread) ? [response.id] : []),
      ...(containerId === undefined ? [] : [containerId]),
      ...findFileIds(response.output, () => true),
    ];
    if (ids.length > 0) await this.store.record(userId, ids);
  }

  /** Records before the client learns that the message is complete, since it may refer to the objects at once. */
  async *recordStream(
    principal: ApiPrincipal,
    options: GenerateOptions,
    events: AsyncIterable<ResponseStreamEvent>,
  ): AsyncGenerator<ResponseStreamEvent, void, undefined> {
    let stop: ResponseStreamEvent | undefined;
    for await (const event of events) {
      if (event.type === 'wire.message' && event.event === 'message_stop') {
        stop = event;
        continue;
      }
      if (event.type === 'response.completed') await this.record(principal, options, event.response);
      if (stop !== undefined) yield stop;
      stop = undefined;
      yield event;
    }
    if (stop !== undefined) yield stop;
  }
}

const NO_THREADS =
  'The requested model has no threads. Send the entire conversation without "thread", or request a model of Anthropic.';

function idOf(container: unknown): string | undefined {
  const id = isObject(container) ? container.id : container;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/** Blocks that make the vendor read a file. In results of its own tools, an id is only mentioned. */
function isFileReference({ type }: { readonly type?: unknown }): boolean {
  return type === 'input_image' || type === 'input_file' || type === 'container_upload' || type === 'file';
}

/** Deeper values are not interpreted as content by any vendor. */
const MAX_DEPTH = 12;

function findFileIds(
  value: unknown,
  matches: (object: { readonly type?: unknown }) => boolean,
  depth = 0,
): readonly string[] {
  if (depth > MAX_DEPTH) return [];
  if (isList(value)) return value.flatMap((each) => findFileIds(each, matches, depth + 1));
  if (!isObject(value)) return [];
  const own = typeof value.file_id === 'string' && value.file_id !== '' && matches(value) ? [value.file_id] : [];
  return [...own, ...Object.values(value).flatMap((each) => findFileIds(each, matches, depth + 1))];
}

function shortened(id: string): string {
  return id.slice(0, 100);
}
