/** The server's side of one client connection: processes messages in order, and holds subscriptions and the user. */
import { countAttempt } from '../meteor/ddp-rate-limiter';
import { overWire } from '../meteor/ejson';
import { Random } from '../meteor/random';
import type { Connection } from './contexts';
import type { Fields } from './MemoryCollection';
import { MergeBox } from './MergeBox';
import { MeteorError } from './MeteorError';
import { MethodInvocation, runMethod } from './MethodInvocation';
import { registry } from './registry';
import type { PublishHandler } from './registry';
import { Subscription } from './Subscription';
import type { SubscriptionHost } from './Subscription';
import { currentFence, WriteFence } from './WriteFence';

export interface ConnectionOptions {
  readonly userId?: string | null;
  readonly clientAddress?: string;
  readonly httpHeaders?: Readonly<Record<string, string>>;
}

export class DdpSession implements SubscriptionHost {
  readonly connection: Connection;
  userId: string | null;
  readonly view = new MergeBox((message) => this.send(message));
  private readonly deliver: (message: Fields) => void;
  private readonly subscriptions = new Map<string, RunningSubscription>();
  private readonly onClose: (() => void)[] = [];
  private lastTask: Promise<void> = Promise.resolve();
  private isClosed = false;

  /** @param deliver receives the messages for the client, as decoded from the wire */
  constructor(options: ConnectionOptions, deliver: (message: Fields) => void) {
    const { userId = null, clientAddress = '127.0.0.1', httpHeaders = {} } = options;
    this.userId = userId;
    this.deliver = deliver;
    this.connection = {
      id: Random.id(),
      clientAddress,
      httpHeaders,
      close: () => this.close(),
      onClose: (callback) => (this.isClosed ? callback() : this.onClose.push(callback)),
    };
    registry.sessions.add(this);
    for (const callback of registry.onConnection) callback(this.connection);
  }

  send(message: Fields): void {
    // The cast is safe: messages are objects.
    if (!this.isClosed) this.deliver(overWire(message) as Fields);
  }

  /** Runs a method call. The client's next message waits until it ends or calls `unblock()`. */
  call(id: string, method: string, params: readonly unknown[]): void {
    this.enqueue(async (unblock) => {
      const handler = registry.methods.get(method);
      const fence = new WriteFence(method, () => this.send({ msg: 'updated', methods: [id] }));
      registry.fences.push(fence);
      if (handler === undefined) {
        this.send({ msg: 'result', id, error: wireError(new MeteorError(404, `Method '${method}' not found`)) });
        fence.arm();
        return;
      }
      const invocation = new MethodInvocation({
        userId: this.userId,
        connection: this.connection,
        unblock,
        setUserId: (userId) => this.setUserId(userId),
      });
      try {
        this.limit('method', method);
        const result = await currentFence.run(fence, () =>
          runMethod(handler, invocation, params, `call to '${method}'`),
        );
        fence.arm();
        this.send({ msg: 'result', id, ...(result === undefined ? {} : { result }) });
      } catch (error) {
        fence.arm();
        this.send({ msg: 'result', id, error: wireError(safeError(error, `while invoking method '${method}'`)) });
      }
    });
  }

  subscribe(id: string, name: string, params: readonly unknown[]): void {
    this.enqueue(async (unblock) => {
      const handler = registry.publications.get(name);
      try {
        if (handler === undefined) throw new MeteorError(404, `Subscription '${name}' not found`);
        this.limit('subscription', name);
      } catch (error) {
        this.send({ msg: 'nosub', id, error: wireError(safeError(error, name)) });
        return;
      }
      await this.start(id, name, handler, params, unblock);
    });
  }

  unsubscribe(id: string): void {
    this.enqueue(async () => this.endSubscription(id));
  }

  endSubscription(id: string, error?: unknown): void {
    const running = this.subscriptions.get(id);
    if (running === undefined) return;
    this.subscriptions.delete(id);
    running.subscription.deactivate(true);
    this.send({
      msg: 'nosub',
      id,
      ...(error === undefined ? {} : { error: wireError(safeError(error, `from sub ${running.name} id ${id}`)) }),
    });
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    registry.sessions.delete(this);
    for (const { subscription } of this.subscriptions.values()) subscription.deactivate(false);
    this.subscriptions.clear();
    for (const callback of this.onClose.splice(0)) callback();
  }

  private enqueue(task: (unblock: () => void) => Promise<void>): void {
    this.lastTask = this.lastTask.then(
      () =>
        new Promise<void>((unblock, fail) => {
          if (this.isClosed) unblock();
          else task(unblock).then(unblock, fail);
        }),
    );
  }

  private async start(
    id: string,
    name: string,
    handler: PublishHandler,
    params: readonly unknown[],
    unblock: () => void,
  ): Promise<void> {
    const subscription = new Subscription(this, id, name, unblock);
    this.subscriptions.set(id, { name, handler, params, subscription });
    await subscription.run(handler, params);
  }

  /** Restarts every subscription as the new user. */
  private async setUserId(userId: string | null): Promise<void> {
    this.userId = userId;
    for (const [id, { name, handler, params, subscription }] of [...this.subscriptions]) {
      subscription.deactivate(true);
      await this.start(id, name, handler, params, () => undefined);
    }
  }

  private limit(type: 'method' | 'subscription', name: string): void {
    const wait = countAttempt({
      type,
      name,
      userId: this.userId,
      connectionId: this.connection.id,
      clientAddress: this.connection.clientAddress,
    });
    if (wait > 0)
      throw new MeteorError(
        'too-many-requests',
        `Error, too many requests. Please slow down. You must wait ${Math.ceil(wait / 1000)} seconds before trying again.`,
        { timeToReset: wait },
      );
  }
}

interface RunningSubscription {
  readonly name: string;
  readonly handler: PublishHandler;
  readonly params: readonly unknown[];
  readonly subscription: Subscription;
}

/** The error as a client may see it. The original goes to the server's log. */
function safeError(error: unknown, context: string): MeteorError {
  if (error instanceof MeteorError) return error;
  registry.log.push({ context: `Exception ${context}`, error });
  const sanitized: unknown = error instanceof Error && 'sanitizedError' in error ? error.sanitizedError : undefined;
  return sanitized instanceof MeteorError ? sanitized : new MeteorError(500, 'Internal server error');
}

function wireError(error: MeteorError): Fields {
  return {
    isClientSafe: true,
    error: error.error,
    reason: error.reason,
    message: error.message,
    errorType: 'Meteor.Error',
    details: error.details,
  };
}
