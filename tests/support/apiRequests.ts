/** Requests of each API of the gateway, and every position that they can have. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import { positionsOf } from './requestPositions';
import type { Path } from './requestPositions';

export interface ApiRequests {
  readonly schema: string;
  /** A vendor with this API, which is sent every field. */
  readonly path: string;
  readonly body: JsonObject;
  /** The request for a vendor with another API. */
  readonly elsewhere: { readonly path?: string; readonly model?: string };
}

export const API_REQUESTS: Readonly<Record<string, ApiRequests>> = {
  responses: {
    schema: 'openai.responses',
    path: '/v1/responses',
    body: { model: 'openai/gpt-5-mini', input: 'Hi' },
    elsewhere: { model: 'anthropic/claude-sonnet-4-5' },
  },
  'chat completions': {
    schema: 'openai-compatible.chat-completions',
    path: '/v1/chat/completions',
    body: { model: 'openai_compatible/a-model', messages: [{ role: 'user', content: 'Hi' }] },
    elsewhere: { model: 'google/gemini-2.5-flash' },
  },
  messages: {
    schema: 'anthropic.messages',
    path: '/v1/messages',
    body: { model: 'anthropic/claude-sonnet-4-5', max_tokens: 1_000, messages: [{ role: 'user', content: 'Hi' }] },
    elsewhere: { model: 'openai/gpt-5-mini' },
  },
  gemini: {
    schema: 'gemini.generateContent',
    path: '/v1beta/models/google/gemini-2.5-flash:generateContent',
    body: { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
    elsewhere: { path: '/v1beta/models/openai_compatible/a-model:generateContent' },
  },
};

export interface RequestPosition {
  readonly path: Path;
  readonly body: JsonObject;
}

/** Requests that have each position in turn. */
export function positionsOfApi({ schema, body }: ApiRequests): readonly RequestPosition[] {
  const file = join(__dirname, `../../imports/simulator/schemas/${schema}.request.schema.json`);
  return positionsOf(JSON.parse(readFileSync(file, 'utf8')) as JsonObject).flatMap(({ path, value }) => {
    const [field] = path;
    return typeof field !== 'string' || field === 'model' || field === 'stream'
      ? []
      : [{ path, body: { ...body, [field]: (value as JsonObject)[field] } }];
  });
}
