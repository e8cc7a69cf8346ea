/**
 * Exposes chosen methods of a Meteor app as tools. A method runs as the run's user, in a separate method invocation
 * with its own `check`s, whichever call started the run. Meteor has no public API to call a method as a given user, so
 * this file uses the variable by which Meteor passes the user to nested calls
 * (packages/ddp-server/livedata_server.js, `applyAsync`).
 */
import { LLMInvalidRequestError, ToolError } from '../../domain/errors/LLMErrors';
import type { ToolCallContext } from '../../domain/interfaces/IToolExecutor';
import type { RegisteredTool } from './ToolRegistry';

export interface ExposedMethod extends Omit<RegisteredTool, 'name' | 'execute' | 'kind' | 'external' | 'description'> {
  readonly description: string;
  /** The tool's name. Default: the method's name, with `_` in place of characters that tool names cannot contain. */
  readonly name?: string;
  /** Maps the model's arguments to the method's. Default: a single argument, the model's object. */
  readonly toArguments?: (given: never) => readonly unknown[];
}

/** What Meteor passes to nested method calls. */
interface OuterInvocation {
  readonly userId: string | null;
  readonly connection: null;
  readonly isSimulation: false;
  unblock(): void;
  setUserId(userId: string | null): void;
}

/** Missing from the published types. Meteor has always had it, on the server with AsyncLocalStorage since 3.0. */
interface InvocationVariable {
  withValue<Result>(value: OuterInvocation, run: () => Result): Result;
}

/** Meteor's objects, as the app hands them in. */
export interface MethodToolsPackages {
  /** `import { Meteor } from 'meteor/meteor'` */
  readonly Meteor: MethodCaller;
  /** `import { DDP } from 'meteor/ddp'` */
  readonly DDP: object;
}

interface MethodCaller {
  readonly Error: abstract new (...args: never[]) => Error;
}

/** Missing from the types of older releases. */
interface ApplyAsync {
  applyAsync(name: string, args: readonly unknown[]): Promise<unknown>;
}

/** A `Meteor.Error`: `error` is the code, `reason` the message. */
interface MethodError {
  readonly error?: unknown;
  readonly reason?: string | undefined;
}

export class MethodTools {
  private readonly Meteor: MethodCaller & ApplyAsync;
  private readonly variable: InvocationVariable;

  /** @throws LLMInvalidRequestError on a Meteor version that cannot run a method as a user */
  constructor({ Meteor, DDP }: MethodToolsPackages) {
    this.Meteor = Meteor as MethodCaller & ApplyAsync;
    this.variable = invocationVariable(DDP);
  }

  /**
   * @param method a method's name, `orders.lookup`
   * @returns a tool for `startBolide({ tools })` or `ToolRegistry.register`
   */
  expose(
    method: string,
    { name = toToolName(method), toArguments = (given: never) => [given], ...definition }: ExposedMethod,
  ): RegisteredTool {
    return {
      ...definition,
      name,
      execute: (args: never, context: ToolCallContext) => this.invoke(method, toArguments(args), context),
    };
  }

  private async invoke(method: string, args: readonly unknown[], { userId }: ToolCallContext): Promise<unknown> {
    const outer: OuterInvocation = {
      userId: userId === '' ? null : userId,
      connection: null,
      isSimulation: false,
      unblock: () => undefined,
      setUserId: () => {
        throw new Error('A method that runs as a tool cannot log a user in.');
      },
    };
    try {
      return await this.variable.withValue(outer, () => this.Meteor.applyAsync(method, [...args]));
    } catch (error) {
      throw this.toToolError(error);
    }
  }

  /** Reports to the model exactly what a client of the method would get. */
  private toToolError(error: unknown): ToolError {
    const visible: unknown = error instanceof Error && 'sanitizedError' in error ? error.sanitizedError : error;
    if (!(visible instanceof this.Meteor.Error)) return new ToolError('threw', 'The method failed.', { cause: error });
    const { reason, error: code } = visible as MethodError;
    return new ToolError('threw', reason ?? String(code), { cause: error });
  }
}

function invocationVariable(DDP: object): InvocationVariable {
  const { _CurrentMethodInvocation: variable } = DDP as {
    readonly _CurrentMethodInvocation?: Partial<InvocationVariable>;
  };
  if (typeof variable?.withValue === 'function') return variable as InvocationVariable;
  throw new LLMInvalidRequestError(
    'Methods cannot be tools: this version of Meteor has no DDP._CurrentMethodInvocation, which is needed to run a method as a user.',
    { path: 'MethodTools' },
  );
}

function toToolName(method: string): string {
  return method.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64);
}
