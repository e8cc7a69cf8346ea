/** Reads a generateContent request as a conversation. */
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { asString, isArray, isObject } from '../../json';
import type { Conversation, ToolChoice, Turn } from '../../model/Conversation';
import type { WireRequest } from '../WireSimulator';
import { geminiBody, isModelTurn, partsOf } from './geminiBody';
import type { Content, GeminiBody } from './geminiBody';

export function readGemini({ vendor, model, body: raw }: WireRequest): Conversation {
  const body = geminiBody(raw);
  const config = body.generationConfig;
  const schema = outputSchemaOf(body);
  return omitUndefined({
    vendor,
    wire: 'gemini',
    model,
    instructions: body.systemInstruction === undefined ? '' : textOf(body.systemInstruction),
    turns: turnsOf(body.contents),
    tools: (body.tools ?? [])
      .flatMap((tool) => tool.functionDeclarations ?? [])
      .map((tool) => ({
        name: asString(tool.name),
        description: tool.description ?? '',
        parameters: lowerCaseTypes(tool.parametersJsonSchema ?? tool.parameters ?? {}),
        async: false,
      })),
    toolChoice: toolChoiceOf(body),
    allowsParallelCalls: true,
    wantsReasoning: config?.thinkingConfig?.includeThoughts === true,
    outputSchema: schema,
    maxOutputTokens: config?.maxOutputTokens,
  });
}

/** Calls usually have no ids on this wire, so a response belongs to the first open call of its name. */
function turnsOf(contents: readonly Content[]): readonly Turn[] {
  let count = 0;
  let open: { readonly id: string; readonly name: string }[] = [];
  return contents.flatMap((content) => {
    const text = textOf(content);
    const parts = partsOf(content).flatMap(({ functionCall, functionResponse }): Turn[] => {
      if (functionCall !== undefined) {
        count += 1;
        const id = functionCall.id ?? `call ${count}`;
        open.push({ id, name: functionCall.name });
        return [{ type: 'call', id, name: functionCall.name, arguments: JSON.stringify(functionCall.args ?? {}) }];
      }
      if (functionResponse === undefined) return [];
      const { id, name, response } = functionResponse;
      const call = open.find((candidate) => candidate.id === id) ?? open.find((candidate) => candidate.name === name);
      open = open.filter((candidate) => candidate !== call);
      return [
        {
          type: 'result',
          callId: call?.id ?? id ?? name,
          name,
          text: resultText(response),
          failed: 'error' in response,
        },
      ];
    });
    if (text === '') return parts;
    return isModelTurn(content)
      ? [{ type: 'assistant', text } as const, ...parts]
      : [...parts, { type: 'user', text } as const];
  });
}

/** By convention, `output` or `result` holds the result, and `error` the failure. */
function resultText(response: JsonObject): string {
  const value =
    Object.keys(response).length === 1 ? (response.output ?? response.result ?? response.error ?? response) : response;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function textOf(content: Content): string {
  return partsOf(content)
    .filter((part) => part.thought !== true)
    .map((part) => part.text ?? '')
    .join('');
}

function toolChoiceOf({ toolConfig }: GeminiBody): ToolChoice {
  const config = toolConfig?.functionCallingConfig;
  const names = config?.allowedFunctionNames;
  if (config?.mode === 'NONE') return { mode: 'none' };
  return omitUndefined({ mode: config?.mode === 'ANY' ? 'required' : 'auto', names });
}

function outputSchemaOf({ generationConfig }: GeminiBody): JsonObject | undefined {
  if (generationConfig?.responseMimeType !== 'application/json') return undefined;
  return lowerCaseTypes(generationConfig.responseJsonSchema ?? generationConfig.responseSchema ?? {});
}

/** Gemini's own schemas write types in upper case. */
function lowerCaseTypes(schema: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (key === 'type' && typeof value === 'string') return [key, value.toLowerCase()];
      if (isArray(value)) return [key, value.map((item) => (isObject(item) ? lowerCaseTypes(item) : item))];
      return [key, isObject(value) && key !== 'default' ? lowerCaseTypes(value) : value];
    }),
  );
}
