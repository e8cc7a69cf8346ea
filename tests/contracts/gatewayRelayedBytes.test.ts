/**
 * A response on the client's own wire is relayed as the vendor's bytes. What must know more of a call than its bytes
 * either gets it from them, or has the call decoded: each feature still has its effect.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { ByteRelay } from '../../imports/api/http/ByteRelay';
import { createGuardrails } from '../../imports/business/guardrails/createGuardrails';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import { startGateway, TOKENS } from '../support/gateway';
import type { Gateway, GatewayOptions } from '../support/gateway';

const EMAIL = 'bob@example.com';
const WORDS = ['Write', ' to', ` ${EMAIL}`, ' today', ...Array.from({ length: 20 }, (_, at) => ` word${at}`)];
const TEXT = WORDS.join('');
const USAGE = { prompt_tokens: 40, completion_tokens: 60, total_tokens: 100 };
/** Spaces that no JSON of ours has. */
const JSON_BODY = `{ "id": "c-1" ,"object":"chat.completion","created":1,"model":"served-model","choices":[ {"index":0,"message":{"role":"assistant","content":"${TEXT}"},"finish_reason":"stop"}],"usage":${JSON.stringify(USAGE)}, "odd":true }`;

const STREAM = [
  ...WORDS.map((content, at) => ({
    choices: [{ index: 0, delta: { ...(at === 0 ? { role: 'assistant' } : {}), content } }],
  })),
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
]
  .map((chunk) => ({ id: 'c-1', object: 'chat.completion.chunk', created: 1, model: 'served-model', ...chunk }))
  .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
const USAGE_CHUNK = `data: ${JSON.stringify({ id: 'c-1', object: 'chat.completion.chunk', created: 1, model: 'served-model', choices: [], usage: USAGE })}\n\n`;
const END = 'data: [DONE]\n\n';

interface Asked {
  readonly gateway: Gateway;
  readonly response: Response;
  readonly text: string;
  readonly isStream: boolean;
  readonly userId: string;
  /** What the vendor has received. */
  readonly sent: readonly JsonObject[];
  readonly ask: (fields?: JsonObject, headers?: Readonly<Record<string, string>>) => Promise<Response>;
}

interface Feature {
  readonly name: string;
  readonly options?: Partial<GatewayOptions>;
  readonly fields?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  /** The stream is decoded, so that the feature sees its text. */
  readonly isDecoded?: true;
  readonly expect: (asked: Asked) => void | Promise<void>;
}

const isRefused = (status: number) => {
  return ({ response, sent }: Asked): void => {
    expect(response.status).to.equal(status);
    expect(sent).to.deep.equal([]);
  };
};

