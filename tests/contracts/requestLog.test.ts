/** The log of model calls behind every API of the gateway: one call is one entry, however it ends. */
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenerativeAI } from '@google/generative-ai';
import { expect } from 'chai';
import OpenAI from 'openai';
import type { RequestEntry } from '../../imports/business/ai/domain/types/RequestRecords';
import { LLMQuotaError } from '../../imports/business/ai/domain/errors/LLMErrors';
import { startGateway, TOKENS } from '../support/gateway';
import type { Gateway, GatewayOptions } from '../support/gateway';
import { openSocket } from '../support/responsesSocket';
import { inFlowingTime } from '../support/VirtualTime';

/** Sends a question by an official SDK, and reads the response to its end. */
interface Client {
  readonly ask: (url: string, model: string, stream: boolean) => Promise<void>;
  readonly post: (gateway: Gateway, body: object, init?: RequestInit) => Promise<Response>;
  /** A request by plain HTTP. */
  readonly body: object;
}

const MESSAGES = [{ role: 'user' as const, content: 'Repeat cobalt.' }];

const CLIENTS: Readonly<Record<string, Client>> = {
  responses: {
    body: { input: 'Repeat cobalt.' },
    post: (gateway, body, init = {}) => gateway.request('/v1/responses', body, init as never),
    async ask(url, model, stream) {
      const client = new OpenAI({ apiKey: TOKENS.ann, baseURL: `${url}/v1`, maxRetries: 0 });
      if (!stream) await client.responses.create({ model, input: 'Repeat cobalt.' });
      else await client.responses.stream({ model, input: 'Repeat cobalt.' }).finalResponse();
    },
  },
  chat_completions: {
    body: { messages: MESSAGES },
    post: (gateway, body, init = {}) => gateway.request('/v1/chat/completions', body, init as never),
    async ask(url, model, stream) {
      const client = new OpenAI({ apiKey: TOKENS.ann, baseURL: `${url}/v1`, maxRetries: 0 });
      if (!stream) await client.chat.completions.create({ model, messages: MESSAGES });
      else await client.chat.completions.stream({ model, messages: MESSAGES }).finalChatCompletion();
    },
  },
  anthropic_messages: {
    body: { max_tokens: 100, messages: MESSAGES },
    post: (gateway, body, init = {}) => gateway.request('/v1/messages', body, init as never),
    async ask(url, model, stream) {
      const client = new Anthropic({ apiKey: TOKENS.ann, baseURL: url, maxRetries: 0 });
      const body = { model, max_tokens: 100, messages: MESSAGES };
      if (!stream) await client.messages.create(body);
      else await client.messages.stream(body).finalMessage();
    },
  },
  gemini: {
    body: { contents: [{ role: 'user', parts: [{ text: 'Repeat cobalt.' }] }] },
    post: (gateway, { model, stream, ...body }: { model?: string; stream?: boolean }, init = {}) =>
      gateway.request(
        `/v1beta/models/${model ?? 'google'}:${stream === true ? 'streamGenerateContent' : 'generateContent'}`,
        body,
        init as never,
      ),
    async ask(url, model, stream) {
      const client = new GoogleGenerativeAI(TOKENS.ann);
      const generative = client.getGenerativeModel({ model }, { baseUrl: url });
      if (!stream) await generative.generateContent('Repeat cobalt.');
      else await (await generative.generateContentStream('Repeat cobalt.')).response;
    },
  },
};

/** Pauses that take no time. */
const INSTANT: NonNullable<GatewayOptions['time']> = { random: () => 0.5, sleep: () => Promise.resolve() };

const UNAVAILABLE = {
  status: 503,
  headers: { 'x-request-id': 'req_of_vendor' },
  body: { error: { type: 'server_error', message: 'Down for maintenance.' } },
};

