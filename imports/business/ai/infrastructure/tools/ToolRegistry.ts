/** Registers functions of this process, and the tools of sources, by name. */
import { isFunctionTool, needsFunction, TOOL_KINDS, withKind } from '../../domain/entities/Tool';
import type { FunctionTool } from '../../domain/entities/Tool';
import { LLMInvalidRequestError, ToolError } from '../../domain/errors/LLMErrors';
import type { IToolExecutor, ToolCallContext } from '../../domain/interfaces/IToolExecutor';
import type { Logger } from '../../domain/interfaces/Logger';
import type { SourceTool, ToolSource } from '../../domain/interfaces/ToolSource';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { Handoff } from '../../domain/types/Handoff';
import type { HostedMcpTool } from '../../domain/types/HostedMcp';
import type { LiteralJsonSchema } from '../../domain/types/InferSchema';
import type { SchemaInput, StandardSchema, TypedSchema, ValueOf } from '../../domain/types/Schemas';
import type { JsonObject } from '../../domain/types/VendorTypes';
import { SourceSubscription } from './SourceSubscription';
import { watching } from '../../domain/util/watching';
import { consoleLogger } from '../../../../log/consoleLogger';

type Settings = Omit<FunctionTool, 'type' | 'parameters' | 'needsApproval'>;
type Approval<Arguments> =
  | boolean
  | ((
      args: Arguments,
      context: { readonly userId: string; readonly executionId: string; readonly callId: string },
    ) => boolean | Promise<boolean>);

/** What `execute` receives: the schema's valid values; without a schema, an object without fields. */
export type ArgumentsOf<Schema> = Schema extends undefined ? Record<string, never> : ValueOf<Schema>;

/** A tool whose function is checked against its schema. */
export interface ToolDefinition<Schema, Result> extends Settings {
  /** JSON Schema, SimpleSchema or any Standard Schema of the arguments. */
  readonly parameters?: Schema;
  /** Whether a person must approve the call before it runs. A function receives the validated arguments. */
  readonly needsApproval?: Approval<ArgumentsOf<Schema>>;
  /** May be async and may throw. Not needed if `kind` is `external`. */
  readonly execute?: (args: ArgumentsOf<Schema>, context: ToolCallContext) => Result;
}

/** A tool of any schema: that its function takes what the schema describes is up to whoever defined it. */
export interface RegisteredTool extends Settings {
  readonly parameters?: unknown;
  readonly needsApproval?: Approval<never>;
  readonly execute?: (args: never, context: ToolCallContext) => unknown;
  /** Only for the tool of a source: see `SourceTool`. */
  readonly hosted?: SourceTool['hosted'];
  /** The agent that the run goes on with after a call: see `handoff`. */
  readonly handoff?: Handoff;
}

/** A schema whose type states the type of its values. */
type StatedSchema = StandardSchema | TypedSchema<unknown> | LiteralJsonSchema | undefined;

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

export class ToolRegistry implements IToolExecutor {
  private readonly definitions = new Map<string, FunctionTool>();
  private readonly registered = new Map<string, RegisteredTool>();
  private readonly subscriptions = new Set<SourceSubscription>();
  private readonly listeners = new Set<() => void>();

  /**
   * The arguments of `execute` are inferred from `parameters`.
   * @throws LLMInvalidRequestError for an invalid or duplicate name, an unknown kind, or a missing function
   */
  register<const Schema extends SchemaInput | undefined = undefined>(tool: ToolDefinition<Schema, unknown>): this;
  /** For a tool whose own type does not state what its schema describes. */
  register<const T extends RegisteredTool>(tool: T extends { readonly parameters?: StatedSchema } ? never : T): this;
  register(tool: RegisteredTool): this {
    // What a vendor is told of a server may contain credentials, which are no part of the definition.
    const { execute, parameters, needsApproval, hosted: _, handoff: __, ...definition } = withKind(tool);
    const { kind = 'function' } = definition;
    if (!NAME.test(tool.name))
      throw new LLMInvalidRequestError(
        `Invalid tool name "${tool.name}". Expected 1 to 64 characters of a-z, A-Z, 0-9, _ and -.`,
        {
          path: 'name',
        },
      );
    if (this.definitions.has(tool.name))
      throw new LLMInvalidRequestError(`A tool named "${tool.name}" is already registered.`, { path: 'name' });
    if (!Object.hasOwn(TOOL_KINDS, kind))
      throw new LLMInvalidRequestError(
        `The tool "${tool.name}" has an unknown "kind". Expected one of: ${Object.keys(TOOL_KINDS).join(', ')}.`,
        { path: 'kind' },
      );
    if (execute === undefined && needsFunction({ kind }))
      throw new LLMInvalidRequestError(
        `The tool "${tool.name}" has no "execute" function. Add one, or set "kind" to "external".`,
        { path: 'execute' },
      );
    this.registered.set(tool.name, tool);
    this.definitions.set(tool.name, {
      ...definition,
      type: 'function',
      ...omitUndefined({
        // Other kinds of schemas are converted to JSON Schema when a run offers the tool.
        parameters: parameters as JsonObject | undefined,
        // Called with arguments that are valid against `parameters`.
        needsApproval: needsApproval as FunctionTool['needsApproval'],
      }),
    });
    this.notify();
    return this;
  }

