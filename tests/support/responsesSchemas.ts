/** The published schemas of the Responses API, ready to validate with. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020';
import type { AnySchema, ValidateFunction } from 'ajv/dist/2020';

function compiled(name: string): ValidateFunction {
  const schema = JSON.parse(readFileSync(join(__dirname, '../fixtures/schemas', name), 'utf8')) as AnySchema;
  // The schemas name formats (uri, float) that say nothing about shape.
  return new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
}

const isRequest = compiled('openai.responses.request.schema.json');
const isResponse = compiled('openai.responses.response.schema.json');

/** What the schema has against the body; an empty text for a valid one. */
export function requestViolations(body: unknown): string {
  return isRequest(body) ? '' : JSON.stringify(isRequest.errors);
}

export function responseViolations(body: unknown): string {
  return isResponse(body) ? '' : JSON.stringify(isResponse.errors);
}
