/** Whether a body is within the published types of the Messages API, beta fields included. */
import { Ajv2020 } from 'ajv/dist/2020';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';

const schema = JSON.parse(readFileSync(join(__dirname, '../fixtures/schemas/anthropic.messages.request.schema.json'), 'utf8')) as object;
const validate = new Ajv2020({ strict: false }).compile(schema);

/** @throws Error with the violations */
export function assertAnthropicBody(body: JsonObject, what = 'the body'): void {
  if (!validate(body)) throw new Error(`${what} breaks the schema: ${JSON.stringify(validate.errors?.slice(0, 5))}`);
}
