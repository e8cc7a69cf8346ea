/**
 * Reads all fields of a client's chat completions request except its messages as options. Values that the options
 * cannot represent exactly are preserved verbatim. https://platform.openai.com/docs/api-reference/chat/create
 */
import { isText, without } from '../vendorFields';
import { fromCustom } from '../request/tools';
import type { BuiltInTool, FunctionTool, Tool } from '../../../../domain/entities/Tool';
import { LLMInvalidRequestError } from '../../../../domain/errors/LLMErrors';
import { isBareSchema, isEmpty, isList, isObject } from '../../../../domain/util/json';
import type { GenerateOptions, ResponseFormat, ToolChoice } from '../../../../domain/types/LLMTypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/** @throws LLMInvalidRequestError for a value that the wire does not allow */
export function readParameters(body: JsonObject): Omit<GenerateOptions, 'input'> {
  const options: Record<string, unknown> = {};
  const verbatim: JsonObject = {};
  const limit = body.max_completion_tokens ?? body.max_tokens;
  for (const [field, value] of Object.entries(body)) {
    if (value === undefined) continue;
    const reader = Object.hasOwn(READERS, field) ? READERS[field as keyof typeof READERS] : undefined;
    // If both limits are set, the newer field wins and the other is passed through.
    const read =
      value === null || reader === undefined || (field === 'max_tokens' && value !== limit)
        ? undefined
        : reader(value, field);
    if (read === undefined) verbatim[field] = value;
    else Object.assign(options, read);
  }
  return isEmpty(verbatim) ? options : { ...options, vendor: { openai: verbatim } };
}

type Reader = (value: unknown, field: string) => Partial<GenerateOptions> | undefined;

const READERS = {
  model: (value, field) => ({ model: text(value, field) }),
  temperature: (value, field) => ({ temperature: number(value, field) }),
  top_p: (value, field) => ({ top_p: number(value, field) }),
  max_tokens: readLimit,
  max_completion_tokens: readLimit,
  parallel_tool_calls: (value, field) => ({ parallel_tool_calls: boolean(value, field) }),
  store: (value, field) => ({ store: boolean(value, field) }),
  user: (value, field) => ({ user: text(value, field) }),
  reasoning_effort: (value, field) =>
    isText(value) ? { reasoning: { effort: value } } : fail(field, 'a non-empty string'),
  stop: readStop,
  metadata: readMetadata,
  tools: readTools,
  tool_choice: readToolChoice,
  response_format: readFormat,
} as const satisfies Record<string, Reader>;

/** LM Studio and Ollama take -1 or 0 for no limit: https://lmstudio.ai/docs/developer/openai-compat */
function readLimit(value: unknown, field: string): Partial<GenerateOptions> | undefined {
  const limit = number(value, field);
  return limit === 0 || limit === -1 ? undefined : { max_output_tokens: limit };
}

function readStop(value: unknown, field: string): Partial<GenerateOptions> | undefined {
  if (isText(value)) return { stop: [value] };
  if (!isList(value)) return fail(field, 'a string or an array of strings');
  return value.length > 0 && value.every(isText) ? { stop: value } : undefined;
}

function readMetadata(value: unknown, field: string): Partial<GenerateOptions> | undefined {
  if (!isObject(value)) return fail(field, 'an object');
  // The cast is safe: every value was checked to be a string.
  return Object.values(value).every((entry) => typeof entry === 'string')
    ? { metadata: value as Record<string, string> }
    : undefined;
}

function readTools(value: unknown, field: string): Partial<GenerateOptions> | undefined {
  if (!isList(value)) return fail(field, 'an array');
  return value.length === 0 ? undefined : { tools: value.map((tool, index) => readTool(tool, `${field}[${index}]`)) };
}

