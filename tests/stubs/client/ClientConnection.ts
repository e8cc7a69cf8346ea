/**
 * A browser's DDP connection (packages/ddp-client, 3.4): what `applyAsync` resolves to, methods that wait or are not
 * repeated, subscriptions, and the reconnect, after which methods in flight are sent again and the documents are
 * replaced at once.
 */
import { EJSON } from '../meteor/ejson';
import type { Fields } from '../server/MemoryCollection';
import { MeteorError } from '../server/MeteorError';
import type { LocalCollection } from './LocalCollection';
import { Tracker } from './tracker';

export interface ApplyOptions {
  readonly wait?: boolean;
  readonly noRetry?: boolean;
  readonly returnServerResultPromise?: boolean;
  readonly onResultReceived?: (error: MeteorError | undefined, result: unknown) => void;
}
type ResultCallback = (error: MeteorError | undefined, result?: unknown) => void;

export interface DdpSocket {
  send(text: string): void;
  close(): void;
}
/** Set by the test before the page's script runs. */
export type OpenDdpSocket = (handlers: { onMessage(text: string): void; onClose(): void }) => DdpSocket;
declare global {
  interface Window {
    openDdpSocket: OpenDdpSocket;
  }
}

interface Method {
  readonly id: string;
  readonly name: string;
  readonly args: readonly unknown[];
  readonly options: ApplyOptions;
  readonly callback: ResultCallback;
  isSent: boolean;
}
interface Subscription {
  readonly id: string;
  readonly name: string;
  readonly params: readonly unknown[];
  readonly callbacks: { onReady?(): void; onStop?(error?: MeteorError): void };
  readonly dependency: InstanceType<typeof Tracker.Dependency>;
  isReady: boolean;
  isInactive: boolean;
}

const DATA = ['added', 'changed', 'removed'];
/** Milliseconds for which Meteor buffers documents at most before it applies them together. */
const BUFFER_MS = 5;

export class ClientConnection {
  readonly onReconnect: (() => void)[] = [];
  private readonly stores = new Map<string, LocalCollection>();
  private readonly updatesForUnknownStores = new Map<string, Fields[]>();
  private readonly subscriptions = new Map<string, Subscription>();
  private methods: Method[] = [];
  private readonly statusDependency = new Tracker.Dependency();
  private readonly userDependency = new Tracker.Dependency();
  private statusName: 'connecting' | 'connected' | 'waiting' = 'connecting';
  private user: string | null = null;
  private socket: DdpSocket | undefined;
  private buffered: Fields[] = [];
  private isFlushScheduled = false;
  private quiescence: { readonly subscriptions: Set<string>; readonly methods: Set<string> } | undefined;
  private lastId = 0;

  constructor() {
    setTimeout(() => this.open(), 0);
  }

  status(): { readonly connected: boolean; readonly status: 'connecting' | 'connected' | 'waiting' } {
    this.statusDependency.depend();
    return { connected: this.statusName === 'connected', status: this.statusName };
  }

  userId(): string | null {
    this.userDependency.depend();
    return this.user;
  }

  setUserId(userId: string | null): void {
    if (this.user === userId) return;
    this.user = userId;
    this.userDependency.changed();
  }

  registerStore(name: string, store: LocalCollection): void {
    this.stores.set(name, store);
    store.apply(this.updatesForUnknownStores.get(name) ?? [], false);
    this.updatesForUnknownStores.delete(name);
  }

  /** Without `returnServerResultPromise` or a callback, it resolves to undefined at once and only logs errors. */
  async applyAsync(
    name: string,
    args: readonly unknown[],
    options: ApplyOptions = {},
    callback?: ResultCallback,
  ): Promise<unknown> {
    const copy = EJSON.clone(args);
    await Promise.resolve();
    if (callback !== undefined) {
      this.addMethod(name, copy, options, callback);
      return undefined;
    }
    if (options.returnServerResultPromise !== true) {
      this.addMethod(name, copy, options, (error) => {
        if (error !== undefined) console.debug(`Error invoking Method '${name}'`, error);
      });
      return undefined;
    }
    return new Promise((resolve, reject) =>
      this.addMethod(name, copy, options, (error, result) => (error === undefined ? resolve(result) : reject(error))),
    );
  }