const FEATURES: readonly Feature[] = [
  {
    name: 'nothing',
    expect: ({ text, isStream }) => {
      expect(text).to.equal(isStream ? [...STREAM, END].join('') : JSON_BODY);
    },
  },
  {
    name: 'the token counts that a client asks for',
    fields: { stream_options: { include_usage: true } },
    expect: ({ text, isStream }) => {
      expect(text).to.equal(isStream ? [...STREAM, USAGE_CHUNK, END].join('') : JSON_BODY);
    },
  },
  {
    name: 'the request log',
    expect: ({ gateway: { requestLog } }) => {
      const entry = requestLog.entries.at(-1);
      expect(entry).to.deep.include({
        state: 'completed',
        model: 'served-model',
        responseId: 'c-1',
        finishReason: 'stop',
      });
      expect(entry?.usage.total_tokens).to.equal(100);
    },
  },
  {
    name: 'logged bodies',
    options: { recordsBodies: true },
    isDecoded: true,
    expect: ({ gateway: { requestLog } }) => {
      expect(requestLog.bodies.at(-1)?.response?.output_text).to.equal(TEXT);
    },
  },
  {
    name: 'a budget',
    options: { budgets: { day: { tokens: 100 } } },
    fields: { max_tokens: 50 },
    expect: async ({ gateway, response, ask }) => {
      expect(response.status).to.equal(200);
      const second = await ask({ max_tokens: 50 });
      expect(second.status, 'the first call has used all of it').to.equal(402);
      expect(gateway.requestLog.entries.at(-1)?.error?.code).to.equal('budget-exceeded');
    },
  },
  {
    name: 'usage by provider and user',
    expect: ({ gateway: { module }, userId }) => {
      expect(module.manager.usage().at(-1)).to.deep.include({ providerId: 'vendor', userId });
      expect(module.manager.usage().at(-1)?.usage.total_tokens).to.equal(100);
    },
  },
  {
    name: 'a routing rule',
    options: { routing: [{ name: 'fast', targets: [{ model: 'vendor/m' }], strategy: 'fallback', enabled: true }] },
    fields: { model: 'fast' },
    expect: ({ response, sent }) => {
      expect(response.headers.get('x-bolide-route')).to.equal('fast');
      expect(sent[0]?.['model']).to.equal('m');
    },
  },
  {
    name: 'the headers of what served the request',
    expect: ({ response: { headers } }) => {
      expect(headers.get('x-bolide-provider')).to.equal('vendor');
      expect(headers.get('x-bolide-attempts')).to.equal('1');
      expect(headers.get('x-request-id')).to.equal('req_of_vendor');
    },
  },
  {
    name: 'a guardrail that masks responses',
    options: { manager: { guardrails: createGuardrails({ pii: { types: ['email'] } }) } },
    isDecoded: true,
    expect: ({ text }) => {
      expect(text).not.to.include('bob');
      expect(text).to.include('[EMAIL]');
    },
  },
  {
    name: 'a guardrail that refuses requests',
    options: { manager: { guardrails: createGuardrails({ bannedWords: { words: ['hello'] } }) } },
    isDecoded: true,
    expect: isRefused(400),
  },
  {
    name: 'cached responses',
    headers: { 'x-bolide-cache': 'max-age=60' },
    isDecoded: true,
    expect: async ({ ask, sent, isStream }) => {
      const again = await ask({}, { 'x-bolide-cache': 'max-age=60' });
      expect(again.headers.get('x-bolide-cache')).to.match(/^hit/);
      expect(await again.text()).to.include(isStream ? ' word19' : TEXT);
      expect(sent).to.have.length(1);
    },
  },
  { name: 'the models of an account', fields: { model: 'vendor/other' }, isDecoded: true, expect: isRefused(404) },
  {
    name: 'objects of others',
    fields: { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-of-bob' } }] }] },
    isDecoded: true,
    expect: isRefused(404),
  },
];

describe('A response that is relayed as bytes', () => {
  let vendor: Server;
  let baseURL: string;
  let sent: JsonObject[] = [];
  let relayed = 0;
  const write = Reflect.get<ByteRelay, 'write'>(ByteRelay.prototype, 'write');

  before(async () => {
    vendor = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = JSON.parse(Buffer.concat(chunks).toString()) as JsonObject;
        sent.push(body);
        response.setHeader('x-request-id', 'req_of_vendor');
        if (body['stream'] !== true) {
          response.setHeader('content-type', 'application/json').end(JSON_BODY);
          return;
        }
        const { include_usage: isCounted } = (body['stream_options'] ?? {}) as JsonObject;
        response.setHeader('content-type', 'text/event-stream');
        response.end([...STREAM, ...(isCounted === true ? [USAGE_CHUNK] : []), END].join(''));
      });
    }).listen(0, '127.0.0.1');
    await once(vendor, 'listening');
    baseURL = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`;
    ByteRelay.prototype.write = function (run) {
      relayed += run.count;
      return write.call(this, run);
    };
  });
  after(async () => {
    ByteRelay.prototype.write = write;
    vendor.closeAllConnections();
    await new Promise((resolve) => vendor.close(resolve));
  });

  for (const { name, options, fields, headers, isDecoded, expect: check } of FEATURES)
    it(`serves ${name}`, async () => {
      const gateway = await startGateway({
        providers: () => [
          {
            id: 'vendor',
            vendor: 'openai_compatible',
            wire: 'chat_completions',
            apiKey: 'a-key-of-the-vendor',
            baseURL,
            allowPrivateHosts: true,
            defaultModel: 'm',
            allowedModels: ['m'],
          },
        ],
        ...options,
      });
      try {
        // Each as a user of its own, who has used nothing.
        for (const userId of ['ann', 'bob'] as const) {
          const isStream = userId === 'bob';
          sent = [];
          relayed = 0;
          const ask: Asked['ask'] = (more = {}, sentHeaders = {}) =>
            gateway.request(
              '/v1/chat/completions',
              { model: 'vendor/m', messages: [{ role: 'user', content: 'Hello' }], stream: isStream, ...more },
              { headers: { authorization: `Bearer ${TOKENS[userId]}`, ...sentHeaders } },
            );
          const response = await ask(fields, headers);
          const text = await response.text();
          if (isStream) expect(relayed > 0, 'messages of the stream passed as bytes').to.equal(isDecoded !== true);
          await check({ gateway, response, text, isStream, userId, sent, ask });
        }
        expect(gateway.unexpected).to.deep.equal([]);
      } finally {
        await gateway.close();
      }
    });
});