describe(
  'The request log of the gateway',
  inFlowingTime(() => {
    let gateway: Gateway;
    afterEach(() => gateway.close());

    /** The entry of the only call so far. */
    async function onlyEntry(): Promise<RequestEntry> {
      const entries = await gateway.requestLog.seen(1);
      expect(entries).to.have.length(1);
      return entries[0]!;
    }

    for (const [api, client] of Object.entries(CLIENTS)) {
      describe(`of ${api}`, () => {
        for (const [vendor, model] of [
          ['anthropic', 'claude-sonnet-4-5'],
          ['openai', 'gpt-5-mini'],
        ] as const) {
          for (const stream of [false, true]) {
            it(`has one entry for a ${stream ? 'streamed' : 'complete'} response of ${vendor}`, async () => {
              gateway = await startGateway();
              await client.ask(gateway.url, `${vendor}/${model}`, stream);
              const entry = await onlyEntry();
              expect(entry).to.deep.include({
                userId: 'ann',
                source: 'gateway',
                api,
                tokenName: 'token of ann',
                requestedModel: `${vendor}/${model}`,
                providerId: vendor,
                state: 'completed',
                isStream: stream,
                attempts: [],
              });
              expect(entry.tokenId).to.match(/^[0-9a-f]{16}$/);
              expect(entry.httpRequestId).to.match(/^req_[0-9a-f]{24}$/);
              expect(entry.model).to.include(model);
              expect(entry.usage.input_tokens).to.be.greaterThan(0);
              expect(entry.usage.output_tokens).to.be.greaterThan(0);
              expect(entry.vendorRequestId).to.be.a('string');
              expect(entry.error).to.equal(undefined);
              if (stream) expect(entry.timeToFirstToken).to.be.within(0, entry.duration);
              else expect(entry.timeToFirstToken).to.equal(undefined);
            });
          }
        }

        it('names the model as the client asked for it', async () => {
          gateway = await startGateway();
          const response = await client.post(gateway, { ...client.body, model: 'claude-sonnet-4-5' });
          expect(response.status).to.equal(200);
          expect(await onlyEntry()).to.deep.include({ requestedModel: 'claude-sonnet-4-5', providerId: 'anthropic' });
          const { httpRequestId, vendorRequestId } = await onlyEntry();
          // A client of the vendor's own API receives the vendor's id.
          expect([httpRequestId, vendorRequestId]).to.include(response.headers.get('x-request-id'));
        });

        for (const stream of [false, true]) {
          it(`lists retries and the fallback of a ${stream ? 'streamed' : 'complete'} response`, async () => {
            gateway = await startGateway({ attempts: 2, time: INSTANT, fallback: ['groq'] });
            gateway.simulator.enqueue(UNAVAILABLE, UNAVAILABLE);
            const response = await client.post(gateway, { ...client.body, model: 'openai/gpt-5-mini', stream });
            expect(response.status, await response.text()).to.equal(200);
            const entry = await onlyEntry();
            expect(entry).to.deep.include({ providerId: 'groq', state: 'completed' });
            expect(entry.attempts.map(({ at: _at, delay: _delay, ...attempt }) => attempt)).to.deep.equal([
              { providerId: 'openai', reason: 'overloaded', status: 503 },
              { providerId: 'openai', reason: 'overloaded', status: 503, fallback: 'groq' },
            ]);
            for (const { at } of entry.attempts) expect(at).to.be.within(0, entry.duration);
          });

          it(`has the error of a ${stream ? 'streamed' : 'complete'} response that fails`, async () => {
            gateway = await startGateway({ attempts: 2, time: INSTANT });
            gateway.simulator.enqueue(UNAVAILABLE, UNAVAILABLE);
            const response = await client.post(gateway, { ...client.body, model: 'openai/gpt-5-mini', stream });
            await response.text();
            const entry = await onlyEntry();
            expect(entry).to.deep.include({ providerId: 'openai', model: 'gpt-5-mini', state: 'failed', status: 503 });
            expect(entry.error?.code).to.equal('overloaded');
            expect(entry.error?.message).to.include('Down for maintenance.');
            expect(entry.attempts).to.have.length(1);
            expect(entry.vendorRequestId).to.equal('req_of_vendor');
          });
        }

        it('has a request for an unknown provider, which no vendor received', async () => {
          gateway = await startGateway();
          const response = await client.post(gateway, { ...client.body, model: 'nowhere/some-model' });
          expect(response.status).to.equal(404);
          const entry = await onlyEntry();
          expect(entry).to.deep.include({
            userId: 'ann',
            api,
            requestedModel: 'nowhere/some-model',
            state: 'failed',
            status: 404,
            attempts: [],
          });
          expect(entry.error?.code).to.equal('model-not-found');
          expect(entry.httpRequestId).to.equal(response.headers.get('x-request-id'));
        });

        it('has a request that is not valid', async () => {
          gateway = await startGateway();
          const response = await client.post(gateway, { model: 'openai', input: 7, messages: 7, contents: 7 });
          expect(response.status).to.equal(400);
          expect(await onlyEntry()).to.deep.include({ api, requestedModel: 'openai', state: 'failed', status: 400 });
        });

        it('has what a client received before it disconnected', async () => {
          gateway = await startGateway({ simulator: { chunkDelayMs: 20 } });
          const controller = new AbortController();
          const response = await client.post(
            gateway,
            { ...client.body, model: 'openai/gpt-5-mini', stream: true },
            { signal: controller.signal },
          );
          await response.body!.getReader().read();
          controller.abort();
          const entry = await onlyEntry();
          expect(entry).to.deep.include({ state: 'cancelled', providerId: 'openai', isStream: true });
          expect(entry.error?.code).to.equal('aborted');
          expect(entry.usage.estimated).to.equal(true);
        });
      });
    }

    it('has no entry for a request without a valid token', async () => {
      gateway = await startGateway();
      await gateway.request(
        '/v1/responses',
        { model: 'openai', input: 'Hi' },
        { headers: { authorization: 'Bearer x' } },
      );
      await gateway.request('/v1/responses', { model: 'openai', input: 'Hi' });
      expect(await onlyEntry()).to.deep.include({ state: 'completed' });
    });

    it('has a body that is not JSON, and no other route’s errors', async () => {
      gateway = await startGateway();
      expect((await gateway.request('/v1/nothing', {})).status).to.equal(404);
      expect((await gateway.request('/v1/chat/completions', '{')).status).to.equal(400);
      expect(await onlyEntry()).to.deep.include({ api: 'chat_completions', state: 'failed', status: 400 });
    });

    it('has each turn of a WebSocket', async () => {
      gateway = await startGateway();
      const socket = await openSocket({ url: gateway.url, token: TOKENS.ann });
      await socket.turn({ model: 'openai/gpt-5-mini', input: 'Repeat cobalt.' });
      await socket.turn({ model: 'nowhere/x', input: 'Repeat cobalt.' });
      await socket.turn({ model: 'anthropic/claude-sonnet-4-5', input: 'Repeat azure.' });
      await socket.close();
      const entries = await gateway.requestLog.seen(3);
      expect(
        entries.map(({ api, state, requestedModel, tokenName }) => [api, state, requestedModel, tokenName]),
      ).to.deep.equal([
        ['responses', 'completed', 'openai/gpt-5-mini', 'token of ann'],
        ['responses', 'failed', 'nowhere/x', 'token of ann'],
        ['responses', 'completed', 'anthropic/claude-sonnet-4-5', 'token of ann'],
      ]);
    });

    it('has a response in the background once', async () => {
      gateway = await startGateway();
      const started = await gateway.request('/v1/responses', { model: 'openai', input: 'Hi', background: true });
      const entry = await onlyEntry();
      expect(entry).to.deep.include({ source: 'gateway', api: 'responses', state: 'completed', isStream: false });
      expect(entry.httpRequestId).to.equal(started.headers.get('x-request-id'));
      expect(entry.requestedModel).to.equal('openai');
    });

    it('has the summary of a conversation that is compacted', async () => {
      gateway = await startGateway();
      const response = await gateway.request('/v1/responses/compact', {
        model: 'anthropic/claude-sonnet-4-5',
        input: [
          { role: 'user', content: 'What is cobalt?' },
          { role: 'assistant', content: 'A metal.' },
        ],
      });
      expect(response.status, await response.text()).to.equal(200);
      expect(await onlyEntry()).to.deep.include({ api: 'responses', state: 'completed', providerId: 'anthropic' });
    });

    it('has calls of the app itself', async () => {
      gateway = await startGateway();
      await gateway.module.manager.generateText('bob', 'Repeat cobalt.', { model: 'openai/gpt-5-mini' });
      expect(await onlyEntry()).to.deep.include({
        userId: 'bob',
        source: 'manager',
        requestedModel: 'openai/gpt-5-mini',
      });
    });

    it('has a vendor’s refusal to serve with its status', async () => {
      gateway = await startGateway();
      gateway.simulator.enqueue({
        status: 429,
        body: { error: { type: 'insufficient_quota', code: 'insufficient_quota', message: 'No credit.' } },
      });
      await gateway.request('/v1/responses', { model: 'openai', input: 'Hi' });
      const entry = await onlyEntry();
      expect(entry).to.deep.include({ state: 'failed', status: 429 });
      expect(entry.error?.code).to.equal(new LLMQuotaError('').code);
    });
  }),
);