  /**
   * Runs that offer the tool keep its definition, and their calls of it fail from now on.
   * @returns false if there is no such tool
   */
  unregister(name: string): boolean {
    this.definitions.delete(name);
    const wasRegistered = this.registered.delete(name);
    if (wasRegistered) {
      this.notify();
      // Not at once: a tool whose definition has changed is registered again at once, and keeps its name.
      queueMicrotask(() => {
        for (const subscription of this.subscriptions) subscription.claimFreeNames();
      });
    }
    return wasRegistered;
  }

  /** Calls back after each tool that comes or goes. @returns ends the subscription */
  onChange(listener: () => void): () => void {
    const safe = watching('onChange', listener, consoleLogger);
    this.listeners.add(safe);
    return () => void this.listeners.delete(safe);
  }

  /**
   * Registers the source's tools, and follows its changes until `removeSource`. A tool whose name is taken is left out,
   * and the log says so. A source that cannot be reached yet is followed as well.
   * @throws what the first listing throws
   */
  addSource(source: ToolSource, logger?: Logger): Promise<void> {
    for (const { source: known } of this.subscriptions)
      if (known.name === source.name)
        throw new LLMInvalidRequestError(`A tool source named "${source.name}" has been added already.`, {
          path: 'name',
        });
    const target = {
      has: (name: string) => this.registered.has(name),
      put: (tool: RegisteredTool) => void this.register(tool),
      remove: (name: string) => void this.unregister(name),
    };
    const subscription = new SourceSubscription(source, target, logger);
    this.subscriptions.add(subscription);
    return subscription.refresh();
  }

  /** Unregisters the source's tools and closes it. @returns false if there is no such source */
  async removeSource(name: string): Promise<boolean> {
    for (const subscription of this.subscriptions) {
      if (subscription.source.name !== name) continue;
      this.subscriptions.delete(subscription);
      await subscription.close();
      return true;
    }
    return false;
  }

  get sources(): readonly ToolSource[] {
    return [...this.subscriptions].map(({ source }) => source);
  }

  /** Names of the tools that the source of that name has brought. */
  toolsOf(sourceName: string): readonly string[] {
    const subscription = [...this.subscriptions].find(({ source }) => source.name === sourceName);
    return subscription?.toolNames ?? [];
  }

  /**
   * Names of the source's tools that are not registered because other tools have them, each with the source that has
   * brought the other one; undefined if the app itself has registered it.
   */
  clashesOf(sourceName: string): ReadonlyMap<string, string | undefined> {
    const subscription = [...this.subscriptions].find(({ source }) => source.name === sourceName);
    return new Map(
      (subscription?.takenNames ?? []).map((name) => {
        const other = [...this.subscriptions].find(({ toolNames }) => toolNames.includes(name));
        return [name, other?.source.name];
      }),
    );
  }

  /** Whether tools may appear that are not registered now. */
  get gainsTools(): boolean {
    return this.subscriptions.size > 0;
  }

  /** Closes all sources, whose tools are unregistered. */
  async closeSources(): Promise<void> {
    const closing = [...this.subscriptions].map((subscription) => subscription.close());
    this.subscriptions.clear();
    await Promise.all(closing);
  }

  get tools(): readonly FunctionTool[] {
    return [...this.definitions.values()].filter(isFunctionTool);
  }

  /** The tool as it was registered. */
  get(name: string): RegisteredTool | undefined {
    return this.registered.get(name);
  }

  execute(toolName: string, args: unknown, context: ToolCallContext): unknown {
    const tool = this.registered.get(toolName);
    if (tool?.execute === undefined)
      throw new ToolError('unknown-tool', `The tool "${toolName}" has no function in this process.`);
    return tool.execute(args as never, context);
  }

  hasToolFunction(toolName: string): boolean {
    return this.registered.get(toolName)?.execute !== undefined;
  }

  hostedMcpTool(toolName: string): HostedMcpTool | undefined {
    return this.registered.get(toolName)?.hosted?.();
  }

  handoff(toolName: string): Handoff | undefined {
    return this.registered.get(toolName)?.handoff;
  }

  getToolDefinition(toolName: string): FunctionTool | undefined {
    return this.definitions.get(toolName);
  }

  listToolNames(): readonly string[] {
    return [...this.definitions.keys()];
  }

  private notify(): void {
    for (const listener of this.listeners) listener();
  }
}
