/** Reads a client's `tools` and `toolConfig`, the inverse of `toGoogleTools`. https://ai.google.dev/api/caching#Tool */
import { asList } from './asList';
import { fromOpenApiSchema } from '../openApiSchema';
import { camelCaseKeys, vendorFields, withMark } from '../googleTypes';
import type { GoogleMark } from '../googleTypes';
import { LLMInvalidRequestError } from '../../../../domain/errors/LLMErrors';
import { isEmpty, isList, isObject } from '../../../../domain/util/json';
import type { BuiltInToolType, FunctionTool, Tool } from '../../../../domain/entities/Tool';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type { ToolChoice } from '../../../../domain/types/LLMTypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/** Server tools that other vendors also have. All others are stored verbatim. */
const TYPE_OF_SERVER_TOOL: Readonly<Record<string, BuiltInToolType>> = {
  googleSearch: 'web_search',
  googleSearchRetrieval: 'web_search',
  codeExecution: 'code_interpreter',
  urlContext: 'url_context',
  fileSearch: 'file_search',
  computerUse: 'computer_use',
};

export interface ParsedTools {
  readonly tools: readonly Tool[];
  /** Tool objects that contain no known tool. */
  readonly verbatim?: readonly JsonObject[];
}

export function readTools(given: unknown): ParsedTools {
  const tools = asList(given);
  if (tools === undefined) return { tools: [] };
  if (!isList(tools)) throw new LLMInvalidRequestError('"tools" must be a list.', { path: 'tools' });
  const verbatim: JsonObject[] = [];
  const read = tools.flatMap((tool, group) => {
    if (!isObject(tool))
      throw new LLMInvalidRequestError(`"tools[${group}]" must be an object.`, { path: `tools[${group}]` });
    const found = readToolObject(camelCaseKeys(tool), group);
    if (found.length === 0) verbatim.push(tool);
    return found;
  });
  return { tools: read, ...(verbatim.length > 0 || tools.length === 0 ? { verbatim } : {}) };
}

/** Reads one tool object, which contains any number of tools. Its other fields are stored on the first of them. */
function readToolObject(object: JsonObject, group: number): Tool[] {
  const { functionDeclarations: given, ...fields } = object;
  const functionDeclarations = asList(given);
  const tools: Tool[] = [];
  const beside: JsonObject = {};
  if (isDeclarationList(functionDeclarations)) {
    for (const declaration of functionDeclarations) tools.push(toFunctionTool(declaration, { group, declaration }));
  } else if (functionDeclarations !== undefined) beside.functionDeclarations = functionDeclarations;
  for (const [field, value] of Object.entries(fields)) {
    const type = Object.hasOwn(TYPE_OF_SERVER_TOOL, field) ? TYPE_OF_SERVER_TOOL[field] : undefined;
    if (type === undefined) beside[field] = value;
    else tools.push({ type, ...vendorFields({ [field]: value }, { group }) });
  }
  const [first, ...others] = tools;
  return first === undefined || isEmpty(beside) ? tools : [withMark(first, { beside }), ...others];
}

function isDeclarationList(value: unknown): value is (JsonObject & { name: string })[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every((one) => isObject(one) && typeof one.name === 'string')
  );
}

/** Gemini receives the original declaration. The converted one is for other vendors and for validating arguments. */
function toFunctionTool(declaration: JsonObject & { name: string }, mark: GoogleMark): FunctionTool {
  const { name, description, parameters, parametersJsonSchema } = camelCaseKeys(declaration);
  const schema = isObject(parametersJsonSchema)
    ? parametersJsonSchema
    : isObject(parameters)
      ? fromOpenApiSchema(parameters)
      : undefined;
  return omitUndefined({
    type: 'function',
    name: String(name),
    description: typeof description === 'string' && description !== '' ? description : undefined,
    parameters: schema,
    ...vendorFields(undefined, mark),
  });
}

// ---- the choice

export interface ParsedToolChoice {
  readonly toolChoice?: ToolChoice;
  readonly verbatim?: JsonObject;
}

export function readToolConfig(config: unknown): ParsedToolChoice {
  if (config === undefined) return {};
  if (!isObject(config)) throw new LLMInvalidRequestError('"toolConfig" must be an object.', { path: 'toolConfig' });
  const { functionCallingConfig, ...rest } = camelCaseKeys(config);
  const toolChoice = isObject(functionCallingConfig) ? toToolChoice(camelCaseKeys(functionCallingConfig)) : undefined;
  if (toolChoice !== undefined && isEmpty(rest)) return { toolChoice };
  const verbatim =
    toolChoice === undefined && functionCallingConfig !== undefined ? { ...rest, functionCallingConfig } : rest;
  return omitUndefined({ toolChoice, verbatim });
}

/** Returns `undefined` for a choice that `ToolChoice` cannot express, which is then stored verbatim. */
function toToolChoice(config: JsonObject): ToolChoice | undefined {
  const { mode, allowedFunctionNames: names, ...more } = config;
  if (!isEmpty(more)) return undefined;
  if (names === undefined) {
    if (mode === 'AUTO') return 'auto';
    if (mode === 'NONE') return 'none';
    return mode === 'ANY' ? 'required' : undefined;
  }
  if (mode !== 'ANY' || !Array.isArray(names) || names.length === 0 || !names.every((name) => typeof name === 'string'))
    return undefined;
  const [only, ...others] = names;
  if (only !== undefined && others.length === 0) return { type: 'function', name: only };
  return { type: 'allowed_tools', mode: 'required', tools: names.map((name) => ({ type: 'function', name })) };
}
