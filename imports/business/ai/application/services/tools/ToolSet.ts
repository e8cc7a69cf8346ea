/** The tools that a run offers: definitions by name, each with its JSON Schema and argument validation. */
import { isFunctionTool, withKind } from '../../../domain/entities/Tool';
import type { FunctionTool, Tool } from '../../../domain/entities/Tool';
import { LLMInvalidRequestError, ToolError } from '../../../domain/errors/LLMErrors';
import { fieldsOf, isObject } from '../../../domain/util/json';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import type { IToolExecutor } from '../../../domain/interfaces/IToolExecutor';
import type { LooseTool, NestedFunctionTool } from '../../../domain/types/LLMTypes';
import { toJsonSchema } from '../schema/toJsonSchema';
import type { ResolvedSchema } from '../schema/ResolvedSchema';
import { normalizeTools } from '../ContentNormalizer';
import { definitionIn } from './definitionIn';
import { assertSchema, assertUntrustedSchema, checkValue } from '../schema/checkSchema';
import type { Verdict, Violation } from '../schema/SchemaValidator';

export interface OfferedTool {
  readonly definition: FunctionTool;
  /** The executor's definition of that name, when the tool was offered. Absent if it had none. */
  readonly registered?: FunctionTool | undefined;
  /**
   * Returns the value that the tool receives, or a promise of it.
   * @param userId on whose behalf the tool is called
   * @throws ToolError `invalid-arguments`, which lists each violation with its path
   */
  validate(args: unknown, userId: string): unknown;
  /** Runs the tool. Absent: the executor does. */
  readonly execute?: (args: unknown) => unknown;
}

/** Tools whose definitions the model is given once it has found them. */
export interface DeferredTools {
  readonly names: ReadonlySet<string>;
  /** The name of the tool that finds them. */
  readonly searchTool: string;
}

export class ToolSet {
  /** In the order in which the model is offered them. */
  readonly tools: readonly Tool[];
  readonly missing: readonly string[];
  /** Absent: the model is given all definitions. */
  readonly deferred: DeferredTools | undefined;
  private readonly offered: ReadonlyMap<string, OfferedTool>;
  private byName: ReadonlyMap<string, FunctionTool> | undefined;

  /** @param missing names of tools that were offered before, and that no process has any more */
  constructor(tools: readonly (OfferedTool | Tool)[], missing: readonly string[] = [], deferred?: DeferredTools) {
    this.missing = missing;
    this.deferred = deferred;
    this.tools = tools.map((tool) => ('validate' in tool ? (tool as OfferedTool).definition : tool));
    this.offered = new Map(
      tools.flatMap((tool) =>
        'validate' in tool ? [[(tool as OfferedTool).definition.name, tool as OfferedTool] as const] : [],
      ),
    );
  }

  /** These tools, and one more. */
  with(tool: OfferedTool, deferred = this.deferred): ToolSet {
    return new ToolSet([...this.entries, tool], this.missing, deferred);
  }

  /** These tools, of which the model is to find some. */
  deferring(deferred: DeferredTools): ToolSet {
    return new ToolSet(this.entries, this.missing, deferred);
  }

  private get entries(): readonly (OfferedTool | Tool)[] {
    return this.tools.map((each) => (isFunctionTool(each) ? (this.get(each.name) ?? each) : each));
  }

  get(name: string): OfferedTool | undefined {
    return this.offered.get(name);
  }

  get names(): readonly string[] {
    return [...this.offered.keys()];
  }

  get definitions(): ReadonlyMap<string, FunctionTool> {
    this.byName ??= new Map(Array.from(this.offered, ([name, { definition }]) => [name, definition]));
    return this.byName;
  }
}

/** By the definition that the tool was made from. */
const cache = new WeakMap<object, OfferedTool>();

/**
 * Resolves names and definitions. The executor's definition of the same name supplies the fields that a given
 * definition leaves out.
 * @param missing names of tools that were offered before
 * @throws LLMInvalidRequestError for a name that the executor does not have, and for an invalid schema
 */
export function resolveTools(
  tools: readonly (string | LooseTool)[],
  executor: IToolExecutor,
  missing: readonly string[] = [],
): ToolSet {
  const definitions = tools.map((tool, index) => {
    if (typeof tool !== 'string') return withExecutorDefaults(tool, executor);
    const definition = definitionIn(executor, tool);
    if (definition === undefined)
      throw new LLMInvalidRequestError(`Unknown tool "${tool}".`, { path: `tools[${index}]` });
    return definition;
  });
  const known = missing.length === 0 ? knownSet(definitions) : undefined;
  if (known !== undefined) return known;
  const resolved = definitions.map((definition) => cachedParameters(definition) ?? readParameters(definition));
  // All in one pass, because two tools must not share a name.
  const normalized = normalizeTools(resolved.map(({ tool }) => tool));
  const set = new ToolSet(
    normalized.map((tool, index) =>
      isFunctionTool(tool)
        ? offer(tool, resolved[index]?.schema, definitions[index], definitionIn(executor, tool.name))
        : tool,
    ),
    missing,
  );
  if (missing.length === 0 && definitions[0] !== undefined && definitions.every((definition) => cache.has(definition)))
    sets.set(definitions[0], { definitions, set });
  return set;
}

/** The last set that starts with a definition. Runs that offer the same tools share one. */
const sets = new WeakMap<object, { readonly definitions: readonly object[]; readonly set: ToolSet }>();

