/**
 * Threads, containers, files and batches that vendors store. They work only there, and only for the user who created
 * them, because users may share a key. https://platform.claude.com/docs/en/api/beta/messages/create
 */
import type { EventBatch, EventBatches } from '../../business/ai/domain/EventBatches';
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
   * @param wire of the provider that will serve the request
   * @throws HttpError for a thread that another wire would lose, and for an object that the caller did not create
   */
  async check(
    principal: ApiPrincipal,
    { vendor, input, tools }: GenerateOptions,
    wire: WireName | undefined,
  ): Promise<void> {
    const { thread, container } = vendor?.anthropic ?? {};
    if (wire !== WIRE) {
      if (isObject(thread)) throw new HttpError(400, NO_THREADS, { errorCode: 'thread_unsupported_request' });
      await this.assertFiles(principal, findFileIds(input, isFileReference));
      await this.checkFilesIn(
        principal,
        tools?.filter(({ type }) => type !== 'function'),
      );
      return;
    }
    await this.checkStored(principal, { thread, container });
    await this.assertFiles(principal, findFileIds(input, isFileReference));
  }

  /**
   * Admins own the key, so they may use every object of the vendor.
   * @throws HttpError for a thread or a container that the caller did not create
   */
  async checkStored(
    principal: ApiPrincipal,
    { thread, container }: { readonly thread?: unknown; readonly container?: unknown },
  ): Promise<void> {
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
  }

  /**
   * @param content in the vendor's format, where any file that is named may be read
   * @throws HttpError for a file that the caller did not create
   */
  checkFilesIn(principal: ApiPrincipal, content: unknown): Promise<void> {
    return this.assertFiles(
      principal,
      findFileIds(content, () => true),
    );
  }

  private async assertFiles(principal: ApiPrincipal, ids: readonly string[]): Promise<void> {
    for (const id of new Set(ids)) await this.assertOwner(principal, 'File', id, 'file_id');
  }

  /**
   * @param noun of the object, for the error
   * @returns the provider by which it was created, if that is known
   * @throws HttpError for an object that the caller did not create
   */
  async assertOwner(principal: ApiPrincipal, noun: string, id: string, path?: string): Promise<string | undefined> {
    const facts = await this.store.find(principal.userId, id);
    if (facts !== undefined || hasScope(principal, 'admin')) return facts?.providerId;
    throw new HttpError(404, `${noun} "${shortened(id)}" not found.`, path === undefined ? {} : { path });
  }

  /** Records objects that their vendor stores until they are deleted. */
  keep({ userId }: ApiPrincipal, ids: readonly string[], providerId: string): Promise<void> {
    return ids.length === 0 ? Promise.resolve() : this.store.record(userId, ids, { providerId, isKept: true });
  }

  forget({ userId }: ApiPrincipal, id: string): Promise<void> {
    return this.store.remove(userId, [id]);
  }

  /** The objects among `ids` that the caller may see. */
  async visibleAmong(principal: ApiPrincipal, ids: readonly string[]): Promise<ReadonlySet<string>> {
    return hasScope(principal, 'admin') ? new Set(ids) : this.store.ownedAmong(principal.userId, ids);
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
  recordStream(principal: ApiPrincipal, options: GenerateOptions, events: EventBatches): EventBatches {
    return new RecordedEvents(events, (response) => this.record(principal, options, response));
  }
}

/** Holds the end of a stream back until the objects of its response are recorded. */
class RecordedEvents implements EventBatches {
  private readonly events: EventBatches;
  private readonly record: (response: LLMResponse) => Promise<void>;
  private held: EventBatch = [];

  constructor(events: EventBatches, record: (response: LLMResponse) => Promise<void>) {
    this.events = events;
    this.record = record;
  }

  async read(): Promise<EventBatch | undefined> {
    for (;;) {
      const completed = this.held.find((event) => event.type === 'response.completed');
      if (completed !== undefined) {
        await this.record(completed.response);
        return this.takeHeld();
      }
      const batch = await this.events.read();
      if (batch === undefined) return this.held.length === 0 ? undefined : this.takeHeld();
      const events = this.held.length === 0 ? batch : [...this.held, ...batch];
      const end = events.findIndex(endsMessage);
      if (end === -1) return events;
      this.held = events.slice(end);
      if (end > 0) return events.slice(0, end);
    }
  }

  close(): Promise<void> {
    return this.events.close();
  }

  private takeHeld(): EventBatch {
    const { held } = this;
    this.held = [];
    return held;
  }
}

/** From here on, a client may refer to the objects. */
function endsMessage(event: ResponseStreamEvent): boolean {
  return event.type === 'response.completed' || (event.type === 'wire.message' && event.event === 'message_stop');
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
  const named = [value.file_id, ...(isList(value.file_ids) ? value.file_ids : [])];
  const own = matches(value) ? named.filter((id): id is string => typeof id === 'string' && id !== '') : [];
  return [...own, ...Object.values(value).flatMap((each) => findFileIds(each, matches, depth + 1))];
}

function shortened(id: string): string {
  return id.slice(0, 100);
}
