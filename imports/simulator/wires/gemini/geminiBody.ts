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
  readonly name?: string;
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
 * A body that the wire's schema accepted, with names in camel case: the API accepts both `function_call` and
 * `functionCall`.
 */
export function geminiBody(raw: JsonObject): GeminiBody {
  // Token counting wraps the request that it counts.
  const body = isObject(raw.generateContentRequest) ? raw.generateContentRequest : raw;
  // The cast is safe: the schema has been checked.
  return toCamelCase(body) as GeminiBody;
}

/** Fields with the caller's own data, whose keys must not be changed. */
const VERBATIM_FIELDS: ReadonlySet<string> = new Set([
  'args',
  'response',
  'parameters',
  'parametersJsonSchema',
  'responseSchema',
  'responseJsonSchema',
]);

function toCamelCase(value: unknown): unknown {
  if (isArray(value)) return value.map(toCamelCase);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      const name = key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
      return [name, VERBATIM_FIELDS.has(name) ? item : toCamelCase(item)];
    }),
  );
}

/** Writes the types of schemas in upper case, as in the proto; the vendor's own SDK writes them in lower case. */
export function upperCaseTypes(body: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(body).map(([key, value]) => {
      if (/^(parameters|responseSchema|response_schema|response)$/.test(key) && isObject(value))
        return [key, upperCaseSchemaTypes(value)];
      if (isArray(value)) return [key, value.map((item) => (isObject(item) ? upperCaseTypes(item) : item))];
      return [key, isObject(value) ? upperCaseTypes(value) : value];
    }),
  );
}

function upperCaseSchemaTypes(schema: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (key === 'type' && typeof value === 'string') return [key, value.toUpperCase()];
      if (isArray(value)) return [key, value.map((item) => (isObject(item) ? upperCaseSchemaTypes(item) : item))];
      return [key, isObject(value) ? upperCaseSchemaTypes(value) : value];
    }),
  );
}

export function partsOf(content: Content): readonly Part[] {
  return content.parts ?? [];
}

/** Consecutive contents of one role stay separate: Gemini counts each as a turn. */
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
