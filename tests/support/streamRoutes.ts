/** All streaming routes of the gateway, with a client's request for each. */
import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import { TOKENS } from './gateway';
import type { Gateway } from './gateway';

export interface StreamRoute {
  readonly name: string;
  readonly path: (model: string) => string;
  readonly body: (model: string) => JsonObject;
  /** Matches a stream of this API that ends with an error. */
  readonly failure: RegExp;
}

const GOOGLE_BODY = { contents: [{ parts: [{ text: 'go' }] }] };

export const STREAM_ROUTES: readonly StreamRoute[] = [
  {
    name: 'Responses',
    path: () => '/v1/responses',
    body: (model) => ({ model, input: 'go', stream: true }),
    failure: /\nevent: error\ndata: \{"error":\{[^\n]*\n\nevent: response\.failed\ndata: [^\n]*\n\ndata: \[DONE\]\n\n$/,
  },
  {
    name: 'chat',
    path: () => '/v1/chat/completions',
    body: (model) => ({ model, messages: [{ role: 'user', content: 'go' }], stream: true }),
    failure: /\ndata: \{"error":\{"message":"[^\n]*\}\n\n$/,
  },
  {
    name: 'Messages',
    path: () => '/v1/messages',
    body: (model) => ({ model, max_tokens: 100, messages: [{ role: 'user', content: 'go' }], stream: true }),
    failure: /\nevent: error\ndata: \{"type":"error","error":\{[^\n]*\n\n$/,
  },
  {
    name: 'Gemini',
    path: (model) => `/v1beta/models/${model}:streamGenerateContent?alt=sse`,
    body: () => GOOGLE_BODY,
    failure: /\ndata: \{"error":\{"code":\d+,[^\n]*\n\r\n: keep-alive\n\n$/,
  },
  {
    name: 'Gemini, as an array,',
    path: (model) => `/v1beta/models/${model}:streamGenerateContent`,
    body: () => GOOGLE_BODY,
    failure: /,\r\n\{"error":\{"code":\d+,[^\n]*\}\n$/,
  },
];

/** Requests a stream on a separate connection. */
export function openStream(gateway: Gateway, { path, body }: StreamRoute, model: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${TOKENS.ann}`, 'content-type': 'application/json' };
    const request = httpRequest(gateway.url + path(model), { method: 'POST', agent: false, headers }, resolve);
    request.once('error', reject);
    request.end(JSON.stringify(body(model)));
  });
}

export async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

export interface BrokenText {
  readonly text: string;
  /** The connection was cut before the end of the body. */
  readonly isCut: boolean;
}

/** The body of a response, which may be cut. */
export async function brokenTextOf(response: IncomingMessage): Promise<BrokenText> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of response) chunks.push(chunk as Buffer);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
    return { text: Buffer.concat(chunks).toString(), isCut: true };
  }
  return { text: Buffer.concat(chunks).toString(), isCut: false };
}
