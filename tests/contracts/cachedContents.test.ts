/** Prompts that Gemini stores as cached contents. */
import { expect } from 'chai';
import type { GenerateOptions } from '../../imports/business/ai/domain/types/LLMTypes';
import type { CredentialSource } from '../../imports/business/ai/domain/interfaces/CredentialSource';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import type { RecordedRequest } from '../../imports/simulator/RecordedRequest';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { longLoop, longModel, longTools } from '../support/longRuns';
import { simulatedProvider } from '../support/simulatedProviders';

const GOOGLE = { name: 'Google', vendor: 'google', wire: 'gemini', model: 'gemini-2.5-flash' } as const;
const OPENAI = { name: 'OpenAI', vendor: 'openai', wire: 'responses', model: 'gpt-5-mini' } as const;
const HANDBOOK = { role: 'user', content: 'The handbook says: be kind. '.repeat(1_000) } as const;
const NOTES = { role: 'user', content: 'The notes say: be brave. '.repeat(1_000) } as const;
const QUESTION: GenerateOptions = {
  instructions: 'Answer briefly.',
  input: [HANDBOOK, { role: 'user', content: 'What does it say?' }],
  promptCache: { breakpoints: [0] },
};

describe('a prompt that Gemini is to store', () => {
  let simulator: Simulator;
  beforeEach(async () => {
    simulator = await startSimulator();
  });
  afterEach(() => simulator.close());

  const created = (): readonly RecordedRequest[] =>
    simulator.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/v1beta/cachedContents'));
  const generated = (): readonly RecordedRequest[] => simulator.requests.filter(({ wire }) => wire !== undefined);
  const nameIn = ({ body }: RecordedRequest): unknown => (body as JsonObject)['cachedContent'];
  const bodies = (requests: readonly RecordedRequest[]) => requests.map(({ body }) => body as JsonObject);

  /** Removes all contents, as their expiry does. */
  const removeAll = async (): Promise<void> => {
    for (const name of new Set(generated().map(nameIn)))
      await fetch(`${simulator.baseURL('google')}/v1beta/${String(name)}`, {
        method: 'DELETE',
        headers: { 'x-goog-api-key': 'test-key' },
      });
  };
  const provider = (row: Parameters<typeof simulatedProvider>[2] = { apiKey: 'test-key' }) =>
    simulatedProvider(simulator, GOOGLE, row);

  it('costs its storage in the call that stored it', async () => {
    const google = provider();
    const storedIn = async (options: GenerateOptions): Promise<number | undefined> =>
      (await google.generate('ann', options)).usage.input_tokens_details.stored_token_hours;
    const first = await google.generate('ann', QUESTION);
    const { cached_tokens, stored_token_hours } = first.usage.input_tokens_details;
    expect(stored_token_hours).to.be.closeTo(cached_tokens / 12, 1);
    expect(await storedIn(QUESTION)).to.equal(undefined);
    expect(await storedIn({ ...QUESTION, promptCache: { breakpoints: [0], ttl: '1h' } })).to.be.closeTo(
      cached_tokens,
      1,
    );
  });

  it('is stored once, and named instead of sent', async () => {
    const google = provider();
    const first = await google.generate('ann', QUESTION);
    const second = await google.generate('bob', QUESTION);
    for await (const _ of google.stream('ann', QUESTION)) continue;
    expect(bodies(created())).to.deep.equal([
      {
        model: 'models/gemini-2.5-flash',
        systemInstruction: { parts: [{ text: 'Answer briefly.' }] },
        contents: [{ role: 'user', parts: [{ text: HANDBOOK.content }] }],
        ttl: '300s',
      },
    ]);
    expect(generated()).to.have.length(3);
    for (const { body } of generated()) {
      expect(body).not.to.have.any.keys('systemInstruction', 'tools', 'toolConfig');
      expect(body)
        .to.have.property('cachedContent')
        .that.matches(/^cachedContents\//);
      expect(body).to.have.property('contents').with.length(1);
    }
    for (const { usage, vendor } of [first, second]) {
      expect(usage.input_tokens_details.cached_tokens).to.be.above(2_048);
      expect(vendor.warnings).to.deep.equal([]);
    }
  });

  it('is stored once for all turns of a run with tools', async () => {
    await simulator.close();
    simulator = await startSimulator({ model: longModel(5) });
    const loop = longLoop(simulator, GOOGLE, { toolExecutor: longTools([]) });
    const input = [HANDBOOK, { role: 'user', content: 'Go.' }] as const;
    const options = { model: GOOGLE.model, input, tools: ['visit'], promptCache: { breakpoints: [0] } };
    await loop.execute('ann', options);
    expect(created()).to.have.length(1);
    expect(generated().length).to.be.above(5);
    expect(new Set(generated().map(nameIn)).size).to.equal(1);
    expect(simulator.requests.filter(({ status }) => status !== 200)).to.deep.equal([]);
  });

  it('is stored once for concurrent calls, even if the one that began it is aborted', async () => {
    const google = provider();
    const controller = new AbortController();
    const calls = [{ signal: controller.signal }, {}, {}].map((own) => google.generate('ann', { ...QUESTION, ...own }));
    const outcomes = Promise.allSettled(calls);
    await simulator.nextRequest();
    controller.abort();
    expect((await outcomes).map(({ status }) => status)).to.deep.equal(['rejected', 'fulfilled', 'fulfilled']);
    expect(created()).to.have.length(1);
  });

  it('is stored anew when it is gone', async () => {
    const google = provider();
    await google.generate('ann', QUESTION);
    await removeAll();
    const { vendor } = await google.generate('ann', QUESTION);
    expect(vendor.warnings).to.deep.equal([]);
    expect(created()).to.have.length(2);
    expect(generated().map(({ status }) => status)).to.deep.equal([200, 403, 200]);
  });

  it('is sent whole if it is too short, which is asked once', async () => {
    const google = provider();
    const input = [
      { role: 'user', content: 'The handbook says: be kind. '.repeat(100) },
      { role: 'user', content: 'What does it say?' },
    ] as const;
    for (const _ of [1, 2]) {
      const { vendor } = await google.generate('ann', { ...QUESTION, input });
      expect(String(vendor.warnings)).to.contain('The prompt was not cached').and.contain('too small');
    }
    expect(created()).to.have.length(1);
    const { vendor } = await google.generate('ann', { ...QUESTION, input: [{ role: 'user', content: 'a' }, input[1]] });
    expect(String(vendor.warnings)).to.contain('too short');
    expect(created()).to.have.length(1);
    expect(bodies(generated()).every((body) => !('cachedContent' in body))).to.equal(true);
  });

  it('is found by the longest stored beginning, and stored longer if that is worth it', async () => {
    const google = provider();
    const question = { role: 'user', content: 'What do they say?' } as const;
    const ask = (middle: readonly { role: 'user'; content: string }[], breakpoints: readonly number[]) =>
      google.generate('ann', {
        ...QUESTION,
        input: [HANDBOOK, ...middle, question],
        promptCache: { breakpoints },
      });
    await ask([], [0]);
    await ask([{ role: 'user', content: 'One more thing.' }], [0, 1]);
    expect(created()).to.have.length(1);
    await ask([NOTES], [0, 1]);
    expect(created()).to.have.length(2);
    expect(generated().map(({ body }) => (body as { contents: unknown[] }).contents.length)).to.deep.equal([1, 2, 1]);
  });

  it('is never used with another credential', async () => {
    const credentials: CredentialSource = {
      getAccessToken: ({ userId }) => Promise.resolve({ kind: 'api_key', token: `key-of-${userId}`, isOwn: true }),
    };
    const google = provider({ credentials });
    await google.generate('ann', QUESTION);
    await google.generate('bob', QUESTION);
    expect(new Set(created().map(({ keyHash }) => keyHash)).size).to.equal(2);
    expect(new Set(generated().map(nameIn)).size).to.equal(2);
    expect(generated().map(({ status }) => status)).to.deep.equal([200, 200]);
  });

  it('is sent to another vendor as it is', async () => {
    await simulatedProvider(simulator, OPENAI).generate('ann', QUESTION);
    expect(JSON.stringify(generated()[0]?.body)).to.contain(HANDBOOK.content).and.not.contain('cachedContent');
  });
});
