/** However a request with another user's file comes in, no vendor is asked; and what responses make is its caller's. */
import OpenAI, { toFile } from 'openai';
import { expect } from 'chai';
import type { Actor } from '../../imports/business/ai/domain/types/Actor';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import { createAIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import { simulatedRow, startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';
import { openSocket } from '../support/responsesSocket';

const FILE = 'file-of-ann';
const IMAGE = { type: 'input_image', file_id: FILE, detail: 'auto' } as const;
const INPUT = [{ type: 'message', role: 'user', content: [IMAGE, { type: 'input_text', text: 'Read it.' }] }] as const;
const DOCUMENT = { type: 'document', source: { type: 'file', file_id: FILE } };
const MESSAGES = [{ role: 'user', content: [DOCUMENT, { type: 'text', text: 'Read it.' }] }];

describe('a file of another user', () => {
  let gateway: Gateway;
  beforeEach(async () => {
    gateway = await startGateway({
      routing: [
        { name: 'safe', targets: [{ model: 'groq' }, { model: 'openai' }], strategy: 'fallback', enabled: true },
      ],
    });
    await gateway.module.vendorObjects.store.record('ann', [FILE]);
  });
  afterEach(() => gateway.close());

  type User = 'ann' | 'bob';
  const post = async (user: User, path: string, body: JsonObject): Promise<number> => {
    const response = await gateway.request(path, body, { headers: { authorization: `Bearer ${TOKENS[user]}` } });
    await response.text();
    return response.status;
  };
  const openai = (user: User): OpenAI =>
    new OpenAI({ apiKey: TOKENS[user], baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const batch = async (user: User): Promise<number> => {
    const body = { model: 'gpt-4.1-mini', input: INPUT };
    const line = JSON.stringify({ custom_id: 'a', method: 'POST', url: '/v1/responses', body });
    const client = openai(user);
    const file = await client.files.create({ file: await toFile(Buffer.from(line), 'x.jsonl'), purpose: 'batch' });
    return client.batches.create({ endpoint: '/v1/responses', completion_window: '24h', input_file_id: file.id }).then(
      () => 200,
      (error: unknown) => Number((error as JsonObject)['status']),
    );
  };
  const socket = async (user: User): Promise<number> => {
    const client = await openSocket({ url: gateway.url, token: TOKENS[user] });
    const { status = 200 } = await client.turn({ model: 'openai', input: INPUT });
    await client.close();
    return status;
  };

  const ENTRANCES: Readonly<Record<string, (user: User) => Promise<number>>> = {
    'the Responses API': (user) => post(user, '/v1/responses', { model: 'openai', input: INPUT }),
    'its stream': (user) => post(user, '/v1/responses', { model: 'openai', input: INPUT, stream: true }),
    'its WebSocket': socket,
    'its token counter': (user) => post(user, '/v1/responses/input_tokens', { model: 'anthropic', input: INPUT }),
    'the Messages API': (user) => post(user, '/v1/messages', { model: 'anthropic', max_tokens: 9, messages: MESSAGES }),
    'its stream of messages': (user) =>
      post(user, '/v1/messages', { model: 'anthropic', max_tokens: 9, messages: MESSAGES, stream: true }),
    'its counter of tokens': (user) =>
      post(user, '/v1/messages/count_tokens', { model: 'anthropic', messages: MESSAGES }),
    'the Messages API, for a model of OpenAI': (user) =>
      post(user, '/v1/messages', { model: 'openai', max_tokens: 9, messages: MESSAGES }),
    'a batch': batch,
    'a batch of messages': (user) =>
      post(user, '/v1/messages/batches', {
        requests: [{ custom_id: 'a', params: { model: 'claude-sonnet-4-5', max_tokens: 9, messages: MESSAGES } }],
      }),
  };
  for (const [entrance, enter] of Object.entries(ENTRANCES))
    it(`is not read through ${entrance}`, async () => {
      const named = (): number =>
        gateway.simulator.requests.filter(
          ({ path, body }) => !path.includes('/files') && JSON.stringify(body).includes(FILE),
        ).length;
      expect(await enter('bob')).to.equal(404);
      expect(named()).to.equal(0);
      expect(await enter('ann')).to.equal(200);
      if (entrance !== 'a batch') expect(named()).to.equal(1);
    });

  it('is not read through a fallback of a routing rule', async () => {
    const enter = (user: User): Promise<number> => {
      gateway.simulator.enqueue({ vendor: 'groq', status: 503, body: { error: { message: 'Down.' } } });
      return post(user, '/v1/responses', { model: 'safe', input: INPUT });
    };
    expect(await enter('bob')).to.be.within(400, 599);
    expect(gateway.simulator.requests.filter(({ vendor }) => vendor === 'openai')).to.deep.equal([]);
  });

  it('is not relayed as a voice', async () => {
    const speak = (user: User): Promise<number> =>
      post(user, '/v1/audio/speech', { model: 'openai/tts-1', input: 'Hi', voice: { id: FILE } });
    expect(await speak('bob')).to.equal(404);
    expect(gateway.simulator.requests).to.deep.equal([]);
  });

  const ACTORS: readonly Actor[] = [
    { userId: 'bob', source: 'http', origin: { api: 'ai_sdk' } },
    { userId: 'bob', source: 'method' },
  ];
  for (const actor of ACTORS)
    for (const use of ['generateText', 'agenticExecution', 'queueRun'] as const)
      it(`is not read by ${use} over ${actor.source}`, async () => {
        const { simulator } = gateway;
        const module = createAIModule(
          { providers: [simulatedRow(simulator, 'openai')] },
          { access: { decide: () => Promise.resolve({ allowed: true }) } },
        );
        try {
          await module.vendorObjects.store.record('ann', [FILE]);
          const run = async ({ userId, source }: Actor, requestId: string): Promise<unknown> => {
            const request = { requestId, providerId: 'openai', input: INPUT, tools: [] };
            if (use !== 'queueRun') return module.useCases[use].execute({ ...actor, userId, source }, request);
            const { executionId } = await module.useCases.queueRun.execute({ ...actor, userId, source }, request);
            return module.loop.waitForResult(executionId);
          };
          await module.queue.start();
          const refused: unknown = await run(actor, 'first').catch((error: unknown) => error);
          expect(refused).to.include({ message: `File "${FILE}" not found.` });
          expect(simulator.requests).to.deep.equal([]);
          await run({ ...actor, userId: 'ann' }, 'second');
          await run({ ...actor, source: 'job' }, 'third');
          expect(simulator.requests).to.have.length(2);
        } finally {
          await module.close();
        }
      });
});

describe('what a response makes at the vendor', () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.close());

  const isOf = (user: string, id: string): Promise<boolean> => gateway.module.vendorObjects.store.isOwner(user, id);
  const CITATION = { start_index: 0, end_index: 1 };
  const OUTPUT = [
    { type: 'code_interpreter_call', id: 'ci_1', status: 'completed', code: '1', container_id: 'cntr_1', outputs: [] },
    { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'aGk=' },
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [
        {
          type: 'output_text',
          text: 'Done.',
          logprobs: [],
          annotations: [
            { ...CITATION, type: 'container_file_citation', container_id: 'cntr_1', file_id: 'cfile_1', filename: 'a' },
            { type: 'file_citation', file_id: 'file-searched', filename: 'b', index: 0 },
          ],
        },
      ],
    },
  ];

  it('is its caller’s, but not the files that a search has found', async () => {
    const body = { id: 'resp_1', object: 'response', created_at: 1, status: 'completed', model: 'm', output: OUTPUT };
    gateway.simulator.enqueue({ vendor: 'openai', status: 200, body });
    expect((await gateway.request('/v1/responses', { model: 'openai', input: 'Hi' })).status).to.equal(200);
    for (const id of ['cntr_1', 'ig_1', 'cfile_1']) {
      expect(await isOf('ann', id), id).to.equal(true);
      expect(await isOf('bob', id), id).to.equal(false);
    }
    expect(await isOf('ann', 'file-searched')).to.equal(false);
  });

  it('is its caller’s if it is spoken', async () => {
    const audio = { id: 'audio_1', data: 'aGk=', expires_at: 2_000_000_000, transcript: 'Hi.' };
    const choices = [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: null, audio } }];
    gateway.simulator.enqueue({
      vendor: 'openai_compatible',
      status: 200,
      body: { id: 'c', object: 'chat.completion', created: 1, model: 'm', choices },
    });
    const messages = [{ role: 'user', content: 'Hi' }];
    const response = await gateway.request('/v1/chat/completions', { model: 'openai_compatible', messages });
    expect(response.status).to.equal(200);
    expect(await isOf('ann', 'audio_1')).to.equal(true);
  });
});