  callAsync(name: string, ...args: readonly unknown[]): Promise<unknown> {
    if (typeof args.at(-1) === 'function') throw new Error('Meteor.callAsync() does not accept a callback.');
    return this.applyAsync(name, args, { returnServerResultPromise: true });
  }

  /** A computation that reruns with the same arguments keeps its subscription. */
  subscribe(name: string, ...args: unknown[]): { ready(): boolean; stop(): void; readonly subscriptionId: string } {
    const callbacks = isCallbacks(args.at(-1)) ? (args.pop() as Subscription['callbacks']) : {};
    const reusable = [...this.subscriptions.values()].find(
      (one) => one.isInactive && one.name === name && EJSON.equals(one.params, args),
    );
    const subscription = reusable ?? {
      id: this.nextId(),
      name,
      params: EJSON.clone(args),
      callbacks,
      dependency: new Tracker.Dependency(),
      isReady: false,
      isInactive: false,
    };
    subscription.isInactive = false;
    if (reusable === undefined) {
      this.subscriptions.set(subscription.id, subscription);
      this.send({ msg: 'sub', id: subscription.id, name, params: args });
    }
    const handle = {
      subscriptionId: subscription.id,
      ready: (): boolean => {
        if (!this.subscriptions.has(subscription.id)) return false;
        subscription.dependency.depend();
        return subscription.isReady;
      },
      stop: (): void => {
        if (!this.subscriptions.delete(subscription.id)) return;
        this.send({ msg: 'unsub', id: subscription.id });
        if (subscription.isReady) subscription.dependency.changed();
        subscription.callbacks.onStop?.();
      },
    };
    if (Tracker.active)
      Tracker.onInvalidate(() => {
        subscription.isInactive = true;
        Tracker.afterFlush(() => {
          if (subscription.isInactive) handle.stop();
        });
      });
    return handle;
  }

  private addMethod(name: string, args: readonly unknown[], options: ApplyOptions, callback: ResultCallback): void {
    this.methods.push({ id: this.nextId(), name, args, options, callback, isSent: false });
    this.sendMethods();
  }

  /** A method with `wait` is sent alone: after all before it, and before all after it. */
  private sendMethods(): void {
    for (const [index, method] of this.methods.entries()) {
      if (index > 0 && (method.options.wait === true || this.methods[index - 1]?.options.wait === true)) return;
      if (method.isSent || this.socket === undefined) continue;
      method.isSent = true;
      this.send({ msg: 'method', id: method.id, method: method.name, params: method.args });
    }
  }

  private open(): void {
    const socket = window.openDdpSocket({
      onMessage: (text) => this.receive(EJSON.parse(text) as Fields),
      onClose: () => {
        if (this.socket !== socket) return;
        this.socket = undefined;
        this.setStatus('waiting');
        setTimeout(() => this.open(), 20);
      },
    });
    const isReconnect = this.lastSocket !== undefined;
    this.socket = socket;
    this.lastSocket = socket;
    this.setStatus('connected');
    if (isReconnect) this.resume();
    else this.sendMethods();
    for (const { id, name, params } of this.subscriptions.values()) this.send({ msg: 'sub', id, name, params });
  }
  private lastSocket: DdpSocket | undefined;

  private resume(): void {
    const failed = this.methods.filter((method) => method.isSent && method.options.noRetry === true);
    this.methods = this.methods.filter((method) => !failed.includes(method));
    for (const method of failed)
      method.callback(
        new MeteorError('invocation-failed', 'Method invocation might have failed due to dropped connection.'),
      );
    const others = this.methods.splice(0);
    for (const method of others) method.isSent = false;
    for (const callback of this.onReconnect) callback();
    // Meteor sends no method while another, such as the login, is on its way into the queue.
    queueMicrotask(() => queueMicrotask(() => this.sendAgain(others)));
  }

