/** The published schemas of chat requests, ready to validate with. */
import { Ajv2020 } from 'ajv/dist/2020';
import type { AnySchema, ValidateFunction } from 'ajv/dist/2020';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { VendorName } from '../../imports/business/ai/domain/types/VendorTypes';

function compiled(name: string): ValidateFunction {
  const schema = JSON.parse(readFileSync(join(__dirname, '../fixtures/schemas', name), 'utf8')) as AnySchema;
  // The schemas name formats (uri) that say nothing about shape.
  return new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
}

const openai = compiled('openai.chat-completions.request.schema.json');
const groq = compiled('groq.chat-completions.request.schema.json');
const compatible = compiled('openai-compatible.chat-completions.request.schema.json');

const SCHEMA_OF: Partial<Record<VendorName, ValidateFunction>> = { openai, groq };

/** What the vendor's schema has against the body; an empty text for a valid one. */
export function chatViolations(vendor: VendorName, body: unknown): string {
  const isValid = SCHEMA_OF[vendor] ?? compatible;
  return isValid(body) ? '' : JSON.stringify(isValid.errors?.slice(0, 5));
}
