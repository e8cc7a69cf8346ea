/**
 * Exposes chosen methods of a Meteor app as tools. A method runs as the run's user, in a separate method invocation
 * with its own `check`s, whichever call started the run. Meteor has no public API to call a method as a given user, so
 * this file uses the variable by which Meteor passes the user to nested calls
 * (packages/ddp-server/livedata_server.js, `applyAsync`).
 */
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type { ToolCallContext } from '../../domain/interfaces/IToolExecutor';
import { countCall, toToolError } from './meteorCalls';
import type { MeteorCalls, RateCounter } from './meteorCalls';
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
  readonly Meteor: MeteorCalls;
  /** `import { DDP } from 'meteor/ddp'` */
  readonly DDP: object;
  /**
   * `import { DDPRateLimiter } from 'meteor/ddp-rate-limiter'`: its rules hold for the tools as well. Default: no rule
   * does.
   */
  readonly DDPRateLimiter?: object | undefined;
}

/** Missing from the types of older releases. */
interface ApplyAsync {
  applyAsync(name: string, args: readonly unknown[]): Promise<unknown>;
}

export class MethodTools {
  private readonly Meteor: MeteorCalls & ApplyAsync;
  private readonly variable: InvocationVariable;
  private readonly limiter: RateCounter | undefined;

  /** @throws LLMInvalidRequestError on a Meteor version that cannot run a method as a user */
  constructor({ Meteor, DDP, DDPRateLimiter }: MethodToolsPackages) {
    this.Meteor = Meteor as MeteorCalls & ApplyAsync;
    this.variable = invocationVariable(DDP);
    this.limiter = DDPRateLimiter;
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

  private async invoke(method: string, args: readonly unknown[], context: ToolCallContext): Promise<unknown> {
    const userId = context.userId === '' ? null : context.userId;
    const outer: OuterInvocation = {
      userId,
      connection: null,
      isSimulation: false,
      unblock: () => undefined,
      setUserId: () => {
        throw new Error('A method that runs as a tool cannot log a user in.');
      },
    };
    try {
      countCall(this.limiter, { type: 'method', name: method, userId });
      return await this.variable.withValue(outer, () => this.Meteor.applyAsync(method, [...args]));
    } catch (error) {
      throw toToolError(error, this.Meteor, `while invoking method '${method}'`);
    }
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

export function toToolName(method: string): string {
  return method.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64);
}
