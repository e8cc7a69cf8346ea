/** Validates bodies against the vendors' published schemas, each of which is compiled on first use. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { AnySchema, ValidateFunction } from 'ajv/dist/2020.js';
import type { JsonObject, VendorName } from '../../imports/business/ai/domain/types/VendorTypes';

const compiled = new Map<string, ValidateFunction>();

/** The simulator validates requests in production as well, so their schemas ship with it; the others are test data. */
export function publishedSchemaFile(name: string): string {
  const folder = name.endsWith('.request') ? '../../imports/simulator/schemas' : '../fixtures/schemas';
  return join(__dirname, folder, `${name}.schema.json`);
}

/** Returns an empty string for a valid body. */
function violations(name: string, body: unknown): string {
  let isValid = compiled.get(name);
  if (isValid === undefined) {
    const schema = JSON.parse(readFileSync(publishedSchemaFile(name), 'utf8')) as AnySchema;
    // The schemas contain formats (uri, float) that do not affect the structure.
    isValid = new Ajv2020({ strict: false, validateFormats: false, code: { optimize: false } }).compile(schema);
    compiled.set(name, isValid);
  }
  return isValid(body) ? '' : JSON.stringify(isValid.errors?.slice(0, 5));
}

export function requestViolations(body: unknown): string {
  return violations('openai.responses.request', body);
}

export function responseViolations(body: unknown): string {
  return violations('openai.responses.response', body);
}

const CHAT_SCHEMA: Partial<Record<VendorName, string>> = { openai: 'openai', groq: 'groq' };

export function chatViolations(vendor: VendorName, body: unknown): string {
  return violations(`${CHAT_SCHEMA[vendor] ?? 'openai-compatible'}.chat-completions.request`, body);
}

/** Accepts beta fields. @throws Error with the violations */
export function assertAnthropicBody(body: JsonObject, what = 'the body'): void {
  const found = violations('anthropic.messages.request', body);
  if (found !== '') throw new Error(`${what} violates the schema: ${found}`);
}
