/** Parses a call's arguments, and refuses keys that could pollute prototypes. */
import { jsonOrText } from '../../../domain/util/json';
import { ToolError } from '../../../domain/errors/LLMErrors';

const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype']);
const MAX_DEPTH = 64;

/**
 * Empty text is `{}`. A JSON string that itself contains JSON is decoded once more, because some models encode twice.
 * @throws ToolError `invalid-arguments` with a message from which the model can repair its call
 */
export function parseToolArguments(text: string): unknown {
  if (text.trim() === '') return {};
  const value = decodeTwice(parse(text));
  if (!isPermitted(value, 0)) assertPermitted(value, '$', 0);
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ToolError(
      'invalid-arguments',
      `The arguments are not valid JSON: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

function decodeTwice(value: unknown): unknown {
  // The schema decides whether the tool accepts an ordinary string.
  return typeof value === 'string' ? jsonOrText(value) : value;
}

/** Whether `assertPermitted` throws nothing. Builds no paths. */
function isPermitted(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) return value.every((entry) => isPermitted(entry, depth + 1));
  for (const key in value)
    if (FORBIDDEN_KEYS.has(key) || !isPermitted(value[key as keyof typeof value], depth + 1)) return false;
  return true;
}

function assertPermitted(value: unknown, path: string, depth: number): void {
  if (typeof value !== 'object' || value === null) return;
  if (depth > MAX_DEPTH)
    throw new ToolError('invalid-arguments', `The arguments are nested deeper than ${MAX_DEPTH} levels at ${path}.`);
  if (Array.isArray(value)) {
    value.forEach((entry, index) => assertPermitted(entry, `${path}[${index}]`, depth + 1));
    return;
  }
  for (const [key, entry] of Object.entries(value)) {
    if (FORBIDDEN_KEYS.has(key))
      throw new ToolError('invalid-arguments', `The key "${key}" is not allowed at ${path}.`);
    assertPermitted(entry, `${path}.${key}`, depth + 1);
  }
}
