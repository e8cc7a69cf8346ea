/** The tools that one run offers: definitions by name, each with its JSON Schema and its check of arguments. */
import { isFunctionTool } from '../../../domain/entities/Tool';
import type { FunctionTool, Tool } from '../../../domain/entities/Tool';
import { LLMInvalidRequestError, ToolError } from '../../../domain/errors/LLMErrors';
import type { IToolExecutor } from '../../../domain/interfaces/IToolExecutor';
import type { LooseTool, NestedFunctionTool } from '../../../domain/types/LLMTypes';
import { toJsonSchema } from '../schema/AnySchema';
import type { ResolvedSchema } from '../schema/AnySchema';
import { normalizeTools } from '../ContentNormalizer';
import { assertSchema, validate } from '../schema/SchemaValidator';
import type { Violation } from '../schema/SchemaValidator';

export interface OfferedTool {
  readonly definition: FunctionTool;
  /** The value that the tool is given. @throws ToolError `invalid-arguments` that names each violation with its path */
  validate(args: unknown): Promise<unknown>;
}

export class ToolSet {
  /** What the model is offered. */
  readonly tools: readonly Tool[];
  private readonly offered: ReadonlyMap<string, OfferedTool>;

  constructor(tools: readonly (OfferedTool | Tool)[]) {
    this.tools = tools.map((tool) => ('validate' in tool ? (tool as OfferedTool).definition : tool));
    this.offered = new Map(
      tools.flatMap((tool) =>
        'validate' in tool ? [[(tool as OfferedTool).definition.name, tool as OfferedTool] as const] : [],
      ),
    );
  }

  get(name: string): OfferedTool | undefined {
    return this.offered.get(name);
  }

  get names(): readonly string[] {
    return [...this.offered.keys()];
  }
}

const cache = new WeakMap<object, OfferedTool>();

/**
 * The set of what a caller named or defined. What a definition leaves open, the executor's own of the same name says.
 * @throws LLMInvalidRequestError for a name that the executor does not have, and for a broken schema
 */
export function resolveTools(tools: readonly (string | LooseTool)[], executor: IToolExecutor): ToolSet {
  const definitions = tools.map((tool, index) => {
    if (typeof tool !== 'string') return withExecutorDefaults(tool, executor);
    const definition = definitionIn(executor, tool);
    if (definition === undefined)
      throw new LLMInvalidRequestError(`no tool is called '${tool}'`, { path: `tools[${index}]` });
    return definition;
  });
  const read = definitions.map((definition) => knownParameters(definition) ?? readParameters(definition));
  // One pass over all of them, since two tools must not share a name.
  const normalized = normalizeTools(read.map(({ tool }) => tool));
  return new ToolSet(
    normalized.map((tool, index) =>
      isFunctionTool(tool) ? offer(tool, read[index]?.schema, definitions[index]) : tool,
    ),
  );
}

function withExecutorDefaults(tool: LooseTool, executor: IToolExecutor): LooseTool {
  const given = isNested(tool) ? tool.function : tool;
  const own = 'name' in given && typeof given.name === 'string' ? definitionIn(executor, given.name) : undefined;
  return own === undefined ? tool : { ...own, ...given, type: 'function', name: own.name };
}

/** Executors are ports that anybody may write; for many of them `null` stands for nothing. */
function definitionIn(executor: IToolExecutor, name: string): FunctionTool | undefined {
  return executor.getToolDefinition(name) ?? undefined;
}

function isNested(tool: LooseTool): tool is NestedFunctionTool {
  return tool.type === 'function' && 'function' in tool;
}

/** A tool that was offered before is known at the door too. */
function knownParameters(source: LooseTool): ReturnType<typeof readParameters> | undefined {
  const known = cache.get(source);
  return known === undefined ? undefined : { tool: known.definition };
}

/** Schemas of other kinds become JSON Schema before the door, which takes plain data only. */
function readParameters(tool: LooseTool): { readonly tool: LooseTool; readonly schema?: ResolvedSchema } {
  if (!('parameters' in tool) || tool.parameters === undefined || tool.type !== 'function') return { tool };
  const schema = toJsonSchema(tool.parameters);
  return { tool: { ...tool, parameters: schema.jsonSchema }, schema };
}

function offer(definition: FunctionTool, schema: ResolvedSchema | undefined, source: object | undefined): OfferedTool {
  const known = source === undefined ? undefined : cache.get(source);
  if (known !== undefined) return known;
  if (definition.parameters !== undefined) assertSchema(definition.parameters);
  const offered = { definition, validate: (args: unknown) => validated(args, definition, schema) };
  if (source !== undefined) cache.set(source, offered);
  return offered;
}

async function validated(
  args: unknown,
  definition: FunctionTool,
  schema: ResolvedSchema | undefined,
): Promise<unknown> {
  const violations = definition.parameters === undefined ? [] : validate(definition.parameters, args);
  if (violations.length > 0) throw invalidArguments(violations);
  if (schema?.validate === undefined) return args;
  const outcome = await schema.validate(args);
  if (!outcome.ok) throw invalidArguments(outcome.violations);
  return outcome.value;
}

function invalidArguments(violations: readonly Violation[]): ToolError {
  const list = violations.map(({ path, message }) => `${path}: ${message}`).join('; ');
  return new ToolError('invalid-arguments', `The arguments break the tool's schema. ${list}`);
}
