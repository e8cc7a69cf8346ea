import {
  APICallError,
  createProviderRegistry,
  customProvider,
  generateText,
  LoadAPIKeyError,
  NoSuchModelError,
  streamText,
} from 'ai';
import { expect } from 'chai';
import { LLMManager } from '../../../../../imports/business/ai/application/services/LLMManager';
import {
  BudgetError,
  LLMAuthError,
  LLMRateLimitError,
  LLMStreamError,
} from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import { createAIModule } from '../../../../../imports/business/ai/infrastructure/factories/createAIModule';
import { bolide as environmentBolide, createBolide } from '../../../../../imports/interop/aiSdk/model/createBolide';
import { startSimulator } from '../../../../../imports/simulator/startSimulator';
import { RecordingLogger } from '../../../../support/RecordingLogger';
import { answer } from '../../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../../imports/testing/ScriptedProvider';

async function failureOf(work: PromiseLike<unknown>): Promise<unknown> {
  return work.then(
    () => {
      throw new Error('Expected an error, but the call succeeded.');
    },
    (error: unknown) => error,
  );
}

describe('createBolide', () => {
  it('creates models that the AI SDK describes by provider and model', () => {
    const model = createBolide({ provider: new ScriptedProvider() })('scripted/some-model');
    expect(model).to.include({ specificationVersion: 'v4', provider: 'bolide', modelId: 'scripted/some-model' });
  });

  it('routes by the name of the provider', async () => {
    const providers = [
      new ScriptedProvider([answer('one')], { name: 'one' }),
      new ScriptedProvider([answer('two')], { name: 'two' }),
    ];
    const bolide = createBolide({ provider: new LLMManager({ providers }) });
    expect((await generateText({ model: bolide('two/model-b'), prompt: 'hi' })).text).to.equal('two');
    expect(providers[1]!.calls[0]!.options.model).to.equal('model-b');
    expect((await generateText({ model: bolide('one'), prompt: 'hi' })).text).to.equal('one');
    expect(providers[0]!.calls[0]!.options.model).to.equal(undefined);
  });

  it('serves a registry and a custom provider', async () => {
    const bolide = createBolide({ provider: new ScriptedProvider([answer('a'), answer('b')]) });
    const registry = createProviderRegistry({ bolide });
    expect((await generateText({ model: registry.languageModel('bolide:scripted/m'), prompt: 'x' })).text).to.equal(
      'a',
    );
    const custom = customProvider({ languageModels: { fast: bolide('scripted/m') }, fallbackProvider: bolide });
    expect((await generateText({ model: custom.languageModel('fast'), prompt: 'x' })).text).to.equal('b');
    expect(() => custom.imageModel('scripted/i')).to.throw(/it serves models for language and embeddings/);
  });

  it('refuses other kinds of models with a NoSuchModelError', () => {
    const bolide = createBolide({ provider: new ScriptedProvider() });
    let thrown: unknown;
    try {
      bolide.imageModel('scripted/i');
    } catch (error) {
      thrown = error;
    }
    expect(NoSuchModelError.isInstance(thrown)).to.equal(true);
    expect(thrown).to.include({ modelType: 'imageModel' });
  });

  it('throws a NoSuchModelError for a model of no provider', async () => {
    const bolide = createBolide({ provider: new ScriptedProvider() });
    const error = await failureOf(generateText({ model: bolide('other/m'), prompt: 'x' }));
    expect(NoSuchModelError.isInstance(error)).to.equal(true);
    expect(error).to.have.property('message').that.includes('"other"').and.includes('scripted');
  });

  it('reads the environment with the first call', async () => {
    const before = process.env;
    process.env = Object.fromEntries(Object.entries(before).filter(([name]) => !name.endsWith('_API_KEY')));
    try {
      const error = await failureOf(generateText({ model: environmentBolide('anthropic/claude-x'), prompt: 'x' }));
      expect(NoSuchModelError.isInstance(error), String(error)).to.equal(true);
      expect(error).to.have.property('message').that.includes('ANTHROPIC_API_KEY');
    } finally {
      process.env = before;
    }
  });

  it('takes the user from the call, the provider or the default', async () => {
    const provider = new ScriptedProvider([answer('1'), answer('2'), answer('3'), answer('4')]);
    const calls = [
      [createBolide({ provider }), undefined],
      [createBolide({ provider, userId: 'ann' }), undefined],
      [createBolide({ provider, userId: () => Promise.resolve('bea') }), undefined],
      [createBolide({ provider, userId: 'ann' }), { bolide: { userId: 'cy' } }],
    ] as const;
    for (const [bolide, providerOptions] of calls)
      await generateText({
        model: bolide('scripted/m'),
        prompt: 'x',
        ...(providerOptions === undefined ? {} : { providerOptions }),
      });
    expect(provider.calls.map(({ userId }) => userId)).to.deep.equal(['local', 'ann', 'bea', 'cy']);
  });

  it('requires a user where budgets apply, and stops a user whose budget is spent', async () => {
    const simulator = await startSimulator();
    const baseURL = simulator.baseURL('openai');
    const module = createAIModule({
      providers: [{ vendor: 'openai', apiKey: 'key', baseURL, allowPrivateHosts: true }],
      budgets: { day: { tokens: 1 } },
    });
    const withoutUser = createBolide({ host: module });
    const missing = await failureOf(generateText({ model: withoutUser('openai/gpt-5'), prompt: 'x' }));
    expect(missing).to.have.property('message').that.includes('"userId" is required');
    const bolide = createBolide({ host: module, userId: 'ann' });
    // A lone call is admitted below the limit, whatever it uses.
    await generateText({ model: bolide('openai/gpt-5'), prompt: 'x' });
    const error = await failureOf(generateText({ model: bolide('openai/gpt-5'), prompt: 'x' }));
    expect(APICallError.isInstance(error), String(error)).to.equal(true);
    expect(error).to.include({ statusCode: 402, isRetryable: false });
    expect(error).to.have.property('cause').that.is.instanceOf(BudgetError);
    await module.close();
    await simulator.close();
  });

  it('throws a LoadAPIKeyError for a missing key', async () => {
    const bolide = createBolide({ provider: new ScriptedProvider([new LLMAuthError('Set a key.')]) });
    const error = await failureOf(generateText({ model: bolide('scripted/m'), prompt: 'x' }));
    expect(LoadAPIKeyError.isInstance(error)).to.equal(true);
  });

  it('retries, and reports what failed before in providerMetadata', async () => {
    const provider = new ScriptedProvider([new LLMRateLimitError('Slow down.', { retryAfterMs: 0 }), answer('done')]);
    const manager = new LLMManager({ provider, random: () => 0, logger: new RecordingLogger() });
    const result = await generateText({ model: createBolide({ provider: manager })('scripted/m'), prompt: 'x' });
    expect(result.text).to.equal('done');
    expect(result.finalStep.providerMetadata?.bolide?.attempts).to.deep.equal([
      { providerId: 'scripted', reason: 'rate-limited', delay: 0 },
    ]);
  });

  it('ends a stream that breaks with an error part and the finish reason "error"', async () => {
    const provider = new ScriptedProvider([
      [
        { type: 'response.created', id: 'r', model: 'm' },
        { type: 'response.output_text.delta', output_index: 0, delta: 'Half' },
        new LLMStreamError('The stream was cut off.'),
      ],
    ]);
    const errors: unknown[] = [];
    const result = streamText({
      model: createBolide({ provider })('scripted/m'),
      prompt: 'x',
      onError: ({ error }) => {
        errors.push(error);
      },
    });
    expect(await result.text).to.equal('Half');
    expect(await result.finishReason).to.equal('error');
    expect(errors).to.have.length(1);
    expect(APICallError.isInstance(errors[0])).to.equal(true);
    expect(errors[0]).to.have.nested.property('data.code', 'stream-broken');
  });

  it('repeats a step whose stream broke, if the application asks for it', async () => {
    const events = [
      { type: 'response.created', id: 'r', model: 'm' },
      { type: 'response.output_text.delta', output_index: 0, delta: 'Half' },
    ] as const;
    const provider = new ScriptedProvider([[...events, new LLMStreamError('The stream was cut off.')], answer('All.')]);
    const result = streamText({ model: createBolide({ provider })('scripted/m'), prompt: 'x', streamRetries: 1 });
    expect(await result.text).to.equal('All.');
    expect(provider.calls).to.have.length(2);
  });

  it('ends the request when the consumer of a stream leaves', async () => {
    const provider = new ScriptedProvider([answer('one two three')]);
    const { stream } = await createBolide({ provider })('scripted/m').doStream({
      prompt: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }],
    });
    const reader = stream.getReader();
    expect((await reader.read()).value).to.have.property('type', 'stream-start');
    await reader.cancel();
    expect(provider.abandonedStreams).to.equal(1);
  });
});
