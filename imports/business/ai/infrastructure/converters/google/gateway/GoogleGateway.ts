/**
 * The server side of the Gemini API: reads `generateContent` requests of its clients. Whatever `GenerateOptions` cannot
 * express is stored verbatim in `vendor.google`, and marks on items preserve their wire form, so that Gemini receives
 * the same body again. https://ai.google.dev/api/generate-content
 */
import { asList } from './asList';
import { readContents, readSystemInstruction } from './readContents';
import { readToolConfig, readTools } from './readTools';
import { readGenerationConfig } from './readGenerationConfig';
import { camelCaseKeys } from '../googleTypes';
import { LLMInvalidRequestError } from '../../../../domain/errors/LLMErrors';
import { isEmpty, isList, isObject } from '../../../../domain/util/json';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type { GenerateOptions } from '../../../../domain/types/LLMTypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/** Maximum nesting of a body, as at every API. */
const MAX_DEPTH = 64;

export { checkParts } from './checkParts';
export { writeGoogle } from './writeResponse';

/**
 * @param body the parsed JSON, with fields in lowerCamelCase or snake_case
 * @param model from the URL path, which also determines whether to stream
 * @throws LLMInvalidRequestError with the JSON path of the invalid field
 */
export function readGoogleRequest(body: unknown, model: string): GenerateOptions & { stream?: boolean } {
  if (!isObject(body)) throw new LLMInvalidRequestError('The request must be a JSON object.', { path: '' });
  assertDepth(body, 'body', 0);
  const { contents, systemInstruction, tools, toolConfig, generationConfig, ...rest } = camelCaseKeys(body);
  const contentList = asList(contents ?? []);
  if (!isList(contentList)) throw new LLMInvalidRequestError('"contents" must be a list.', { path: 'contents' });

  const offered = readTools(tools);
  const choice = readToolConfig(toolConfig);
  const generation = readGenerationConfig(generationConfig);
  const google: JsonObject = {
    ...rest,
    ...omitUndefined({ tools: offered.verbatim, toolConfig: choice.verbatim, generationConfig: generation.verbatim }),
  };
  return omitUndefined({
    model,
    input: [...readSystemInstruction(systemInstruction), ...readContents(contentList)],
    tools: offered.tools.length === 0 ? undefined : offered.tools,
    tool_choice: choice.toolChoice,
    ...generation.options,
    vendor: isEmpty(google) ? undefined : { google },
  });
}

function assertDepth(value: unknown, path: string, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_DEPTH)
    throw new LLMInvalidRequestError(`The request is nested deeper than ${MAX_DEPTH} levels.`, { path });
  for (const key of Object.keys(value)) {
    const inner: unknown = value[key as keyof typeof value];
    if (typeof inner === 'object') assertDepth(inner, depth < 4 ? `${path}.${key}` : path, depth + 1);
  }
}
