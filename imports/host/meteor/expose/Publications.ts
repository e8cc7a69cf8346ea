/** Runs an app's publish functions for tools: once, for a snapshot, or until further notice. */
import { ToolError } from '../../../business/ai/domain/errors/LLMErrors';
import { countCall, toToolError } from '../../../business/ai/infrastructure/tools/meteorCalls';
import type { MeteorCalls, RateCounter } from '../../../business/ai/infrastructure/tools/meteorCalls';
import { installedPackage } from '../installedPackage';
import { PublicationRun } from './PublicationRun';
import type { PublicationEvents } from './PublicationRun';
import type { AnyFunction } from './variablesOf';

export interface PublicationPorts {
  readonly Meteor: MeteorCalls;
  /** `import { DDP } from 'meteor/ddp'` */
  readonly DDP: DdpVariables;
  readonly Match: Readonly<Record<string, unknown>> | undefined;
  readonly DDPRateLimiter: RateCounter | undefined;
  readonly handlerOf: (name: string) => AnyFunction | undefined;
}

/** Missing from the published types. */
interface Variable {
  withValue<Result>(value: unknown, run: () => Result): Result;
}

export interface DdpVariables {
  readonly _CurrentMethodInvocation: Variable;
  readonly _CurrentPublicationInvocation: Variable;
}

export interface Snapshot {
  /** By collection. */
  readonly documents: Readonly<Record<string, readonly unknown[]>>;
  /** Whether documents are missing, because there are more than a result can hold. */
  readonly isTruncated?: true;
}

/** Documents of a snapshot. */
const MAX_DOCUMENTS = 500;
/** Characters of its JSON: a tool's result holds 256 KiB. */
const MAX_TEXT = 200_000;
const UPDATE_DEBOUNCE_MS = 100;

/** Runs the function and fails if it has not checked its arguments. */
type Audit = (run: AnyFunction, context: unknown, args: readonly unknown[], description: string) => unknown;

export class Publications {
  private readonly ports: PublicationPorts;

  constructor(ports: PublicationPorts) {
    this.ports = ports;
  }

  /** What the publication publishes to the user until it is ready. @throws ToolError */
  async snapshot(name: string, args: readonly unknown[], userId: string, signal: AbortSignal): Promise<Snapshot> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const run = this.open(name, args, userId, {
      onReady: () => resolve(undefined),
      onChange: () => {
        if (run.size > MAX_DOCUMENTS) resolve(undefined);
      },
      onEnd: (error) => {
        if (error === undefined) resolve(undefined);
        else reject(toToolError(error, this.ports.Meteor, `from sub ${name}`));
      },
      onStopFailure: (error) => this.onStopFailure(error),
    });
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      run.start();
      await promise;
      return toSnapshot(run);
    } finally {
      signal.removeEventListener('abort', onAbort);
      await run.close();
    }
  }

  /** Calls back when a document has changed that the publication publishes to the user. @returns ends that */
  watch(name: string, args: readonly unknown[], userId: string, onUpdate: () => void): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isReady = false;
    const update = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        onUpdate();
      }, UPDATE_DEBOUNCE_MS);
    };
    const run = this.open(name, args, userId, {
      onReady: () => {
        isReady = true;
      },
      onChange: () => {
        if (isReady) update();
      },
      onEnd: (error) => {
        if (error !== undefined) toToolError(error, this.ports.Meteor, `from sub ${name}`);
        // What can be read now is another thing, or nothing.
        if (isReady) update();
      },
      onStopFailure: (error) => this.onStopFailure(error),
    });
    run.start();
    return () => {
      clearTimeout(timer);
      void run.close();
    };
  }

  private open(
    name: string,
    args: readonly unknown[],
    userId: string,
    events: PublicationEvents,
  ): PublicationRun & { start(): void } {
    const { DDP, DDPRateLimiter, handlerOf } = this.ports;
    const user = userId === '' ? null : userId;
    const run = new PublicationRun(user, events);
    const publish = (): unknown => {
      countCall(DDPRateLimiter, { type: 'subscription', name, userId: user });
      const handler = handlerOf(name);
      if (handler === undefined) throw new ToolError('threw', `Subscription '${name}' not found [404]`);
      return DDP._CurrentMethodInvocation.withValue(undefined, () =>
        DDP._CurrentPublicationInvocation.withValue(run, () => this.audited(handler, run, args, name)),
      );
    };
    return Object.assign(run, { start: () => void run.run(publish) });
  }

  private audited(handler: AnyFunction, run: PublicationRun, args: readonly unknown[], name: string): unknown {
    const audit = this.ports.Match?.['_failIfArgumentsAreNotAllChecked'];
    if (installedPackage('audit-argument-checks') === undefined || typeof audit !== 'function')
      return handler.apply(run, [...args] as never[]);
    return (audit as Audit)(handler, run, [...args], `publisher '${name}'`);
  }

  private onStopFailure(error: unknown): void {
    this.ports.Meteor._debug?.('Exception in onStop callback:', error);
  }
}

function toSnapshot(run: PublicationRun): Snapshot {
  let limit = Math.min(run.size, MAX_DOCUMENTS);
  let documents = run.read(limit);
  while (limit > 0 && JSON.stringify(documents).length > MAX_TEXT) {
    limit = Math.floor(limit / 2);
    documents = run.read(limit);
  }
  return limit < run.size ? { documents, isTruncated: true } : { documents };
}
