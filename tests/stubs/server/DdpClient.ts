/**
 * A DDP client for tests: calls methods, subscribes, and stores the documents that it
 * receives.
 */
import { overWire } from '../meteor/ejson';
import type { Connection } from './contexts';
import { DdpSession } from './DdpSession';
import type { ConnectionOptions } from './DdpSession';
import type { Doc, Fields } from './MemoryCollection';
import { MeteorError } from './MeteorError';

export interface ClientSubscription {
  readonly id: string;
  /** Resolves when the server sends `ready`; rejects if the subscription ends before. */
  readonly ready: Promise<void>;
  /** Resolves when the server has ended it. */
  readonly ended: Promise<MeteorError | undefined>;
  stop(): void;
}

export class DdpClient {
  /** Everything the server sent, in order. */
  readonly messages: Fields[] = [];
  private readonly session: DdpSession;
  private readonly collections = new Map<string, Map<string, Fields>>();
  private readonly waiting = new Map<string, (message: Fields) => void>();
  /** Methods for which `updated` has not arrived. */
  private readonly writing = new Map<string, () => void>();
  private lastId = 0;

  constructor(options: ConnectionOptions = {}) {
    this.session = new DdpSession(options, (message) => this.receive(message));
  }

  get connection(): Connection {
    return this.session.connection;
  }

  /** Settles, like ddp-client, when the client has received both `result` and `updated`, which come in either order. */
  async callAsync(method: string, ...params: readonly unknown[]): Promise<unknown> {
    const id = this.nextId();
    const updated = new Promise<void>((resolve) => this.writing.set(id, resolve));
    const result = new Promise<Fields>((resolve) => this.waiting.set(id, resolve));
    this.session.call(id, method, sent(params));
    const [message] = await Promise.all([result, updated]);
    if (message.error !== undefined) throw errorFrom(message.error);
    return message.result;
  }

  subscribe(name: string, ...params: readonly unknown[]): ClientSubscription {
    const id = this.nextId();
    let end: (error: MeteorError | undefined) => void;
    const ended = new Promise<MeteorError | undefined>((resolve) => (end = resolve));
    const ready = new Promise<void>((resolve, reject) => {
      this.waiting.set(id, (message) => {
        if (message.msg === 'ready') {
          resolve();
          return;
        }
        this.waiting.delete(id);
        const error = message.error === undefined ? undefined : errorFrom(message.error);
        reject(error ?? new Error(`Subscription "${name}" ended.`));
        end(error);
      });
    });
    // A test that does not wait for it must not get an unhandled rejection.
    ready.catch(() => undefined);
    this.session.subscribe(id, name, sent(params));
    return { id, ready, ended, stop: () => this.session.unsubscribe(id) };
  }

  documents(collection: string): Doc[] {
    return [...(this.collections.get(collection) ?? [])].map(([id, fields]) => ({ _id: id, ...fields }));
  }

  close(): void {
    this.session.close();
  }

  private nextId(): string {
    this.lastId += 1;
    return String(this.lastId);
  }

  private receive(message: Fields): void {
    this.messages.push(message);
    switch (message.msg) {
      case 'added':
      case 'changed':
      case 'removed':
        this.apply(message);
        return;
      case 'ready':
        for (const id of message.subs as readonly string[]) this.waiting.get(id)?.(message);
        return;
      case 'updated':
        for (const id of message.methods as readonly string[]) {
          this.writing.get(id)?.();
          this.writing.delete(id);
        }
        return;
      case 'result':
        this.waiting.get(String(message.id))?.(message);
        this.waiting.delete(String(message.id));
        return;
      default:
        this.waiting.get(String(message.id))?.(message);
    }
  }

  private apply({ msg, collection, id, fields, cleared }: Fields): void {
    const name = String(collection);
    const documents = this.collections.get(name) ?? new Map<string, Fields>();
    this.collections.set(name, documents);
    const current = documents.get(String(id));
    if ((msg === 'added') === (current !== undefined))
      throw new Error(
        `The server sent "${String(msg)}" for ${name}/${String(id)}, which ${current === undefined ? 'does not exist' : 'already exists'}.`,
      );
    if (msg === 'removed') {
      documents.delete(String(id));
      return;
    }
    const next = { ...current, ...(fields as Fields | undefined) };
    documents.set(
      String(id),
      Object.fromEntries(
        Object.entries(next).filter(([key]) => !((cleared as readonly string[] | undefined) ?? []).includes(key)),
      ),
    );
  }
}

function sent(params: readonly unknown[]): readonly unknown[] {
  // The cast is safe: encoding preserves arrays.
  return overWire(params) as readonly unknown[];
}

function errorFrom(error: unknown): MeteorError {
  const { error: code, reason, details } = error as { error: string | number; reason?: string; details?: unknown };
  return new MeteorError(code, reason, details);
}
