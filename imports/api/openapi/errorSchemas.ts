/** The bodies of errors in each API. */
import type { ApiName } from '../http/errorResponse';
import { ANYTHING, COUNT, objectOf, TEXT } from './jsonSchemas';
import type { Schema } from './RouteDescription';

const TEXT_OR_NULL: Schema = { type: ['string', 'null'] };

const OPENAI_ERROR = objectOf({
  error: objectOf(
    { message: TEXT, type: TEXT },
    { param: TEXT_OR_NULL, code: { type: ['string', 'integer', 'null'] } },
  ),
});

export const ERROR_SCHEMAS: Readonly<Record<ApiName, Schema>> = {
  app: objectOf({ error: objectOf({ code: TEXT, message: TEXT }, { path: TEXT }) }),
  ai_sdk: TEXT,
  mcp: objectOf(
    { jsonrpc: TEXT, error: objectOf({ code: { type: 'integer' }, message: TEXT }, { data: ANYTHING }) },
    { id: ANYTHING },
  ),
  responses: OPENAI_ERROR,
  chat_completions: OPENAI_ERROR,
  anthropic_messages: objectOf(
    { type: { const: 'error' }, error: objectOf({ type: TEXT, message: TEXT }, { details: ANYTHING }) },
    { request_id: TEXT_OR_NULL },
  ),
  gemini: objectOf({ error: objectOf({ code: COUNT, message: TEXT, status: TEXT }) }),
};

/** Names of the schemas in the document. */
export const ERROR_NAMES: Readonly<Record<ApiName, string>> = {
  app: 'Error',
  ai_sdk: 'TextError',
  mcp: 'McpError',
  responses: 'OpenAIError',
  chat_completions: 'OpenAIError',
  anthropic_messages: 'AnthropicError',
  gemini: 'GoogleError',
};
