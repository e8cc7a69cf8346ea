import { expect } from 'chai';
import fc from 'fast-check';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import sinon from 'sinon';
import { ERROR_TABLE, isLLMError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { ErrorCode, LLMError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import { inTimeZone } from '../../../../support/inTimeZone';
import { vendorError } from '../../../../../imports/business/ai/domain/errors/vendorErrors';

const RECORDED = join(__dirname, '../../../../fixtures/recorded');

interface Exchange {
  readonly n: number;
  readonly status: number;
  readonly stream: boolean;
  readonly responseFile: string;
  readonly responseHeaders?: Readonly<Record<string, string>>;
}
interface RecordedCase {
  readonly id: string;
  readonly vendor: string;
  readonly exchanges: readonly Exchange[];
}
interface Expectation {
  readonly code: ErrorCode;
  readonly vendorCode?: string;
  readonly requestId?: string;
  readonly retryAfterMs?: number;
  readonly retryable?: boolean;
  readonly path?: string;
  readonly message: string;
}

/** What each recorded error means, by case. */
const RECORDED_ERRORS: Readonly<Record<string, Expectation>> = {
  'anthropic-err400-a': {
    code: 'invalid-request',
    vendorCode: 'invalid_request_error',
    requestId: 'req_011Ca7jT9AHpgXgdv8igm4z9',
    message: 'does not support effort level',
  },
  'anthropic-err401-a': {
    code: 'auth-failed',
    vendorCode: 'authentication_error',
    requestId: 'req_011CeCGmBjaWkq37Sf5iU7so',
    message: 'invalid x-api-key',
  },
  'anthropic-err404-a': {
    code: 'model-not-found',
    vendorCode: 'not_found_error',
    requestId: 'req_011CdufXo8Y2LVfY2veyuQWG',
    message: 'model: claude-sonet-4-5',
  },
  'anthropic-err429-a': {
    code: 'rate-limited',
    vendorCode: 'rate_limit_error',
    requestId: 'req_011CXrTZhgCR4x5tigKzFSsb',
    retryAfterMs: 47_000,
    message: 'rate limit of 450,000',
  },
  'anthropic-err500-a': {
    code: 'vendor-error',
    vendorCode: 'api_error',
    requestId: 'req_011CVQuoGU1xeC7NMufKoeUy',
    retryable: false,
    message: 'Internal server error',
  },
  'anthropic-err529-a': { code: 'overloaded', vendorCode: 'overloaded_error', message: 'Overloaded' },
  'anthropic-in-stream-error-a': { code: 'overloaded', vendorCode: 'overloaded_error', message: 'Overloaded' },
  'azure-chat-err404-a': {
    code: 'model-not-found',
    vendorCode: 'DeploymentNotFound',
    message: 'API deployment for this resource does not exist',
  },
  'azure-chat-err413-a': {
    code: 'context-too-long',
    requestId: '61e12dc5-5406-44e6-9c9e-804725201010',
    message: 'length limit exceeded',
  },
  'azure-chat-err500-a': {
    code: 'vendor-error',
    requestId: '7335eeb2-ff1d-4da0-b453-c7d3b63f7964',
    message: 'Failed to reconstruct non-streaming response',
  },
  'gemini-err400-a': { code: 'auth-failed', vendorCode: 'INVALID_ARGUMENT', message: 'API key not valid' },
  'gemini-err404-a': {
    code: 'model-not-found',
    vendorCode: 'NOT_FOUND',
    message: 'models/gemini-1.5-flash is not found',
  },
  'gemini-err429-a': {
    code: 'rate-limited',
    vendorCode: 'RESOURCE_EXHAUSTED',
    retryAfterMs: 21_000,
    message: 'You exceeded your current quota',
  },
  'gemini-err503-a': { code: 'overloaded', vendorCode: 'UNAVAILABLE', message: 'The model is overloaded' },
  'gemini-vertex-unexpected-a': {
    code: 'invalid-request',
    vendorCode: 'INVALID_ARGUMENT',
    message: 'Cannot fetch content',
  },
  'groq-err400-tool-use-failed-a': {
    code: 'invalid-request',
    vendorCode: 'tool_use_failed',
    message: 'The model wrote: {"name": "get_something_by_name"',
  },
  'groq-err404-a': { code: 'model-not-found', vendorCode: 'model_not_found', message: 'llama-3.3-70b-versatlie' },
  'groq-err429-a': {
    code: 'rate-limited',
    vendorCode: 'rate_limit_exceeded',
    retryAfterMs: 6_000,
    message: 'Please try again in 5.52s',
  },
  'groq-in-stream-error-a': {
    code: 'invalid-request',
    vendorCode: 'tool_use_failed',
    message: 'The model wrote: {"name": "get_something_by_name"',
  },
  'llama-err401-a': { code: 'auth-failed', vendorCode: 'api_error', message: 'Unauthorized' },
  'llama-err429-a': {
    code: 'rate-limited',
    vendorCode: 'request_quota_exceeded',
    retryAfterMs: 660,
    message: 'Requests per second limit exceeded',
  },
  'llama-err500-a': {
    code: 'vendor-error',
    vendorCode: 'server_error',
    requestId: 'oS9XtEv-3pDw3Z-9b97ab906d73553b',
    retryAfterMs: 1_000,
    message: 'Internal server error',
  },
  'openai-chat-err400-a': {
    code: 'invalid-request',
    vendorCode: 'unsupported_parameter',
    requestId: 'req_7be4715c3ee32aa406eacb68c7cc966e',
    path: 'stop',
    message: "'stop' is not supported",
  },
  'openai-chat-err429-a': {
    code: 'rate-limited',
    vendorCode: 'rate_limit_exceeded',
    retryable: false,
    message: 'Request too large',
  },
  'openai-chat-err503-a': { code: 'overloaded', message: 'upstream connect error' },
  'openai-resp-err400-ctx-a': {
    code: 'invalid-request',
    vendorCode: 'invalid_request_error',
    path: 'input',
    message: 'without its required following item',
  },
  'openai-resp-err401-a': { code: 'auth-failed', vendorCode: 'invalid_api_key', message: 'Incorrect API key provided' },
  'openai-resp-err500-a': {
    code: 'vendor-error',
    vendorCode: 'server_error',
    requestId: 'req_c36106f48453f640180ea6ebcbb538e5',
    message: 'An error occurred while processing',
  },
  'openai-resp-stream-error-failed-a': {
    code: 'quota-exceeded',
    vendorCode: 'insufficient_quota',
    message: 'You exceeded your current quota',
  },
  'xai-chat-err400-a': {
    code: 'auth-failed',
    vendorCode: 'Client specified an invalid argument',
    message: 'Incorrect API key provided',
  },
};

describe('vendorError on recorded responses', () => {
  const cases = (JSON.parse(readFileSync(join(RECORDED, 'index.json'), 'utf8')) as { cases: RecordedCase[] }).cases;
  const seen = new Set<string>();

  for (const recorded of cases) {
    for (const exchange of recorded.exchanges) {
      const bodies = errorBodies(exchange);
      bodies.forEach((body, index) => {
        const expected = RECORDED_ERRORS[recorded.id];
        seen.add(recorded.id);
        it(`names the error of ${recorded.id}, exchange ${exchange.n}, error ${index + 1}`, () => {
          const headers = exchange.responseHeaders ?? {};
          const error = vendorError({
            vendor: recorded.vendor,
            ...(exchange.status >= 400 ? { status: exchange.status } : {}),
            body,
            header: (name) => headers[name],
          });
          expect(error.message).to.not.equal('');
          expect(error.httpStatus).to.equal(ERROR_TABLE[error.code].http);
          if (expected) expectError(error, expected);
        });
      });
    }
  }

  it('has an expectation for every recorded error of this repository', () => {
    expect(Object.keys(RECORDED_ERRORS).filter((id) => !seen.has(id))).to.deep.equal([]);
    expect(seen.size).to.be.at.least(30);
  });
});

interface Synthetic {
  readonly title: string;
  readonly status?: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly code: ErrorCode;
  readonly retryable?: boolean;
  readonly vendorCode?: string;
  readonly retryAfterMs?: number;
  readonly requestId?: string;
  readonly message?: string;
}

const openai = (message: string, code: string | null = null, type = 'invalid_request_error') => ({
  error: { message, type, param: null, code },
});
const anthropic = (type: string, message: string) => ({ type: 'error', error: { type, message }, request_id: 'req_1' });
const gemini = (code: number, status: string, message: string, details: unknown[] = []) => ({
  error: { code, status, message, details },
});
const xai = (code: string, error: string) => ({ code, error });

const SYNTHETIC: readonly Synthetic[] = [
  // Context length, as each vendor words it.
  {
    title: 'OpenAI context length',
    status: 400,
    body: openai(
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 8227 tokens.",
      'context_length_exceeded',
    ),
    code: 'context-too-long',
  },
  {
    title: 'OpenAI Responses context window',
    status: 400,
    body: openai('Your input exceeds the context window of this model. Please adjust your input and try again.'),
    code: 'context-too-long',
  },
  {
    title: 'Perplexity total length',
    status: 400,
    body: {
      error: { message: 'The total length of all messages is too long.', type: 'too_many_prompt_tokens', code: 400 },
    },
    code: 'context-too-long',
  },
  {
    title: 'Mistral',
    status: 400,
    body: { object: 'error', message: 'Invalid model: x', type: 'invalid_model', param: null, code: '1500' },
    headers: { 'mistral-correlation-id': 'c1' },
    code: 'model-not-found',
    requestId: 'c1',
  },
  {
    title: 'Z.ai prompt length',
    status: 400,
    body: { error: { code: '1261', message: 'Prompt exceeds max length' } },
    code: 'context-too-long',
    vendorCode: '1261',
  },
  {
    title: 'Z.ai arrears',
    status: 429,
    body: { error: { code: '1113', message: 'Your account is in arrears, please recharge and try again' } },
    code: 'quota-exceeded',
    retryable: false,
    vendorCode: '1113',
  },
  {
    title: 'Model Studio input length',
    status: 400,
    body: openai('Range of input length should be [1, 30720]', 'invalid_parameter_error'),
    code: 'context-too-long',
  },
  {
    title: 'Model Studio arrears',
    status: 400,
    body: openai('Access denied, please make sure your account is in good standing.', 'Arrearage', 'Arrearage'),
    code: 'quota-exceeded',
    retryable: false,
  },
  {
    title: 'Model Studio inspection',
    status: 400,
    body: openai('Input data may contain inappropriate content.', 'data_inspection_failed', 'data_inspection_failed'),
    code: 'content-filtered',
  },
  {
    title: 'Moonshot quota',
    status: 429,
    body: openai(
      'You exceeded your current token quota: 0, please check your account balance',
      null,
      'exceeded_current_quota_error',
    ),
    code: 'quota-exceeded',
    retryable: false,
  },
  ...(
    [
      [1004, 'login fail: Please carry the API secret key', 'auth-failed'],
      [1008, 'insufficient balance', 'quota-exceeded'],
      [1026, 'input new_sensitive', 'content-filtered'],
      [2013, 'invalid params', 'invalid-request'],
    ] as const
  ).map(([status_code, status_msg, code]) => ({
    title: `MiniMax ${status_code} in a 200 body`,
    body: { base_resp: { status_code, status_msg } },
    code,
    vendorCode: String(status_code),
    message: status_msg,
  })),
  {
    title: 'OpenRouter unknown model',
    status: 400,
    body: { error: { code: 400, message: 'openai/gpt-0 is not a valid model ID' }, user_id: 'u' },
    code: 'model-not-found',
  },
  {
    title: 'Anthropic prompt too long',
    status: 400,
    body: anthropic('invalid_request_error', 'prompt is too long: 207791 tokens > 200000 maximum'),
    code: 'context-too-long',
    requestId: 'req_1',
  },
  {
    title: 'Anthropic input and max_tokens',
    status: 400,
    body: anthropic(
      'invalid_request_error',
      'input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000',
    ),
    code: 'context-too-long',
  },
  {
    title: 'Anthropic request too large',
    status: 413,
    body: anthropic('request_too_large', 'Request exceeds the maximum size'),
    code: 'context-too-long',
  },
  {
    title: 'Gemini token count',
    status: 400,
    body: gemini(
      400,
      'INVALID_ARGUMENT',
      'The input token count (1196265) exceeds the maximum number of tokens allowed (1048576).',
    ),
    code: 'context-too-long',
  },
  {
    title: 'Gemini in an array',
    status: 400,
    body: [
      gemini(
        400,
        'INVALID_ARGUMENT',
        'The input token count (1054016) exceeds the maximum number of tokens allowed (1048576).',
      ),
    ],
    code: 'context-too-long',
  },
  {
    title: 'Vertex token count',
    status: 400,
    body: gemini(
      400,
      'INVALID_ARGUMENT',
      'Unable to submit request because the input token count is 2000000 but model only supports up to 1048576.',
    ),
    code: 'context-too-long',
  },
  {
    title: 'xAI prompt length',
    status: 400,
    body: xai(
      'Client specified an invalid argument',
      "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
    ),
    code: 'context-too-long',
  },
  {
    title: 'Groq length',
    status: 400,
    body: openai('Please reduce the length of the messages or completion.', 'context_length_exceeded'),
    code: 'context-too-long',
  },
  {
    title: 'Groq 413 above the minute limit',
    status: 413,
    body: openai(
      'Request too large for model `llama-3.1-8b-instant` on tokens per minute (TPM): Limit 6000, Requested 12328, please reduce your message size and try again.',
      'rate_limit_exceeded',
      'tokens',
    ),
    code: 'context-too-long',
  },
  {
    title: 'vLLM flat',
    status: 400,
    body: {
      object: 'error',
      message: 'The decoder prompt (length 5000) is longer than the maximum model length of 4096.',
      type: 'BadRequestError',
      code: 400,
    },
    code: 'context-too-long',
  },
  {
    title: 'Together max_seq_len',
    status: 400,
    body: openai('length of prompt_tokens (163280) must be less than max_seq_len (32768).'),
    code: 'context-too-long',
  },
  {
    title: 'Together max_new_tokens',
    status: 422,
    body: openai('Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193.'),
    code: 'context-too-long',
  },
  {
    title: 'llama.cpp',
    status: 400,
    body: {
      error: {
        code: 400,
        message: 'the request exceeds the available context size, try increasing it',
        type: 'exceed_context_size_error',
      },
    },
    code: 'context-too-long',
  },
  {
    title: 'llama.cpp as 500',
    status: 500,
    body: { error: { code: 500, message: 'context size has been exceeded', type: 'server_error' } },
    code: 'context-too-long',
  },
  {
    title: 'LM Studio',
    status: 400,
    body: { error: 'The number of tokens to keep from the initial prompt is greater than the context length.' },
    code: 'context-too-long',
  },
  {
    title: 'OpenRouter in a 200 body',
    body: {
      error: {
        code: 400,
        message: "This endpoint's maximum context length is 32768 tokens. However, you requested about 40000 tokens.",
      },
    },
    code: 'context-too-long',
  },
  {
    title: 'too large an answer is not context',
    status: 400,
    body: anthropic(
      'invalid_request_error',
      'max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for this model',
    ),
    code: 'invalid-request',
  },
  {
    title: 'Groq max_tokens is not context',
    status: 400,
    body: openai(
      '`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model',
    ),
    code: 'invalid-request',
  },
  {
    title: 'a long string is not context',
    status: 400,
    body: openai(
      "Invalid 'messages[0].content': string too long. Expected a string with maximum length 10485760.",
      'string_above_max_length',
    ),
    code: 'invalid-request',
  },

  // Keys and permissions.
  {
    title: 'OpenAI bad key',
    status: 401,
    body: openai(
      'Incorrect API key provided: sk-abcd****wxyz. You can find your API key at https://platform.openai.com.',
      'invalid_api_key',
    ),
    code: 'auth-failed',
    vendorCode: 'invalid_api_key',
  },
  {
    title: 'Azure string code',
    status: 401,
    body: { error: { code: '401', message: 'Access denied due to invalid subscription key or wrong API endpoint.' } },
    code: 'auth-failed',
    vendorCode: '401',
  },
  {
    title: 'Azure gateway',
    status: 401,
    body: {
      statusCode: 401,
      message: 'Unauthorized. Access token is missing, invalid, audience is incorrect, or have expired.',
    },
    code: 'auth-failed',
  },
  {
    title: 'Azure role missing',
    status: 401,
    body: { error: { code: 'PermissionDenied', message: 'The principal lacks the required data action.' } },
    code: 'permission-denied',
  },
  {
    title: 'Gemini expired key',
    status: 400,
    body: gemini(400, 'INVALID_ARGUMENT', 'API key expired. Please renew the API key.', [
      { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' },
    ]),
    code: 'auth-failed',
  },
  {
    title: 'Gemini without key',
    status: 403,
    body: gemini(
      403,
      'PERMISSION_DENIED',
      "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity.",
    ),
    code: 'auth-failed',
  },
  {
    title: 'Gemini OAuth',
    status: 401,
    body: gemini(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.'),
    code: 'auth-failed',
  },
  {
    title: 'Gemini service off',
    status: 403,
    body: gemini(
      403,
      'PERMISSION_DENIED',
      'Generative Language API has not been used in project 1 before or it is disabled.',
      [{ reason: 'SERVICE_DISABLED' }],
    ),
    code: 'permission-denied',
  },
  {
    title: 'xAI bad key',
    status: 400,
    body: xai('Client specified an invalid argument', 'Incorrect API key provided: xa***yz.'),
    code: 'auth-failed',
  },
  {
    title: 'Anthropic permission',
    status: 403,
    body: anthropic('permission_error', 'Your API key does not have permission to use the specified resource.'),
    code: 'permission-denied',
  },
  {
    title: 'OpenAI region',
    status: 403,
    body: openai(
      'Country, region, or territory not supported',
      'unsupported_country_region_territory',
      'request_forbidden',
    ),
    code: 'permission-denied',
  },
  {
    title: 'OpenAI scopes',
    status: 401,
    body: openai('You have insufficient permissions for this operation. Missing scopes: model.request.'),
    code: 'permission-denied',
  },

  // Models.
  {
    title: 'OpenAI model',
    status: 404,
    body: openai('The model `gpt-9` does not exist or you do not have access to it.', 'model_not_found'),
    code: 'model-not-found',
  },
  {
    title: 'OpenAI Responses model',
    status: 400,
    body: openai("The requested model 'gpt-9' does not exist.", 'model_not_found'),
    code: 'model-not-found',
  },
  { title: 'OpenAI model id', status: 400, body: openai('invalid model ID'), code: 'model-not-found' },
  {
    title: 'Ollama model',
    status: 404,
    body: {
      error: { message: 'model "foo" not found, try pulling it first', type: 'api_error', param: null, code: null },
    },
    code: 'model-not-found',
  },
  {
    title: 'xAI model',
    status: 404,
    body: xai(
      'Some requested entity was not found',
      'The model grok-9 does not exist or your team does not have access to it.',
    ),
    code: 'model-not-found',
  },
  {
    title: 'Groq decommissioned',
    status: 400,
    body: openai(
      'The model `mixtral-8x7b-32768` has been decommissioned and is no longer supported.',
      'model_decommissioned',
    ),
    code: 'model-not-found',
  },
  {
    title: 'Azure AI model',
    status: 400,
    body: { error: { code: 'unknown_model', message: 'Unknown model: foo', details: 'Unknown model: foo' } },
    code: 'model-not-found',
  },
  {
    title: 'a stored item, not a model',
    status: 404,
    body: openai("Item with id 'rs_1' not found. Items are not persisted when `store` is set to false."),
    code: 'invalid-request',
  },
  {
    title: 'a previous response, not a model',
    status: 400,
    body: openai("Previous response with id 'resp_1' not found.", 'previous_response_not_found'),
    code: 'invalid-request',
  },
  {
    title: 'an Anthropic file, not a model',
    status: 404,
    body: anthropic('not_found_error', 'File not found: file_1'),
    code: 'invalid-request',
  },

  // Filters.
  {
    title: 'Azure filter',
    status: 400,
    body: {
      error: {
        message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        type: null,
        param: 'prompt',
        code: 'content_filter',
        status: 400,
        innererror: { code: 'ResponsibleAIPolicyViolation' },
      },
    },
    code: 'content-filtered',
    vendorCode: 'content_filter',
  },
  {
    title: 'OpenAI image policy',
    status: 400,
    body: openai(
      'Your request was rejected by the safety system.',
      'content_policy_violation',
      'image_generation_user_error',
    ),
    code: 'content-filtered',
  },
  {
    title: 'OpenAI flagged prompt',
    status: 400,
    body: openai(
      'Invalid prompt: your prompt was flagged as potentially violating our usage policy.',
      'invalid_prompt',
    ),
    code: 'content-filtered',
  },
  {
    title: 'a Responses error with a flagged prompt',
    body: {
      code: 'invalid_prompt',
      message: 'Invalid prompt: your prompt was flagged as potentially violating our usage policy.',
    },
    code: 'content-filtered',
  },
  {
    title: 'Anthropic filter',
    status: 400,
    body: anthropic('invalid_request_error', 'Output blocked by content filtering policy'),
    code: 'content-filtered',
  },
  {
    title: 'xAI filter',
    status: 403,
    body: xai(
      'The caller does not have permission to execute the specified operation',
      'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO',
    ),
    code: 'content-filtered',
  },

  // Rate limits and quota are different errors.
  {
    title: 'OpenAI quota',
    status: 429,
    body: openai(
      'You exceeded your current quota, please check your plan and billing details.',
      'insufficient_quota',
      'insufficient_quota',
    ),
    code: 'quota-exceeded',
  },
  {
    title: 'OpenAI rate limit',
    status: 429,
    body: openai(
      'Rate limit reached for gpt-4o on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s.',
      'rate_limit_exceeded',
      'requests',
    ),
    code: 'rate-limited',
    retryAfterMs: 20_000,
  },
  {
    title: 'a Responses error without status',
    body: { code: 'rate_limit_exceeded', message: 'Rate limit reached. Please try again in 250ms.' },
    code: 'rate-limited',
    retryAfterMs: 250,
  },
  {
    title: 'Anthropic credit',
    status: 400,
    body: anthropic(
      'invalid_request_error',
      'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
    ),
    code: 'quota-exceeded',
  },
  {
    title: 'Anthropic usage limit',
    status: 400,
    body: anthropic(
      'invalid_request_error',
      'You have reached your specified API usage limits. You will regain access on 2027-01-01 at 00:00 UTC.',
    ),
    code: 'quota-exceeded',
  },
  {
    title: 'Anthropic spend limit',
    status: 429,
    body: {
      type: 'error',
      error: {
        type: 'rate_limit_error',
        message: 'The spend limit is reached.',
        details: { error_code: 'contract_spend_limit_reached' },
      },
      request_id: 'req_1',
    },
    code: 'quota-exceeded',
    vendorCode: 'contract_spend_limit_reached',
  },
  {
    title: 'an expired Anthropic file',
    status: 404,
    body: {
      type: 'error',
      error: { type: 'not_found_error', message: 'Gone.', details: { error_code: 'file_expired' } },
      request_id: null,
    },
    code: 'invalid-request',
  },
  {
    title: 'xAI credits as 403',
    status: 403,
    body: xai(
      'The caller does not have permission to execute the specified operation',
      "Your newly created team doesn't have any credits yet.",
    ),
    code: 'quota-exceeded',
  },
  {
    title: 'xAI credits as 429',
    status: 429,
    body: xai(
      'Some resource has been exhausted',
      'Your team has either used all available credits or reached its monthly spending limit.',
    ),
    code: 'quota-exceeded',
  },
  {
    title: 'payment required',
    status: 402,
    body: { error: { message: 'Insufficient Balance', code: 402 } },
    code: 'quota-exceeded',
  },
  {
    title: 'Gemini per day',
    status: 429,
    body: gemini(429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.', [
      {
        '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
        violations: [{ quotaId: 'GenerateRequestsPerDayPerProjectPerModel-FreeTier' }],
      },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '33s' },
    ]),
    code: 'quota-exceeded',
    retryAfterMs: 33_000,
  },
  {
    title: 'Gemini, behind a proxy that adds details of its own',
    status: 429,
    body: gemini(429, 'RESOURCE_EXHAUSTED', 'Too many requests.', [
      null,
      'quota',
      { retryDelay: 12 },
      { retryDelay: 'soon' },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '2.5s' },
    ]),
    code: 'rate-limited',
    retryAfterMs: 2_500,
  },
  {
    title: 'Azure rate limit',
    status: 429,
    body: {
      error: {
        code: '429',
        message:
          'Requests have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 9 seconds.',
      },
    },
    code: 'rate-limited',
    retryAfterMs: 9_000,
  },
  {
    title: 'Groq per day',
    status: 429,
    body: openai(
      'Rate limit reached on tokens per day (TPD): Limit 100000, Used 97050, Requested 3619. Please try again in 9m38.016s.',
      'rate_limit_exceeded',
      'tokens',
    ),
    code: 'rate-limited',
    retryAfterMs: 578_016,
  },
  {
    title: 'Cerebras tokens',
    status: 429,
    body: {
      message: 'Tokens per minute limit exceeded - too many tokens processed.',
      type: 'too_many_tokens_error',
      param: 'quota',
      code: 'token_quota_exceeded',
    },
    code: 'rate-limited',
  },
  { title: '429 as plain text', status: 429, body: 'Too Many Requests', code: 'rate-limited' },

  // Trouble on the other side.
  {
    title: 'OpenAI overloaded without status',
    body: {
      type: 'error',
      code: 'server_error',
      message: 'The model is currently overloaded with other requests.',
      param: null,
      sequence_number: 3,
    },
    code: 'overloaded',
  },
  {
    title: 'a flat Responses error event',
    body: { type: 'error', code: 'server_error', message: 'Something broke', param: null, sequence_number: 3 },
    code: 'vendor-error',
    vendorCode: 'server_error',
  },
  {
    title: 'a response.failed event',
    body: {
      type: 'response.failed',
      response: { id: 'resp_1', error: { code: 'server_error', message: 'Something broke' } },
    },
    code: 'vendor-error',
  },
  {
    title: 'an error in a chat chunk',
    body: { error: { message: 'Provider returned error', code: 502, metadata: { raw: 'upstream closed' } } },
    code: 'vendor-error',
    message: 'upstream closed',
  },
  {
    title: 'a Gemini error in a stream',
    body: gemini(503, 'UNAVAILABLE', 'The service is currently unavailable.'),
    code: 'overloaded',
  },
  { title: 'Anthropic timeout', status: 504, body: anthropic('timeout_error', 'Request timed out'), code: 'timeout' },
  { title: 'request timeout', status: 408, body: '', code: 'timeout' },
  {
    title: 'gateway page without text',
    status: 502,
    body: '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body><center><h1>502 Bad Gateway</h1></center><hr><center>nginx</center></body></html>',
    code: 'vendor-error',
    message: '502 Bad Gateway',
  },
  {
    title: 'an untitled page',
    status: 500,
    body: '<!DOCTYPE html><html><head><style>b{color:red}</style><script>alert(1)</script></head><body><b>Oops</b> &amp; sorry</body></html>',
    code: 'vendor-error',
    message: 'Oops & sorry',
  },
  {
    title: 'Groq flex capacity',
    status: 498,
    body: openai('Flex tier capacity exceeded', 'capacity_exceeded'),
    code: 'overloaded',
  },
  { title: 'no body at all', status: 500, body: undefined, code: 'vendor-error', message: 'status 500' },
  { title: 'nothing known', body: null, code: 'vendor-error' },
  { title: 'a conflict', status: 409, body: openai('Conflict'), code: 'conflict' },
  {
    title: 'validation',
    status: 422,
    body: { detail: [{ loc: ['body', 'messages'], msg: 'field required', type: 'value_error.missing' }] },
    code: 'invalid-request',
    message: 'field required',
  },
  { title: 'a redirect', status: 307, body: '', code: 'vendor-error', retryable: false },
  {
    title: 'a 200 with an error body',
    status: 200,
    body: openai('The model `x` does not exist', 'model_not_found'),
    code: 'model-not-found',
  },
  {
    title: 'JSON in text',
    status: 400,
    body: '{"error":{"message":"nope","type":"invalid_request_error"}}',
    code: 'invalid-request',
    message: 'nope',
  },
  { title: 'a JSON text for a body', status: 429, body: '"Slow down"', code: 'rate-limited', message: 'Slow down' },
  {
    title: 'an error inside the message of a gateway',
    status: 500,
    body: { error: { message: JSON.stringify(openai('Too long', 'context_length_exceeded')), code: 500 } },
    code: 'context-too-long',
    vendorCode: '500',
    message: 'Too long',
  },
  {
    title: 'an error that another vendor wrapped',
    status: 400,
    body: {
      error: {
        message: 'Provider returned error',
        code: 400,
        metadata: { raw: JSON.stringify(openai('No such key', 'invalid_api_key')) },
      },
    },
    code: 'auth-failed',
    vendorCode: '400',
    message: 'Provider returned error: No such key',
  },
  {
    title: 'violations inside a message',
    status: 422,
    body: {
      object: 'error',
      message: { detail: [{ type: 'missing', loc: ['body'], msg: 'Field required' }] },
      type: 'invalid_request_error',
    },
    code: 'invalid-request',
    message: 'Field required',
  },
  {
    title: 'a message that is no text',
    status: 400,
    body: { error: { message: ['one', 'two'] } },
    code: 'invalid-request',
    message: '["one","two"]',
  },
  { title: 'braces that are not JSON', status: 400, body: '{oops', code: 'invalid-request', message: '{oops' },

  // Hints.
  {
    title: 'retry-after-ms before retry-after',
    status: 429,
    body: '',
    headers: { 'retry-after-ms': '660', 'retry-after': '9' },
    code: 'rate-limited',
    retryAfterMs: 660,
  },
  {
    title: 'retry-after with a fraction',
    status: 429,
    body: '',
    headers: { 'retry-after': '0.5' },
    code: 'rate-limited',
    retryAfterMs: 500,
  },
  {
    title: 'retry-after at once',
    status: 429,
    body: openai('Please try again in 9s.', 'rate_limit_exceeded', 'tokens'),
    headers: { 'retry-after': '0' },
    code: 'rate-limited',
    retryAfterMs: 0,
  },
  {
    title: 'retry-after-ms at once',
    status: 429,
    body: '',
    headers: { 'retry-after-ms': '0', 'retry-after': '9' },
    code: 'rate-limited',
    retryAfterMs: 0,
  },
  {
    title: 'retry-after as a date',
    status: 429,
    body: '',
    headers: { 'retry-after': 'Wed, 01 Jan 2025 00:00:30 GMT' },
    code: 'rate-limited',
    retryAfterMs: 30_000,
  },
  {
    title: 'retry-after in the past',
    status: 429,
    body: '',
    headers: { 'retry-after': 'Tue, 31 Dec 2024 00:00:30 GMT' },
    code: 'rate-limited',
    retryAfterMs: 0,
  },
  {
    title: 'a retry-after that is no time',
    status: 503,
    body: '',
    headers: { 'retry-after': 'soon' },
    code: 'overloaded',
  },
  {
    title: 'minutes and seconds',
    status: 429,
    body: openai('Please try again in 1m2.3s. Visit the docs.', 'rate_limit_exceeded', 'tokens'),
    code: 'rate-limited',
    retryAfterMs: 62_300,
  },
  {
    title: 'seconds',
    status: 429,
    body: openai('Please try again in 7.66s.', 'rate_limit_exceeded', 'tokens'),
    code: 'rate-limited',
    retryAfterMs: 7_660,
  },
  {
    title: 'a server error with x-should-retry: false',
    status: 500,
    body: anthropic('api_error', 'x'),
    headers: { 'x-should-retry': 'false' },
    code: 'vendor-error',
    retryable: false,
  },
];

describe('vendorError on responses of every kind', () => {
  for (const each of SYNTHETIC) {
    it(`classifies ${each.title}`, () => {
      const clock = sinon.useFakeTimers({ now: Date.UTC(2025, 0, 1), toFake: ['Date'] });
      try {
        const error = vendorError({
          vendor: 'somewhere',
          ...(each.status === undefined ? {} : { status: each.status }),
          body: each.body,
          header: (name) => each.headers?.[name] ?? null,
        });
        expectError(error, { ...each, message: each.message ?? '' });
      } finally {
        clock.restore();
      }
    });
  }

  for (const zone of ['UTC', 'America/New_York', 'Asia/Kolkata'])
    it(`reads all dates of HTTP in ${zone}`, () => {
      const clock = sinon.useFakeTimers({ now: Date.UTC(2025, 0, 1), toFake: ['Date'] });
      try {
        // https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7: a recipient must accept the obsolete ones, too.
        for (const date of [
          'Wed, 01 Jan 2025 00:00:30 GMT',
          'Wednesday, 01-Jan-25 00:00:30 GMT',
          'Wed Jan  1 00:00:30 2025',
        ]) {
          const header = (name: string): string | null => (name === 'retry-after' ? date : null);
          const error = inTimeZone(zone, () => vendorError({ vendor: 'openai', status: 429, body: '', header }));
          expect(error.retryAfterMs, date).to.equal(30_000);
        }
      } finally {
        clock.restore();
      }
    });

  it('preserves cause, response, the given request id and the HTTP status', () => {
    const cause = new Error('from below');
    const error = vendorError({
      vendor: 'openai',
      status: 500,
      body: { error: { message: 'x', code: 429 } },
      requestId: 'given',
      header: () => 'other',
      cause,
    });
    expect(error.cause).to.equal(cause);
    expect(error.requestId).to.equal('given');
    expect(error.status).to.equal(500);
    expect(error.vendor).to.equal('openai');
  });

  it('preserves what the model wrote as the cause of a rejected call', () => {
    const error = vendorError({
      vendor: 'groq',
      status: 400,
      body: { error: { message: 'no', code: 'tool_use_failed', failed_generation: '<function=x>' } },
    });
    expect(error.cause).to.deep.equal({ failed_generation: '<function=x>' });
  });

  it('truncates endless messages', () => {
    const error = vendorError({ vendor: 'x', status: 400, body: openai('😀'.repeat(5_000)) });
    expect(error.message.length).to.be.at.most(1_001);
    expect(error.message.isWellFormed()).to.equal(true);
  });

  it('never throws, whatever the response is', () => {
    fc.assert(
      fc.property(
        fc.option(fc.integer({ min: 100, max: 599 }), { nil: undefined }),
        fc.oneof(fc.anything(), fc.json(), fc.string()),
        fc.string(),
        (status, body, header) => {
          const error = vendorError({
            vendor: 'x',
            ...(status === undefined ? {} : { status }),
            body,
            header: () => header,
          });
          return isLLMError(error) && error.message.length > 0 && (error.retryAfterMs ?? 0) >= 0;
        },
      ),
      { numRuns: 300 },
    );
  });

  it('reads only the start of hostile text, on which its patterns would run for minutes', () => {
    const hostile = [
      '<html>' + '<script'.repeat(200_000),
      'model '.repeat(200_000),
      'try again in ' + '1 '.repeat(500_000),
      '*'.repeat(600_000),
      'a.'.repeat(300_000) + '***',
      'eyJaaaaaaa' + '.a'.repeat(300_000),
    ];
    for (const body of hostile)
      expect(vendorError({ vendor: 'x', status: 400, body }).message.length).to.be.within(1, 1_001);
  });
});

const KEYS: readonly string[] = [
  'sk-proj-Abc123Def456Ghi789Jkl012',
  'sk-ant-api03-AbCdEf123456-_xyz',
  'sk-abcd************wxyz',
  'gsk_AbCdEf0123456789AbCdEf01',
  'xai-AbCdEf0123456789',
  'xa***yz',
  'AIzaSyA1234567890abcdefghijklmnop',
  'ya29.a0AfH6SMBx1234567890',
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc_DEF-123',
  '0123456789abcdef0123456789abcdef',
  '1aB2cD3eF4gH5iJ6kL7mN8oP9qR0sT1uV2wX3yZ4aB5cD6eF7gH8iJ9kL0mN1oP2qR3sT4uV5wX6yZ7aB8cD9',
];

describe('messages of vendorError', () => {
  for (const key of KEYS) {
    it(`never show ${key.slice(0, 8)}…`, () => {
      for (const sentence of [
        `Incorrect API key provided: ${key}. You can find it.`,
        `Bearer ${key} is wrong`,
        `GET /v1/models?key=${key}&alt=sse failed`,
        `key '${key}' expired`,
      ]) {
        for (const body of [
          openai(sentence),
          sentence,
          `<html><title>${sentence}</title></html>`,
          xai('bad', sentence),
        ]) {
          const { message } = vendorError({ vendor: 'x', status: 401, body });
          expect(message).to.include('[redacted]');
          expect(message).to.not.include(key);
          expect(message).to.not.include(key.slice(0, 12));
          expect(message).to.not.include(key.slice(-4));
        }
      }
    });
  }

  it('leave ordinary text, ids and numbers unchanged', () => {
    const sentence =
      'Rate limit reached for model `meta-llama/llama-4-maverick-17b-128e-instruct` in organization `org_01kjh7p9n8f1qs6nz2bz77vy6b`, request req_c36106f48453f640180ea6ebcbb538e5, item rs_68c42de022c881948db7ed1cc2529f2e0202c9ad459e0d23: Limit 6000. Text-or-image2 max_tokens: 100000 > 64000. Basic authentication. Invalid token: 3 of 4. Please use an API key from https://console.x.ai/team/c853730f-fe0f-4537-b8a2-0e6e33c8342d.';
    expect(vendorError({ vendor: 'x', status: 429, body: openai(sentence) }).message).to.equal(sentence);
  });
});

function expectError(error: LLMError, expected: Omit<Expectation, 'message'> & { readonly message: string }): void {
  expect({ code: error.code, retryable: error.retryable }).to.deep.equal({
    code: expected.code,
    retryable: expected.retryable ?? ERROR_TABLE[expected.code].retryable,
  });
  expect(error.message).to.include(expected.message);
  if (expected.vendorCode !== undefined) expect(error.vendorCode).to.equal(expected.vendorCode);
  if (expected.requestId !== undefined) expect(error.requestId).to.equal(expected.requestId);
  if (expected.path !== undefined) expect(error.path).to.equal(expected.path);
  expect(error.retryAfterMs).to.equal(expected.retryAfterMs);
}

/**
 * The error bodies of an exchange: the HTTP body of an error status, or each error payload in a stream or a 200
 * body.
 */
function errorBodies(exchange: Exchange): unknown[] {
  const text = readFileSync(join(RECORDED, exchange.responseFile), 'utf8');
  if (exchange.status >= 400) return [text];
  const payloads = exchange.responseFile.endsWith('.sse')
    ? [...text.matchAll(/^data: ?(.*)\r?$/gm)].map((match) => match[1] ?? '')
    : exchange.responseFile.endsWith('.jsonl')
      ? text.split('\n')
      : [text];
  return payloads
    .filter((payload) => payload.startsWith('{'))
    .map((payload) => JSON.parse(payload) as Record<string, unknown>)
    .filter(isError);
}

function isError(payload: Record<string, unknown>): boolean {
  const response = payload.response as { error?: unknown } | undefined;
  return (
    payload.type === 'error' || payload.type === 'response.failed' || Boolean(payload.error) || Boolean(response?.error)
  );
}