function knownSet(definitions: readonly object[]): ToolSet | undefined {
  const [first] = definitions;
  const known = first === undefined ? undefined : sets.get(first);
  if (known?.definitions.length !== definitions.length) return undefined;
  return known.definitions.every((definition, index) => definition === definitions[index]) ? known.set : undefined;
}

/**
 * Compiles the schemas of untrusted definitions, which `resolveTools` does not.
 * @returns undefined without such definitions @throws LLMInvalidRequestError for an invalid schema
 */
export function assertUntrustedTools(
  tools: readonly (string | LooseTool)[],
  userId: string,
): Promise<unknown> | undefined {
  const schemas = tools.flatMap((tool) => {
    // Boundary: callers without types pass anything; `resolveTools` reports it.
    if (!isObject(tool)) return [];
    const { untrusted, parameters } = fieldsOf(flat(tool));
    return untrusted === true && isObject(parameters) ? [parameters] : [];
  });
  return schemas.length === 0 ? undefined : Promise.all(schemas.map((schema) => assertUntrustedSchema(schema, userId)));
}

/** The executor's tool for each of the vendors' own tools, by the type of their definitions. */
const EXECUTED: Readonly<Partial<Record<string, string>>> = {
  apply_patch: 'apply_patch',
  computer: 'computer',
  computer_use: 'computer',
  computer_use_preview: 'computer',
  local_shell: 'shell',
  shell: 'shell',
};

/** @returns undefined for a tool that is no vendor's own, that the vendor executes, or that the executor lacks */
function executedNative(
  { type, name = EXECUTED[String(type)], vendor, ...settings }: JsonObject,
  executor: IToolExecutor,
): FunctionTool | undefined {
  if (type === 'function' || typeof name !== 'string') return undefined;
  const defaults = definitionIn(executor, name);
  const isLocal = !isObject(settings.environment) || settings.environment.type === 'local';
  if (defaults?.native === undefined || !isLocal) return undefined;
  return { ...defaults, native: { ...settings, ...defaults.native } };
}

function withExecutorDefaults(tool: LooseTool, executor: IToolExecutor): LooseTool {
  const fields = fieldsOf(flat(tool));
  const native = executedNative(fields, executor);
  if (native !== undefined) return native;
  const defaults = typeof fields.name === 'string' ? definitionIn(executor, fields.name) : undefined;
  if (defaults === undefined) return tool;
  const written = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
  return { ...defaults, ...withKind(written), type: 'function', name: defaults.name };
}

/** Lifts the fields inside of a nested `function` to those beside it, and prefers them. Other tools are unchanged. */
function flat(tool: LooseTool): LooseTool {
  if (!isNested(tool)) return tool;
  const { function: inner, ...beside } = tool;
  return { ...beside, ...inner };
}

// Boundary: callers without types pass anything; `normalizeTools` reports it.
function isNested(tool: unknown): tool is NestedFunctionTool {
  return isObject(tool) && tool.type === 'function' && isObject(tool.function);
}

/** A tool that was offered before has been normalized already. */
function cachedParameters(source: LooseTool): ReturnType<typeof readParameters> | undefined {
  const cached = cache.get(source);
  return cached === undefined ? undefined : { tool: cached.definition };
}

/** Converts other kinds of schemas to JSON Schema, because `normalizeTools` accepts plain data only. */
function readParameters(source: LooseTool): { readonly tool: LooseTool; readonly schema?: ResolvedSchema } {
  const tool = flat(source);
  const { type, parameters } = fieldsOf(tool);
  if (type !== 'function' || parameters === undefined || parameters === null) return { tool };
  const schema = toJsonSchema(parameters);
  return { tool: { ...tool, parameters: schema.jsonSchema }, schema };
}

function offer(
  definition: FunctionTool,
  schema: ResolvedSchema | undefined,
  source: object | undefined,
  registered: FunctionTool | undefined,
): OfferedTool {
  const cached = source === undefined ? undefined : cache.get(source);
  if (cached !== undefined) return cached;
  if (definition.parameters !== undefined && definition.untrusted !== true) assertSchema(definition.parameters);
  const offered = {
    definition,
    registered,
    validate: (args: unknown, userId: string) => validateArguments(args, definition, schema, userId),
  };
  if (source !== undefined) cache.set(source, offered);
  return offered;
}

function validateArguments(
  args: unknown,
  { parameters, untrusted = false }: FunctionTool,
  schema: ResolvedSchema | undefined,
  userId: string,
): unknown {
  if (parameters === undefined) return acceptArguments(args, VALID, schema);
  const verdict = checkValue({ schema: parameters, untrusted, userId }, args);
  return verdict instanceof Promise
    ? verdict.then((settled) => acceptArguments(args, settled, schema))
    : acceptArguments(args, verdict, schema);
}

const VALID: Verdict = { violations: [] };

/** @throws ToolError `invalid-arguments` */
function acceptArguments(args: unknown, { violations }: Verdict, schema: ResolvedSchema | undefined): unknown {
  if (violations.length > 0) throw invalidArguments(violations);
  return schema?.validate === undefined ? args : convertArguments(args, schema.validate);
}

async function convertArguments(args: unknown, check: NonNullable<ResolvedSchema['validate']>): Promise<unknown> {
  const outcome = await check(args);
  if (!outcome.ok) throw invalidArguments(outcome.violations);
  return outcome.value;
}

function invalidArguments(violations: readonly Violation[]): ToolError {
  const list = violations.map(({ path, message }) => `${path}: ${message}`).join('; ');
  return new ToolError('invalid-arguments', `The arguments do not match the tool's schema. ${list}`);
}
