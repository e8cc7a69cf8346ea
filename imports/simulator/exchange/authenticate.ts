/** Checks API keys: any key but `bad-key` is valid; a missing key is rejected where the vendor requires one. */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject, VendorName } from '../../business/ai/domain/types/VendorTypes';
import { createErrorBody } from '../rendering/createErrorBody';
import { profileName, vendorProfile } from '../vendorProfiles';
import type { ProfileName } from '../vendorProfiles';

export const BAD_KEY = 'bad-key';

export interface AuthFailure {
  readonly status: number;
  readonly body: JsonObject;
}

const CREDENTIAL_HEADERS: ReadonlySet<string> = new Set([
  'authorization',
  'x-api-key',
  'api-key',
  'x-goog-api-key',
  'cookie',
  'proxy-authorization',
]);

export function readKey(
  vendor: VendorName,
  headers: IncomingHttpHeaders,
  query: Readonly<Record<string, string>>,
): string | undefined {
  for (const name of vendorProfile(vendor).keyHeaders) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '')
      return name === 'authorization' ? value.replace(/^Bearer +/i, '') : value;
  }
  return vendor === 'google' ? query.key : undefined;
}

export function authenticate(vendor: VendorName, key: string | undefined): AuthFailure | undefined {
  if (key === BAD_KEY) return FAILURES[profileName(vendor)].bad;
  return (key === undefined || key === '') && !vendorProfile(vendor).keyOptional
    ? FAILURES[profileName(vendor)].missing
    : undefined;
}

export function hashKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

export function redactCredentials(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined
        ? []
        : [[name, CREDENTIAL_HEADERS.has(name) ? '[redacted]' : Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}

function createFailure(
  vendor: VendorName,
  status: number,
  message: string,
  more: { readonly code?: string; readonly type?: string } = {},
): AuthFailure {
  return { status, body: createErrorBody(vendor, { status, message, ...more }) };
}

/**
 * The vendors' answers, as documented or as recorded: openai-resp-err401-a, anthropic-err401-a, gemini-err400-a,
 * xai-chat-err400-a and llama-err401-a.
 */
const FAILURES: Record<ProfileName, { readonly bad: AuthFailure; readonly missing: AuthFailure }> = {
  openai: {
    bad: createFailure(
      'openai',
      401,
      'Incorrect API key provided: bad-key. You can find your API key at https://platform.openai.com/account/api-keys.',
      {
        code: 'invalid_api_key',
      },
    ),
    missing: createFailure(
      'openai',
      401,
      "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
    ),
  },
  azure_openai: {
    bad: createFailure(
      'azure_openai',
      401,
      [
        'Access denied due to invalid subscription key or wrong API endpoint.',
        'Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource.',
      ].join(' '),
    ),
    missing: createFailure(
      'azure_openai',
      401,
      'Access denied due to missing subscription key. Make sure to include subscription key when making requests to an API.',
    ),
  },
  anthropic: {
    bad: createFailure('anthropic', 401, 'invalid x-api-key'),
    missing: createFailure('anthropic', 401, 'x-api-key header is required'),
  },
  google: {
    bad: { status: 400, body: googleKeyError() },
    missing: createFailure(
      'google',
      403,
      "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
    ),
  },
  grok: {
    bad: createFailure(
      'grok',
      400,
      'Incorrect API key provided: ba***ey. You can obtain an API key from https://console.x.ai.',
    ),
    missing: createFailure('grok', 401, 'No API key provided. You can obtain an API key from https://console.x.ai.', {
      code: 'Unauthenticated',
    }),
  },
  groq: {
    bad: createFailure('groq', 401, 'Invalid API Key', { code: 'invalid_api_key' }),
    missing: createFailure('groq', 401, 'Invalid API Key', { code: 'invalid_api_key' }),
  },
  llama: {
    bad: createFailure('llama', 401, 'Unauthorized', { type: 'api_error' }),
    missing: createFailure('llama', 401, 'Unauthorized', { type: 'api_error' }),
  },
  openai_compatible: {
    bad: createFailure('openai_compatible', 401, 'Unauthorized', { type: 'api_error' }),
    missing: createFailure('openai_compatible', 401, 'Unauthorized', { type: 'api_error' }),
  },
};

function googleKeyError(): JsonObject {
  const message = 'API key not valid. Please pass a valid API key.';
  const details = [
    {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: 'API_KEY_INVALID',
      domain: 'googleapis.com',
      metadata: { service: 'generativelanguage.googleapis.com' },
    },
  ];
  return { error: { code: 400, message, status: 'INVALID_ARGUMENT', details } };
}
