/**
 * Exposes chosen methods of a Meteor app as tools. A method runs as the run's user, in a separate method invocation
 * with its own `check`s, whichever call started the run. Meteor has no public API to call a method as a given user, so
 * this file uses the variable by which Meteor passes the user to nested calls
 * (packages/ddp-server/livedata_server.js, `applyAsync`).
 */
import { DDP } from 'meteor/ddp';
import { Meteor } from 'meteor/meteor';
import { LLMInvalidRequestError, ToolError } from '../../domain/errors/LLMErrors';
import type { ToolCallContext } from '../../domain/interfaces/IToolExecutor';
import type { RegisteredTool, ToolRegistry } from './ToolRegistry';

export interface ExposedMethod extends Omit<RegisteredTool, 'name' | 'execute' | 'external' | 'description'> {
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

export class MethodTools {
  private readonly registry: ToolRegistry;

  constructor(registry: ToolRegistry) {
    this.registry = registry;
  }

  /**
   * @param method a method's name, `orders.lookup`
   * @throws LLMInvalidRequestError for a duplicate name, and on a Meteor version that cannot run a method as a user
   */
  expose(
    method: string,
    { name = toToolName(method), toArguments = (given: never) => [given], ...definition }: ExposedMethod,
  ): this {
    const variable = invocationVariable();
    this.registry.register({
      ...definition,
      name,
      execute: (args: never, context) => invoke(variable, method, toArguments(args), context),
    });
    return this;
  }
}

async function invoke(
  variable: InvocationVariable,
  method: string,
  args: readonly unknown[],
  { userId }: ToolCallContext,
): Promise<unknown> {
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
    return await variable.withValue(outer, () => Meteor.applyAsync(method, [...args]));
  } catch (error) {
    throw toToolError(error);
  }
}

/** Reports to the model exactly what a client of the method would get. */
function toToolError(error: unknown): ToolError {
  const visible: unknown = error instanceof Error && 'sanitizedError' in error ? error.sanitizedError : error;
  const message = visible instanceof Meteor.Error ? (visible.reason ?? String(visible.error)) : 'The method failed.';
  return new ToolError('threw', message, { cause: error });
}

function invocationVariable(): InvocationVariable {
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
