/** The parts of a generateContent request that the simulator reads, https://ai.google.dev/api/generate-content. */
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { isArray, isObject } from '../../json';

export interface Part {
  readonly text?: string;
  readonly thought?: boolean;
  readonly thoughtSignature?: string;
  readonly functionCall?: { readonly id?: string; readonly name: string; readonly args?: JsonObject };
  readonly functionResponse?: { readonly id?: string; readonly name: string; readonly response: JsonObject };
}

export interface Content {
  readonly role?: string;
  readonly parts?: readonly Part[];
}

export interface FunctionDeclaration {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: JsonObject;
  readonly parametersJsonSchema?: JsonObject;
}

export interface GeminiBody {
  readonly contents: readonly Content[];
  readonly systemInstruction?: Content;
  readonly tools?: readonly { readonly functionDeclarations?: readonly FunctionDeclaration[] }[];
  readonly toolConfig?: {
    readonly functionCallingConfig?: { readonly mode?: string; readonly allowedFunctionNames?: readonly string[] };
  };
  readonly generationConfig?: {
    readonly responseMimeType?: string;
    readonly responseSchema?: JsonObject;
    readonly responseJsonSchema?: JsonObject;
    readonly maxOutputTokens?: number;
    readonly thinkingConfig?: {
      readonly includeThoughts?: boolean;
      readonly thinkingBudget?: number;
      readonly thinkingLevel?: string;
    };
  };
}

/**
 * A body that the wire's schema accepted, its names in camel case: the API reads `function_call` and `functionCall`
 * alike.
 */
export function geminiBody(given: JsonObject): GeminiBody {
  // Token counting wraps the request that it counts.
  const body = isObject(given.generateContentRequest) ? given.generateContentRequest : given;
  // The schema has checked the shape; this is where it becomes a type.
  return camelCased(body) as GeminiBody;
}

/** Values that are the caller's own words, whose keys stay as they are. */
const CALLERS_OWN: ReadonlySet<string> = new Set([
  'args',
  'response',
  'parameters',
  'parametersJsonSchema',
  'responseSchema',
  'responseJsonSchema',
]);

function camelCased(value: unknown): unknown {
  if (isArray(value)) return value.map(camelCased);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const name = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      return [name, CALLERS_OWN.has(name) ? item : camelCased(item)];
    }),
  );
}

/** Types of schemas in capitals, as the proto has them: the vendor's own SDK writes them small. */
export function withCapitalTypes(body: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => {
      if (/^(parameters|responseSchema|response_schema|response)$/.test(key) && isObject(value))
        return [key, capitalised(value)];
      if (isArray(value)) return [key, value.map((item) => (isObject(item) ? withCapitalTypes(item) : item))];
      return [key, isObject(value) ? withCapitalTypes(value) : value];
    }),
  );
}

function capitalised(schema: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (key === 'type' && typeof value === 'string') return [key, value.toUpperCase()];
      if (isArray(value)) return [key, value.map((item) => (isObject(item) ? capitalised(item) : item))];
      return [key, isObject(value) ? capitalised(value) : value];
    }),
  );
}

export function partsOf(content: Content): readonly Part[] {
  return content.parts ?? [];
}

/** Several contents of one role in a row stay apart: Gemini counts each as a turn. */
export function callsIn(content: Content): readonly NonNullable<Part['functionCall']>[] {
  return partsOf(content).flatMap((part) => part.functionCall ?? []);
}

export function responsesIn(content: Content): readonly NonNullable<Part['functionResponse']>[] {
  return partsOf(content).flatMap((part) => part.functionResponse ?? []);
}

export function isModelTurn(content: Content): boolean {
  return content.role === 'model';
}

/** 2.5 for `gemini-2.5-flash`, 3 for `gemini-3-pro-preview`, 0 for names without a version. */
export function geminiVersion(model: string): number {
  return Number(/gemini-(\d+(?:\.\d+)?)/.exec(model)?.[1] ?? 0);
}
