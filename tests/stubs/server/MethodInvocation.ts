/** The `this` of a method call, and the rules for calls from the server itself. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { EJSON } from '../meteor/ejson';
import { audited } from './argumentAudit';
import type { Connection, MethodContext } from './contexts';
import { MeteorError } from './MeteorError';
import { registry } from './registry';
import type { MethodHandler } from './registry';

export interface InvocationOptions {
  readonly userId: string | null;
  readonly connection: Connection | null;
  readonly unblock?: () => void;
  readonly setUserId?: (userId: string | null) => Promise<void>;
}

export class MethodInvocation implements MethodContext {
  readonly isSimulation = false;
  readonly connection: Connection | null;
  userId: string | null;
  private readonly options: InvocationOptions;
  private isUnblocked = false;

  constructor(options: InvocationOptions) {
    this.options = options;
    this.userId = options.userId;
    this.connection = options.connection;
  }

  unblock(): void {
    this.isUnblocked = true;
    this.options.unblock?.();
  }

  async setUserId(userId: string | null): Promise<void> {
    if (this.isUnblocked) throw new Error("Can't call setUserId in a method after calling unblock");
    if (this.options.setUserId === undefined) throw new Error("Can't call setUserId on a server initiated method call");
    this.userId = userId;
    await this.options.setUserId(userId);
  }
}

/** DDP._CurrentMethodInvocation and DDP._CurrentPublicationInvocation. */
export const current = new AsyncLocalStorage<
  { readonly userId: string | null; readonly connection: Connection | null } | undefined
>();

/** Runs a method's function with the arguments that a client sent. */
export async function runMethod(
  handler: MethodHandler,
  invocation: MethodInvocation,
  args: readonly unknown[],
  description: string,
): Promise<unknown> {
  // The cast is safe: the handler checks its own parameters.
  const run = (): unknown => current.run(invocation, () => handler.apply(invocation, args as never[]));
  return await audited(run, args, description);
}

/**
 * Meteor.callAsync on the server, with the user and connection of the calling method or publication, and with copies of
 * the arguments and the result.
 */
export async function callFromServer(name: string, args: readonly unknown[]): Promise<unknown> {
  const handler = registry.methods.get(name);
  if (handler === undefined) throw new MeteorError(404, `Method '${name}' not found`);
  const outer = current.getStore();
  const invocation = new MethodInvocation({ userId: outer?.userId ?? null, connection: outer?.connection ?? null });
  return EJSON.clone(await runMethod(handler, invocation, EJSON.clone(args), `internal call to '${name}'`));
}
