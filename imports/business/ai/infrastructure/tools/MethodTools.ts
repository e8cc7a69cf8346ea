/**
 * Methods of a Meteor app as tools: those that are named here, and no others. A method runs as the run's user, in a
 * method invocation of its own with its own `check`s, whoever's call it was that began the run. Meteor has no
 * public way to call a method as somebody, so this one file uses the variable by which Meteor itself hands the user
 * on to inner calls (packages/ddp-server/livedata_server.js, `applyAsync`).
 */
import { DDP } from 'meteor/ddp';
import { Meteor } from 'meteor/meteor';
import { LLMInvalidRequestError, ToolError } from '../../domain/errors/LLMErrors';
import type { ToolCallContext } from '../../domain/interfaces/IToolExecutor';
import type { RegisteredTool, ToolRegistry } from './ToolRegistry';

export interface ExposedMethod extends Omit<RegisteredTool, 'name' | 'execute' | 'external' | 'description'> {
  readonly description: string;
  /** What the model calls it; default: the method's name with `_` for what names of tools can't have. */
  readonly name?: string;
  /** The method's arguments, from what the model gave; default: that one object. */
  readonly toArguments?: (given: never) => readonly unknown[];
}

/** What Meteor hands on to inner method calls. */
interface OuterInvocation {
  readonly userId: string | null;
  readonly connection: null;
  readonly isSimulation: false;
  unblock(): void;
  setUserId(userId: string | null): void;
}

/**
 * Absent from the published types; Meteor has had it since its beginnings, on the server with AsyncLocalStorage
 * since 3.0.
 */
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
   * @throws LLMInvalidRequestError for a name that is taken, and on a Meteor that has no way to say whose call it is
   */
  expose(
    method: string,
    { name = toolNameOf(method), toArguments = (given: never) => [given], ...definition }: ExposedMethod,
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
      throw new Error('A method that runs as a tool can’t log anybody in.');
    },
  };
  try {
    return await variable.withValue(outer, () => Meteor.applyAsync(method, [...args]));
  } catch (error) {
    throw forModel(error);
  }
}

/** The model is told what a client of the method would be told, and no more. */
function forModel(error: unknown): ToolError {
  const shown: unknown = error instanceof Error && 'sanitizedError' in error ? error.sanitizedError : error;
  const message = shown instanceof Meteor.Error ? (shown.reason ?? String(shown.error)) : 'The method failed.';
  return new ToolError('threw', message, { cause: error });
}

function invocationVariable(): InvocationVariable {
  const { _CurrentMethodInvocation: variable } = DDP as {
    readonly _CurrentMethodInvocation?: Partial<InvocationVariable>;
  };
  if (typeof variable?.withValue === 'function') return variable as InvocationVariable;
  throw new LLMInvalidRequestError(
    'This Meteor has no DDP._CurrentMethodInvocation, so methods can’t run as somebody: they can’t be tools here.',
    { path: 'MethodTools' },
  );
}

function toolNameOf(method: string): string {
  return method.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64);
}