function readTool(tool: unknown, path: string): Tool {
  if (!isObject(tool)) return fail(path, 'a tool with a type');
  // Mistral's clients omit the type of functions.
  if (tool.type === undefined && isObject(tool.function)) return readTool({ type: 'function', ...tool }, path);
  if (!isText(tool.type)) return fail(path, 'a tool with a type');
  // Tools of other types are passed through: some vendors have their own.
  if (tool.type === 'custom' && isObject(tool.custom)) return fromCustom(tool.custom) as BuiltInTool;
  if (tool.type !== 'function') return { ...tool, vendor: { openai: { tool } } } as unknown as BuiltInTool;
  if (!isObject(tool.function) || !isText(tool.function.name))
    return fail(`${path}.function.name`, 'the name of a function');
  return readFunction(tool, tool.function, tool.function.name, path);
}

function readFunction(tool: JsonObject, calledFunction: JsonObject, name: string, path: string): FunctionTool {
  const { description, parameters, strict } = calledFunction;
  if (parameters !== undefined && parameters !== null && !isObject(parameters))
    fail(`${path}.function.parameters`, 'a JSON Schema');
  const fields = {
    ...(typeof description === 'string' ? { description } : {}),
    ...(isObject(parameters) ? { parameters } : {}),
    ...(typeof strict === 'boolean' ? { strict } : {}),
  };
  const functionFields = without(calledFunction, ['name', ...Object.keys(fields)]);
  const own = {
    ...without(tool, ['type', 'function']),
    ...(isEmpty(functionFields) ? {} : { function: functionFields }),
  };
  return { type: 'function', name, ...fields, ...(isEmpty(own) ? {} : { vendor: { openai: own } }) };
}

function readToolChoice(value: unknown, field: string): Partial<GenerateOptions> | undefined {
  if (value === 'auto' || value === 'none' || value === 'required') return { tool_choice: value };
  // Mistral's word for the same.
  if (value === 'any') return { tool_choice: 'required' };
  if (!isObject(value)) return fail(field, 'auto, none, required or an object');
  const { function: chosenFunction, allowed_tools: allowed } = value;
  // Some clients omit the type where only one is possible.
  if (isObject(chosenFunction) && isText(chosenFunction.name))
    return { tool_choice: { type: 'function', name: chosenFunction.name } };
  if (!isObject(allowed) || !isList(allowed.tools)) return undefined;
  const tools = allowed.tools.map((tool, index) => readAllowed(tool, `${field}.allowed_tools.tools[${index}]`));
  const mode = allowed.mode === 'required' ? 'required' : 'auto';
  const choice: ToolChoice = { type: 'allowed_tools', mode, tools };
  return { tool_choice: choice };
}

function readAllowed(tool: unknown, path: string): { type: string; name?: string } {
  if (!isObject(tool) || !isText(tool.type)) return fail(path, 'a tool');
  const named = tool[tool.type];
  return isObject(named) && isText(named.name) ? { type: tool.type, name: named.name } : { type: tool.type };
}

function readFormat(value: unknown, field: string): Partial<GenerateOptions> | undefined {
  if (!isObject(value)) return fail(field, 'an object');
  if (value.type === 'text' || value.type === 'json_object') return { response_format: { type: value.type } };
  if (value.type !== 'json_schema' || !isObject(value.json_schema)) return undefined;
  const { name, description, schema, strict } = isBareSchema(value.json_schema)
    ? { schema: value.json_schema }
    : value.json_schema;
  if (!isObject(schema)) return undefined;
  const format: ResponseFormat = {
    type: 'json_schema',
    ...(isText(name) ? { name } : {}),
    ...(typeof description === 'string' ? { description } : {}),
    schema,
    ...(typeof strict === 'boolean' ? { strict } : {}),
  };
  return { response_format: format };
}

function text(value: unknown, field: string): string {
  return typeof value === 'string' ? value : fail(field, 'a string');
}

function number(value: unknown, field: string): number {
  return typeof value === 'number' ? value : fail(field, 'a number');
}

function boolean(value: unknown, field: string): boolean {
  return typeof value === 'boolean' ? value : fail(field, 'true or false');
}

function fail(path: string, what: string): never {
  throw new LLMInvalidRequestError(`"${path}" must be ${what}.`, { path });
}
