/** Registers functions of this process as tools, by name. */
import { isFunctionTool } from '../../domain/entities/Tool';
import type { FunctionTool } from '../../domain/entities/Tool';
import { LLMInvalidRequestError, ToolError } from '../../domain/errors/LLMErrors';
import type { IToolExecutor, ToolCallContext } from '../../domain/interfaces/IToolExecutor';
import type { JsonObject } from '../../domain/types/VendorTypes';

export interface RegisteredTool extends Omit<FunctionTool, 'type' | 'parameters'> {
  /** JSON Schema, SimpleSchema or any Standard Schema of the arguments. */
  readonly parameters?: unknown;
  /**
   * May be async and may throw. `args` are valid against `parameters`; that their declared type agrees with the schema
   * is up to the caller.
   */
  readonly execute?: (args: never, context: ToolCallContext) => unknown;
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

export class ToolRegistry implements IToolExecutor {
  private readonly definitions = new Map<string, FunctionTool>();
  private readonly functions = new Map<string, (args: never, context: ToolCallContext) => unknown>();

  /** @throws LLMInvalidRequestError for an invalid or duplicate name, or a missing function */
  register(tool: RegisteredTool): this {
    const { execute, parameters, ...definition } = tool;
    if (!NAME.test(tool.name))
      throw new LLMInvalidRequestError(
        `Invalid tool name "${tool.name}". Expected 1 to 64 characters of a-z, A-Z, 0-9, _ and -.`,
        {
          path: 'name',
        },
      );
    if (this.definitions.has(tool.name))
      throw new LLMInvalidRequestError(`A tool named "${tool.name}" is already registered.`, { path: 'name' });
    if (execute === undefined && tool.external !== true)
      throw new LLMInvalidRequestError(
        `The tool "${tool.name}" has no "execute" function. Add one, or set "external" to true.`,
        { path: 'execute' },
      );
    if (execute !== undefined) this.functions.set(tool.name, execute);
    // Other kinds of schemas are converted to JSON Schema when a run offers the tool.
    this.definitions.set(tool.name, {
      ...definition,
      type: 'function',
      ...(parameters === undefined ? {} : { parameters: parameters as JsonObject }),
    });
    return this;
  }

  get tools(): readonly FunctionTool[] {
    return [...this.definitions.values()].filter(isFunctionTool);
  }

  execute(toolName: string, args: unknown, context: ToolCallContext): unknown {
    const run = this.functions.get(toolName);
    if (run === undefined)
      throw new ToolError('unknown-tool', `The tool "${toolName}" has no function in this process.`);
    return run(args as never, context);
  }

  hasToolFunction(toolName: string): boolean {
    return this.functions.has(toolName);
  }

  getToolDefinition(toolName: string): FunctionTool | undefined {
    return this.definitions.get(toolName);
  }
}
