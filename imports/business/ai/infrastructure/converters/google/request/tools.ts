/** Tools and the choice among them, as Gemini writes them (https://ai.google.dev/api/caching#Tool). */
import { sanitizeSchema } from './jsonSchema';
import { markOf, siblingsOf } from '../googleTypes';
import type { GoogleModelFeatures } from '../modelFeatures';
import { UnsupportedFeatureError } from '../../../../domain/errors/LLMErrors';
import { isFunctionTool } from '../../../../domain/entities/Tool';
import { isEmpty } from '../../../../domain/json';
import type { BuiltInTool, FunctionTool, Tool } from '../../../../domain/entities/Tool';
import type { NormalizedOptions, ToolChoice } from '../../../../domain/types/LLMTypes';
import type { JsonObject, Loss } from '../../../../domain/types/VendorTypes';

/** Server tools that Gemini has under another name. */
const SERVER_TOOLS: Readonly<Partial<Record<BuiltInTool['type'], string>>> = {
  web_search: 'googleSearch',
  code_interpreter: 'codeExecution',
  url_context: 'urlContext',
  web_fetch: 'urlContext',
};

/** https://ai.google.dev/api/caching#FunctionDeclaration */
const NAME = /^[a-zA-Z_][\w.:-]{0,63}$/;

export interface GoogleTools {
  readonly tools?: readonly JsonObject[];
  readonly toolConfig?: JsonObject;
}

/**
 * @param verbatim tool objects that came over this wire and for which there is no tool of ours
 * @throws UnsupportedFeatureError for a server tool that Gemini does not have, or not beside functions
 */
export function toGoogleTools(
  options: NormalizedOptions,
  features: GoogleModelFeatures,
  verbatim: readonly JsonObject[],
  warnings: string[],
  losses: Loss[],
): GoogleTools {
  const offered = toolsToDeclare(options.tools ?? [], options.tool_choice);
  const functions = offered.filter(isFunctionTool);
  const fromThisWire = offered.some((tool) => markOf(tool).group !== undefined);
  const isMixed = functions.length > 0 && functions.length < offered.length && !fromThisWire;
  if (isMixed && !features.canCombineTools) {
    throw new UnsupportedFeatureError(
      `${options.model} takes either functions or server tools, not both in one request.`,
      { path: 'tools' },
    );
  }
  if (functions.some((tool) => tool.strict === true))
    warnings.push('strict: Gemini has no such word; arguments are validated when they arrive');

  const all = fillPositions(groupTools(offered, options.tools ?? [], losses), verbatim);
  const functionCallingConfig = toCallingConfig(options, functions, warnings);
  const toolConfig: JsonObject = {
    ...(functionCallingConfig === undefined ? {} : { functionCallingConfig }),
    // Without it such a request is refused (https://ai.google.dev/gemini-api/docs/tool-combination).
    ...(isMixed ? { includeServerSideToolInvocations: true } : {}),
  };
  return { ...(all.length > 0 ? { tools: all } : {}), ...(isEmpty(toolConfig) ? {} : { toolConfig }) };
}

/** `allowed_tools` with a free choice: only those are declared, since names can be listed for forced calls only. */
function toolsToDeclare(tools: readonly Tool[], choice: ToolChoice | undefined): readonly Tool[] {
  if (
    typeof choice !== 'object' ||
    choice.type !== 'allowed_tools' ||
    !('tools' in choice) ||
    choice.mode === 'required'
  )
    return tools;
  return tools.filter((tool) =>
    choice.tools.some((one) => one.type === tool.type && (one.name === undefined || one.name === tool.name)),
  );
}

/**
 * All functions share one tool object, each server tool has its own; tools that came over this wire stay in the
 * objects they came in.
 */