  private sendAgain(others: readonly Method[]): void {
    this.methods.push(...others);
    this.buffered = [];
    this.quiescence = {
      subscriptions: new Set([...this.subscriptions.values()].filter((one) => one.isReady).map(({ id }) => id)),
      methods: new Set(this.methods.map(({ id }) => id)),
    };
    this.sendMethods();
    this.applyAfterQuiescence();
  }

  private receive(message: Fields): void {
    const id = String(message.id);
    if (DATA.includes(String(message.msg))) {
      this.buffered.push(message);
      this.scheduleFlush();
    } else if (message.msg === 'ready') for (const sub of message.subs as readonly string[]) this.becomeReady(sub);
    else if (message.msg === 'nosub') this.end(id, message.error);
    else if (message.msg === 'result') this.finish(id, message);
  }

  private becomeReady(id: string): void {
    this.quiescence?.subscriptions.delete(id);
    this.applyAfterQuiescence();
    this.flushBuffered();
    const subscription = this.subscriptions.get(id);
    if (subscription === undefined || subscription.isReady) return;
    subscription.isReady = true;
    subscription.callbacks.onReady?.();
    subscription.dependency.changed();
  }

  private end(id: string, error: unknown): void {
    this.quiescence?.subscriptions.delete(id);
    this.applyAfterQuiescence();
    this.flushBuffered();
    const subscription = this.subscriptions.get(id);
    if (subscription === undefined) return;
    this.subscriptions.delete(id);
    if (subscription.isReady) subscription.dependency.changed();
    subscription.callbacks.onStop?.(error === undefined ? undefined : toMeteorError(error));
  }

  private finish(id: string, { error, result }: Fields): void {
    const method = this.methods.find((one) => one.id === id);
    if (method === undefined) return;
    this.methods = this.methods.filter((one) => one !== method);
    const failure = error === undefined ? undefined : toMeteorError(error);
    method.options.onResultReceived?.(failure, result);
    this.quiescence?.methods.delete(id);
    this.applyAfterQuiescence();
    this.flushBuffered();
    method.callback(failure, result);
    this.sendMethods();
  }

  private scheduleFlush(): void {
    if (this.isFlushScheduled) return;
    this.isFlushScheduled = true;
    setTimeout(() => {
      this.isFlushScheduled = false;
      this.flushBuffered();
    }, BUFFER_MS);
  }

  private flushBuffered(): void {
    if (this.quiescence === undefined) this.applyBuffered(false);
  }

  private applyAfterQuiescence(): void {
    const { quiescence } = this;
    if (quiescence === undefined || quiescence.subscriptions.size + quiescence.methods.size > 0) return;
    this.quiescence = undefined;
    this.applyBuffered(true);
  }

  private applyBuffered(isReset: boolean): void {
    const byCollection = new Map<string, Fields[]>(isReset ? [...this.stores.keys()].map((name) => [name, []]) : []);
    for (const message of this.buffered.splice(0)) {
      const name = String(message.collection);
      byCollection.set(name, [...(byCollection.get(name) ?? []), message]);
    }
    for (const [name, messages] of byCollection) {
      const store = this.stores.get(name);
      if (store === undefined)
        this.updatesForUnknownStores.set(name, [...(this.updatesForUnknownStores.get(name) ?? []), ...messages]);
      else store.apply(messages, isReset);
    }
  }

  private setStatus(status: 'connected' | 'waiting'): void {
    this.statusName = status;
    this.statusDependency.changed();
  }

  private send(message: Fields): void {
    this.socket?.send(EJSON.stringify(message));
  }

  private nextId(): string {
    this.lastId += 1;
    return String(this.lastId);
  }
}

function isCallbacks(value: unknown): boolean {
  if (typeof value === 'function') throw new Error('This stub takes callbacks of a subscription as an object.');
  return typeof value === 'object' && value !== null && ('onReady' in value || 'onStop' in value);
}

function toMeteorError(error: unknown): MeteorError {
  const { error: code, reason, details } = error as { error: string | number; reason?: string; details?: unknown };
  return new MeteorError(code, reason, details);
}
