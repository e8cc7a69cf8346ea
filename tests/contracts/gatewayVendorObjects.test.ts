/** Threads, containers and files that Anthropic stores: never lost on the way to another vendor, never shared. */
import Anthropic from '@anthropic-ai/sdk';
import { expect } from 'chai';
import { LLMManager } from '../../imports/business/ai/application/services/LLMManager';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import { startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';
import { ScriptedProvider } from '../../imports/testing/ScriptedProvider';

const USAGE = { input_tokens: 1, output_tokens: 1 };

function message(fields: JsonObject): JsonObject {
  return {
    id: 'msg_one',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content: [{ type: 'text', text: 'Hello.' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: USAGE,
    ...fields,
  };
}

describe("Anthropic's threads, containers and files", () => {
  let gateway: Gateway;
  beforeEach(async () => {
    gateway = await startGateway();
  });
  afterEach(() => gateway.close());

  const ask = async (
    token: keyof typeof TOKENS,
    fields: JsonObject,
    model = 'anthropic',
  ): Promise<{ readonly status: number; readonly body: { readonly id?: string; readonly error?: JsonObject } }> => {
    const response = await gateway.request(
      '/v1/messages',
      { model, max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }], ...fields },
      {
        headers: {
          authorization: `Bearer ${TOKENS[token]}`,
          'anthropic-beta': 'message-threads-2026-08-12,code-execution-2025-08-25,files-api-2025-04-14',
        },
      },
    );
    return { status: response.status, body: (await response.json()) as { id?: string; error?: JsonObject } };
  };
  const upstreamRequests = (): number => gateway.simulator.requests.length;

  for (const vendor of ['openai', 'google', 'groq', 'grok']) {
    for (const thread of [{ type: 'create' }, { type: 'continue', previous_message_id: 'msg_one' }]) {
      it(`refuses to ${thread.type} a thread at ${vendor}, which would lose it`, async () => {
        const { status, body } = await ask('ann', { thread }, vendor);
        expect(status).to.equal(400);
        expect(body.error).to.deep.include({
          type: 'invalid_request_error',
          details: { error_code: 'thread_unsupported_request' },
        });
        expect(upstreamRequests()).to.equal(0);
      });
    }
  }

  it("lets Anthropic's SDK go on with the entire conversation at another vendor", async () => {
    const client = new Anthropic({ baseURL: gateway.url, apiKey: TOKENS.ann, maxRetries: 0 });
    const thread = client.beta.messages.thread({
      model: 'openai',
      max_tokens: 50,
      unsupportedRequestBehavior: 'continue_unthreaded',
    });
    gateway.simulator.enqueue({ text: 'Hello, Ada.' });
    gateway.simulator.enqueue({ text: 'Ada.' });
    await thread.send({ role: 'user', content: 'My name is Ada.' });
    await thread.send({ role: 'user', content: 'What is my name?' });
    await gateway.simulator.nextRequest();
    const { body } = await gateway.simulator.nextRequest();
    expect(JSON.stringify(body)).to.include('My name is Ada.').and.to.include('Hello, Ada.');
  });

  for (const stream of [false, true]) {
    it(`lets a thread be continued by the user who created it only${stream ? ', as a stream' : ''}`, async () => {
      gateway.simulator.enqueue({ text: 'First.' });
      const response = await gateway.request(
        '/v1/messages',
        {
          model: 'anthropic',
          max_tokens: 50,
          messages: [{ role: 'user', content: 'Hi' }],
          thread: { type: 'create' },
          stream,
        },
        { headers: { 'anthropic-beta': 'message-threads-2026-08-12' } },
      );
      const id = /"id":"(msg_[^"]+)"/.exec(await response.text())?.[1];
      const thread = { type: 'continue', previous_message_id: id! };
      const refused = await ask('bob', { thread });
      expect(refused.status).to.equal(404);
      expect(refused.body.error).to.deep.include({
        type: 'not_found_error',
        details: { error_code: 'thread_not_found' },
      });
      expect(upstreamRequests()).to.equal(1);
      gateway.simulator.enqueue({ text: 'Second.' });
      const { status, body } = await ask('ann', { thread });
      expect(status).to.equal(200);
      gateway.simulator.enqueue({ text: 'Third.' });
      expect((await ask('ann', { thread: { type: 'continue', previous_message_id: body.id! } })).status).to.equal(200);
    });
  }

  it('lets a container be used by the user who created it only', async () => {
    const created = { id: 'container_1', expires_at: '2026-12-01T00:00:00Z' };
    gateway.simulator.enqueue({ status: 200, body: message({ container: created }) });
    expect((await ask('ann', {})).status).to.equal(200);
    for (const container of ['container_1', { id: 'container_1' }]) {
      expect((await ask('bob', { container })).status).to.equal(404);
      gateway.simulator.enqueue({ text: 'Again.' });
      expect((await ask('ann', { container })).status).to.equal(200);
    }
  });

  it('lets a file be read by the user who created it only, over every API', async () => {
    const result = { type: 'bash_code_execution_output', file_id: 'file_1' };
    const content = [
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'bash_code_execution', input: { command: 'x' } },
      {
        type: 'bash_code_execution_tool_result',
        tool_use_id: 'srvtoolu_1',
        content: {
          type: 'bash_code_execution_result',
          stdout: '',
          stderr: '',
          return_code: 0,
          content: [result],
        },
      },
      { type: 'text', text: 'Done.' },
    ];
    gateway.simulator.enqueue({ status: 200, body: message({ content }) });
    expect((await ask('ann', {})).status).to.equal(200);
    const source = { type: 'file', file_id: 'file_1' };
    for (const block of [
      { type: 'image', source },
      { type: 'document', source, title: 'x', citations: { enabled: true } },
      { type: 'container_upload', file_id: 'file_1' },
    ]) {
      const messages = [{ role: 'user', content: [block, { type: 'text', text: 'Read it.' }] }];
      expect((await ask('bob', { messages })).status, block.type).to.equal(404);
      gateway.simulator.enqueue({ text: 'Read.' });
      expect((await ask('ann', { messages })).status, block.type).to.equal(200);
    }
    const image = { type: 'input_image', file_id: 'file_1', detail: 'auto' };
    const input = [{ type: 'message', role: 'user', content: [image, { type: 'input_text', text: 'Read it.' }] }];
    const before = upstreamRequests();
    const asBob = { headers: { authorization: `Bearer ${TOKENS.bob}` } };
    const refused = await gateway.request('/v1/responses', { model: 'anthropic', input }, asBob);
    expect(refused.status).to.equal(404);
    expect(upstreamRequests()).to.equal(before);
  });

  it('lets admins, who own the key, use what they created elsewhere', async () => {
    gateway.simulator.enqueue({ text: 'Yes.' });
    expect((await ask('admin', { container: 'container_elsewhere' })).status).to.equal(200);
  });

  it('never continues a thread at a fallback', async () => {
    const fallback = new ScriptedProvider([]);
    const manager = new LLMManager({
      directory: gateway.module.providers,
      fallback: [fallback],
      retry: { maxAttempts: 1 },
      logger: { debug() {}, info() {}, warn() {}, error() {} },
    });
    gateway.simulator.enqueue({
      status: 529,
      body: { type: 'error', error: { type: 'overloaded_error', message: 'Busy.' } },
    });
    const failure = await manager
      .generate('ann', {
        model: 'anthropic',
        input: 'Hi',
        vendor: { anthropic: { thread: { type: 'continue', previous_message_id: 'msg_one' } } },
      })
      .catch((error: unknown) => error);
    expect(failure).to.include({ code: 'overloaded' });
    expect(fallback.calls).to.deep.equal([]);
  });
});