function groupTools(offered: readonly Tool[], all: readonly Tool[], losses: Loss[]): ToolObjects {
  const placed = new Map<number, JsonObject>();
  const loose: JsonObject[] = [];
  const functions: unknown[] = [];
  for (const tool of offered) {
    const { group, beside } = markOf(tool);
    const path = `tools[${all.indexOf(tool)}]`;
    const entry = isFunctionTool(tool)
      ? { declared: toDeclaration(tool, `${path}.parameters`, losses) }
      : { object: toServerTool(tool, path) };
    if (group !== undefined) {
      const object = placed.get(group) ?? {};
      placed.set(group, object);
      if (entry.declared === undefined) Object.assign(object, entry.object);
      else
        object.functionDeclarations = [
          ...(Array.isArray(object.functionDeclarations) ? (object.functionDeclarations as unknown[]) : []),
          entry.declared,
        ];
      Object.assign(object, beside);
    } else if (entry.declared === undefined) {
      loose.push(entry.object);
    } else {
      if (functions.length === 0) loose.push({ functionDeclarations: functions });
      functions.push(entry.declared);
    }
  }
  return { placed, loose };
}

interface ToolObjects {
  /** By the place they had in the request that they came in. */
  readonly placed: ReadonlyMap<number, JsonObject>;
  readonly loose: readonly JsonObject[];
}

/** Objects that came over this wire without a tool of ours take the places that the others left free. */
function fillPositions({ placed, loose }: ToolObjects, verbatim: readonly JsonObject[]): JsonObject[] {
  const waiting = [...verbatim];
  const all: JsonObject[] = [];
  for (const [place, tool] of [...placed].sort(([one], [other]) => one - other)) {
    while (all.length < place && waiting.length > 0) all.push(...waiting.splice(0, 1));
    all.push(tool);
  }
  return [...all, ...waiting, ...loose];
}

function toDeclaration(tool: FunctionTool, path: string, losses: Loss[]): JsonObject {
  const mark = markOf(tool);
  if (mark.declaration !== undefined) return { ...mark.declaration, name: tool.name };
  if (!NAME.test(tool.name)) {
    throw new UnsupportedFeatureError(
      `Gemini takes no function named ${tool.name}: names begin with a letter or underscore and have at most 64 letters, digits, and _.:-`,
      { path },
    );
  }
  const declared: JsonObject = { name: tool.name, description: tool.description ?? '' };
  if (tool.parameters === undefined || isEmpty(tool.parameters)) return declared;
  const { schema, losses: lost } = sanitizeSchema(tool.parameters);
  for (const loss of lost) losses.push({ ...loss, path: `${path}${loss.path}` });
  return { ...declared, parametersJsonSchema: schema };
}

function toServerTool(tool: BuiltInTool, path: string): JsonObject {
  const own = siblingsOf(tool);
  if (own !== undefined) return own;
  const name = SERVER_TOOLS[tool.type];
  if (name === undefined) throw new UnsupportedFeatureError(`Gemini has no server tool like ${tool.type}.`, { path });
  return { [name]: {} };
}

function toCallingConfig(
  options: NormalizedOptions,
  functions: readonly FunctionTool[],
  warnings: string[],
): JsonObject | undefined {
  if (options.parallel_tool_calls === false && functions.length > 0) {
    warnings.push('parallel_tool_calls: Gemini has no word for one call at a time; the model may make several');
  }
  const choice = options.tool_choice;
  if (choice === undefined) return undefined;
  if (functions.length === 0) {
    if (choice !== 'auto' && choice !== 'none')
      warnings.push('tool_choice: there is no function to call, so it is left out');
    return undefined;
  }
  if (choice === 'auto') return { mode: 'AUTO' };
  if (choice === 'none') return { mode: 'NONE' };
  if (choice === 'required') return { mode: 'ANY' };
  if (choice.type === 'allowed_tools' && 'tools' in choice) {
    if (choice.mode !== 'required') return { mode: 'AUTO' };
    return {
      mode: 'ANY',
      allowedFunctionNames: choice.tools.flatMap((tool) =>
        tool.type === 'function' && tool.name !== undefined ? [tool.name] : [],
      ),
    };
  }
  if (choice.type === 'function') return { mode: 'ANY', allowedFunctionNames: [choice.name] };
  warnings.push(`tool_choice: Gemini cannot be made to use ${choice.type}; the model decides`);
  return undefined;
}
