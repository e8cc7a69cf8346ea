/** Converts tools and the tool choice to `tools` and `toolConfig`. https://ai.google.dev/api/caching#Tool */
import { sanitizeSchema } from './jsonSchema';
import { warnAboutSettings } from '../../shared/omittedSettings';
import { warnAboutCallers } from '../../shared/programmaticTools';
import { markOf, siblingsOf } from '../googleTypes';
import type { GoogleModelFeatures } from '../modelFeatures';
import { UnsupportedFeatureError } from '../../../../domain/errors/LLMErrors';
import { isFunctionTool } from '../../../../domain/entities/Tool';
import { ToolNames } from '../../../../domain/entities/ToolNames';
import { isEmpty } from '../../../../domain/util/json';
import type { BuiltInTool, FunctionTool, Tool } from '../../../../domain/entities/Tool';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type { NormalizedOptions, ToolChoice } from '../../../../domain/types/LLMTypes';
import type { JsonObject, Loss } from '../../../../domain/types/VendorTypes';

/** Gemini's names of the server tools it has. */
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
 * @param verbatim tool objects of a client of this wire that contain no known tool
 * @throws UnsupportedFeatureError for a server tool that Gemini does not have, or cannot combine with functions
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
      `${options.model} supports either functions or server tools in one request, not both.`,
      { path: 'tools' },
    );
  }
  if (functions.some((tool) => tool.strict === true))
    warnings.push('strict was omitted: Gemini does not support it. Arguments are validated when they arrive.');
  for (const tool of functions) warnAboutCallers(tool, 'google', warnings);

  const all = fillPositions(groupTools(offered, options.tools ?? [], losses, warnings), verbatim);
  const functionCallingConfig = toCallingConfig(options, functions, warnings);
  const toolConfig: JsonObject = omitUndefined({
    functionCallingConfig,
    // Gemini rejects a combination without it (https://ai.google.dev/gemini-api/docs/tool-combination).
    includeServerSideToolInvocations: isMixed ? true : undefined,
  });
  return { ...(all.length > 0 ? { tools: all } : {}), ...(isEmpty(toolConfig) ? {} : { toolConfig }) };
}

/** For `allowed_tools` with mode auto, only those are declared, since Gemini can list names only for forced calls. */
function toolsToDeclare(tools: readonly Tool[], choice: ToolChoice | undefined): readonly Tool[] {
  if (
    typeof choice !== 'object' ||
    choice.type !== 'allowed_tools' ||
    !('tools' in choice) ||
    choice.mode === 'required'
  )
    return tools;
  const allowed = new ToolNames(choice.tools);
  return tools.filter((tool) => allowed.has(tool));
}

/**
 * All functions share one tool object, and each server tool has its own. Tools of a client of this wire stay in their
 * original tool objects.
 */
function groupTools(offered: readonly Tool[], all: readonly Tool[], losses: Loss[], warnings: string[]): ToolObjects {
  const byIndex = new Map<number, JsonObject>();
  const appended: JsonObject[] = [];
  const functions: unknown[] = [];
  const indexes = new Map(all.map((tool, index) => [tool, index]));
  const declarations = new Map<number, unknown[]>();
  for (const tool of offered) {
    const { group, beside } = markOf(tool);
    const path = `tools[${indexes.get(tool) ?? 0}]`;
    const entry = isFunctionTool(tool)
      ? { declared: toDeclaration(tool, `${path}.parameters`, losses) }
      : { object: toServerTool(tool, path, warnings) };
    if (group !== undefined) {
      const object = byIndex.get(group) ?? {};
      byIndex.set(group, object);
      if (entry.declared === undefined) Object.assign(object, entry.object);
      else {
        const declared = declarations.get(group) ?? [];
        declarations.set(group, declared);
        declared.push(entry.declared);
        object.functionDeclarations = declared;
      }
      Object.assign(object, beside);
    } else if (entry.declared === undefined) {
      appended.push(entry.object);
    } else {
      if (functions.length === 0) appended.push({ functionDeclarations: functions });
      functions.push(entry.declared);
    }
  }
  return { byIndex, appended };
}

interface ToolObjects {
  /** Tool objects by their index in the client's request. */
  readonly byIndex: ReadonlyMap<number, JsonObject>;
  readonly appended: readonly JsonObject[];
}

/** Inserts the verbatim tool objects at the indexes that the others left free. */
function fillPositions({ byIndex, appended }: ToolObjects, verbatim: readonly JsonObject[]): JsonObject[] {
  const waiting = [...verbatim];
  const all: JsonObject[] = [];
  for (const [index, tool] of [...byIndex].sort(([one], [other]) => one - other)) {
    while (all.length < index && waiting.length > 0) all.push(...waiting.splice(0, 1));
    all.push(tool);
  }
  return [...all, ...waiting, ...appended];
}

function toDeclaration(tool: FunctionTool, path: string, losses: Loss[]): JsonObject {
  const mark = markOf(tool);
  if (mark.declaration !== undefined) return { ...mark.declaration, name: tool.name };
  if (!NAME.test(tool.name)) {
    throw new UnsupportedFeatureError(
      `Gemini does not accept the function name "${tool.name}". Names start with a letter or underscore and have at most 64 letters, digits, and _.:-`,
      { path },
    );
  }
  const declared: JsonObject = { name: tool.name, description: tool.description ?? '' };
  if (tool.parameters === undefined || isEmpty(tool.parameters)) return declared;
  const { schema, losses: lost } = sanitizeSchema(tool.parameters);
  for (const loss of lost) losses.push({ ...loss, path: `${path}${loss.path}` });
  return { ...declared, parametersJsonSchema: schema };
}

function toServerTool(tool: BuiltInTool, path: string, warnings: string[]): JsonObject {
  const own = siblingsOf(tool);
  if (own !== undefined) return own;
  const name = SERVER_TOOLS[tool.type];
  if (name === undefined) throw new UnsupportedFeatureError(`Gemini has no server tool "${tool.type}".`, { path });
  warnAboutSettings(tool, [], "Gemini's tool", warnings);
  return { [name]: {} };
}

function toCallingConfig(
  options: NormalizedOptions,
  functions: readonly FunctionTool[],
  warnings: string[],
): JsonObject | undefined {
  const choice = options.tool_choice;
  if (choice === undefined) return undefined;
  if (functions.length === 0) {
    if (choice !== 'auto' && choice !== 'none') warnings.push('tool_choice was omitted: the request has no functions.');
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
  warnings.push(`tool_choice was omitted: Gemini cannot be forced to use ${choice.type}.`);
  return undefined;
}
