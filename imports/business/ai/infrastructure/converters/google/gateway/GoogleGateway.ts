/**
 * The other direction: a generateContent body that a client sends to us, as a request of ours. What our words
 * cannot say stays verbatim under `vendor.google`, and marks on items keep the wire form, so that towards Gemini
 * the same body goes out again.
 */
import { readContents, readSystemInstruction } from './readContents';
import { readToolConfig, readTools } from './readTools';
import { readGenerationConfig } from './readGenerationConfig';
import { camelCaseKeys } from '../googleTypes';
import { LLMInvalidRequestError } from '../../../../domain/errors/LLMErrors';
import { isEmpty, isObject } from '../../../../domain/json';
import type { GenerateOptions } from '../../../../domain/types/LLMTypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/** Deeper bodies are refused, like everywhere at the door. */
const MAX_DEPTH = 64;

export { writeGoogle } from './writeResponse';

/**
 * @param body the parsed JSON; names in lowerCamelCase or snake_case
 * @param model from the path; whether to stream is in the path too
 * @throws LLMInvalidRequestError with the JSON path of what is wrong
 */
export function readGoogleRequest(body: unknown, model: string): GenerateOptions & { stream?: boolean } {
  if (!isObject(body)) throw new LLMInvalidRequestError('The request must be a JSON object.', { path: '' });
  assertDepth(body, 'body', 0);
  const { contents, systemInstruction, tools, toolConfig, generationConfig, ...rest } = camelCaseKeys(body);
  if (contents !== undefined && !Array.isArray(contents))
    throw new LLMInvalidRequestError('contents must be a list.', { path: 'contents' });

  const offered = readTools(tools);
  const choice = readToolConfig(toolConfig);
  const generation = readGenerationConfig(generationConfig);
  const google: JsonObject = {
    ...rest,
    ...(offered.verbatim === undefined ? {} : { tools: offered.verbatim }),
    ...(choice.verbatim === undefined ? {} : { toolConfig: choice.verbatim }),
    ...(generation.verbatim === undefined ? {} : { generationConfig: generation.verbatim }),
  };
  return {
    model,
    input: [...readSystemInstruction(systemInstruction), ...readContents(contents ?? [])],
    ...(offered.tools.length === 0 ? {} : { tools: offered.tools }),
    ...(choice.toolChoice === undefined ? {} : { tool_choice: choice.toolChoice }),
    ...generation.options,
    ...(isEmpty(google) ? {} : { vendor: { google } }),
  };
}

function assertDepth(value: unknown, path: string, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_DEPTH)
    throw new LLMInvalidRequestError(`The request is nested deeper than ${MAX_DEPTH} levels.`, { path });
  for (const [key, inner] of Object.entries(value))
    if (typeof inner === 'object') assertDepth(inner, depth < 4 ? `${path}.${key}` : path, depth + 1);
}
