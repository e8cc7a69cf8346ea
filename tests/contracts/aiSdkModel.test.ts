/** The AI SDK's own functions over Bolide's providers, on every vendor of the simulator and over HTTP. */
import { APICallError, generateText, isStepCount, Output, streamText, tool } from 'ai';
import type { LanguageModel, ModelMessage } from 'ai';
import { expect } from 'chai';
import { z } from 'zod';
import { LLMManager } from '../../imports/business/ai/application/services/LLMManager';
import type { LLMManagerOptions } from '../../imports/business/ai/application/services/LLMManager';
import { createBolide } from '../../imports/interop/aiSdk/model/createBolide';
import type { WireName } from '../../imports/business/ai/domain/types/VendorTypes';
import type { RecordedRequest, Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { RecordingLogger } from '../support/RecordingLogger';
import { silenceAISDKWarnings } from '../support/silenceAISDKWarnings';
import { simulatedProvider, WIRES_OR_VENDORS } from '../support/simulatedProviders';
import type { SimulatedVendor } from '../support/simulatedProviders';
import { sampled } from '../support/soak';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PDF = Buffer.from('%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF');

const weather = tool({
  description: 'The weather in a city',
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, sky: 'clear' }),
});

/** How vendors reject a prompt that exceeds the context window. */
const TOO_LONG = {
  responses: error400({ message: 'Your input exceeds the context window.', code: 'context_length_exceeded' }),
  chat_completions: error400({ message: 'Maximum context length is 8192 tokens.', code: 'context_length_exceeded' }),
  anthropic_messages: error400({
    type: 'invalid_request_error',
    message: 'prompt is too long: 210000 tokens > 200000',
  }),
  gemini: error400({
    status: 'INVALID_ARGUMENT',
    message: 'The input token count (9) exceeds the maximum number of tokens allowed (8).',
  }),
  interactions: error400({
    code: 'invalid_request',
    message: 'The input token count (9) exceeds the maximum number of tokens allowed (8).',
  }),
} as const satisfies Record<WireName, unknown>;

function error400(error: object): { readonly status: 400; readonly body: unknown } {
  return { status: 400, body: { type: 'error', error } };
}

interface Outcome {
  readonly text: string;
  readonly reasoningText: string | undefined;
  readonly finishReason: string;
  readonly rawFinishReason: string | undefined;
  readonly usage: { inputTokens: number | undefined; outputTokens: number | undefined };
  readonly output: unknown;
  readonly warnings: unknown;
  readonly messages: readonly ModelMessage[];
  readonly steps: readonly { readonly toolResults: readonly { readonly output: unknown }[] }[];
  readonly response: { readonly id: string; readonly modelId: string; readonly timestamp: Date };
}

type Call = Omit<Parameters<typeof generateText>[0], 'model' | 'onStepFinish' | 'prompt' | 'messages'> & {
  readonly model: LanguageModel;
  readonly prompt?: string;
  readonly messages?: ModelMessage[];
  readonly output?: unknown;
};

/** Both functions must end with the same outcome. */
const MODES: Readonly<Record<string, (call: Call) => Promise<Outcome>>> = {
  generateText: async (call) => {
    const result = await generateText(call as unknown as Parameters<typeof generateText>[0]);
    return {
      text: result.text,
      reasoningText: result.finalStep.reasoningText,
      finishReason: result.finishReason,
      rawFinishReason: result.rawFinishReason,
      usage: result.usage,
      output: call.output === undefined ? undefined : result.output,
      warnings: result.warnings,
      messages: result.responseMessages,
      steps: result.steps,
      response: result.finalStep.response,
    };
  },
  streamText: async (call) => {
    const errors: unknown[] = [];
    const result = streamText({
      ...(call as unknown as Parameters<typeof streamText>[0]),
      onError: ({ error }) => {
        errors.push(error);
      },
    });
    await result.consumeStream();
    if (errors.length > 0) throw errors[0];
    const { reasoningText, response } = await result.finalStep;
    return {
      text: await result.text,
      reasoningText,
      finishReason: await result.finishReason,
      rawFinishReason: await result.rawFinishReason,
      usage: await result.usage,
      output: call.output === undefined ? undefined : await result.output,
      warnings: await result.warnings,
      messages: await result.responseMessages,
      steps: await result.steps,
      response,
    };
  },
};

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => {
      throw new Error('Expected an error, but the call succeeded.');
    },
    (error: unknown) => error,
  );
}

function bodies(simulator: Simulator): readonly unknown[] {
  return simulator.requests.filter(({ wire }) => wire !== undefined).map(({ body }) => body);
}

const CALLS = sampled(
  WIRES_OR_VENDORS.flatMap((vendor) => Object.entries(MODES).map(([mode, run]) => ({ vendor, mode, run }))),
  ({ vendor, mode }) => [vendor, mode],
);

for (const { vendor, mode, run } of CALLS) {
  describe(`${mode} over ${vendor.name}`, () => {
    silenceAISDKWarnings();
    let simulator: Simulator;
    let model: LanguageModel;
    beforeEach(async () => {
      simulator = await startSimulator();
      model = modelOf(simulator, vendor);
    });
    afterEach(async () => {
      simulator.assertDone();
      await simulator.close();
    });

    it('returns text, usage, the finish reason and response metadata', async () => {
      simulator.enqueue({ text: 'Grüße, 世界! 👋', usage: { input: 12, cached: 4, output: 7 } });
      const result = await run({ model, prompt: 'hi', instructions: 'Greet.', maxOutputTokens: 100 });
      expect(result.text).to.equal('Grüße, 世界! 👋');
      expect(result.finishReason).to.equal('stop');
      expect(result.rawFinishReason).to.be.a('string');
      expect(result.usage).to.deep.include({ inputTokens: 12, outputTokens: 7, totalTokens: 19 });
      expect(result.usage).to.have.nested.property('inputTokenDetails.cacheReadTokens', 4);
      expect(result.response.id).to.be.a('string').that.is.not.empty;
      expect(result.response.modelId).to.be.a('string').that.is.not.empty;
      expect(result.response.timestamp).to.be.instanceOf(Date);
    });

    it('runs parallel tool calls and continues with their results', async () => {
      simulator.enqueue(
        {
          calls: [
            { name: 'weather', arguments: { city: 'São Paulo' } },
            { name: 'weather', arguments: { city: 'Köln' } },
          ],
        },
        { text: 'Clear in both.' },
      );
      const result = await run({ model, prompt: 'Weather?', tools: { weather }, stopWhen: isStepCount(3) });
      expect(result.text).to.equal('Clear in both.');
      expect(result.steps).to.have.length(2);
      expect(result.steps[0]?.toolResults.map(({ output }) => output)).to.deep.equal([
        { city: 'São Paulo', sky: 'clear' },
        { city: 'Köln', sky: 'clear' },
      ]);
      // The simulator checks that calls and results are paired as the vendor requires.
      expect(JSON.stringify(bodies(simulator).at(-1)))
        .to.contain('São Paulo')
        .and.to.contain('clear');
    });

    it('returns the reasoning to the vendor as it came', async () => {
      simulator.enqueue(
        { reasoning: 'A tool knows.', calls: [{ name: 'weather', arguments: { city: 'Rome' } }] },
        { reasoning: 'Now I know.', text: 'Clear.' },
        { text: 'Yes.' },
      );
      const call = { model, tools: { weather }, stopWhen: isStepCount(3), reasoning: 'low' as const };
      const first = await run({ ...call, prompt: 'Weather?' });
      expect(first.text).to.equal('Clear.');
      const messages: ModelMessage[] = [
        { role: 'user', content: 'Weather?' },
        ...first.messages,
        { role: 'user', content: 'Sure?' },
      ];
      // The simulator rejects signatures and encrypted content that it did not issue.
      const second = await run({ ...call, messages });
      expect(second.text).to.equal('Yes.');
    });

    it('returns objects, arrays and choices', async () => {
      simulator.enqueue(
        { text: '{"name":"Ada","age":36}' },
        { text: '{"elements":["red","green"]}' },
        { text: '{"result":"yes"}' },
      );
      const person = z.object({ name: z.string(), age: z.number().int() });
      const object = await run({ model, prompt: 'Who?', output: Output.object({ schema: person }) });
      expect(object.output).to.deep.equal({ name: 'Ada', age: 36 });
      const array = await run({ model, prompt: 'Colors?', output: Output.array({ element: z.string() }) });
      expect(array.output).to.deep.equal(['red', 'green']);
      const choice = await run({ model, prompt: 'Sure?', output: Output.choice({ options: ['yes', 'no'] }) });
      expect(choice.output).to.equal('yes');
    });

    it('sends images as bytes', async () => {
      simulator.enqueue({ text: 'A pixel.' });
      const { text } = await run({
        model,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is it?' },
              { type: 'file', data: Buffer.from(PIXEL, 'base64'), mediaType: 'image' },
            ],
          },
        ],
      });
      expect(text).to.equal('A pixel.');
      expect(JSON.stringify(bodies(simulator))).to.contain(PIXEL);
    });

    it('sends files, or refuses them by name', async () => {
      const call: Call = {
        model,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'file', data: PDF, mediaType: 'application/pdf', filename: 'a.pdf' },
              { type: 'text', text: 'Sum up.' },
            ],
          },
        ],
      };
      if (vendor.vendor === 'groq') {
        expect(await failureOf(run(call))).to.have.property('name', 'AI_UnsupportedFunctionalityError');
        return;
      }
      simulator.enqueue({ text: 'Empty.' });
      expect((await run(call)).text).to.equal('Empty.');
      expect(JSON.stringify(bodies(simulator))).to.contain(PDF.toString('base64'));
    });

    it('maps the reasons for an incomplete response', async () => {
      simulator.enqueue({ text: 'Half a', incomplete: 'max_output_tokens' });
      expect((await run({ model, prompt: 'go' })).finishReason).to.equal('length');
      // Gemini's Interactions API refuses the request.
      if (vendor.wire === 'interactions') return;
      simulator.enqueue({ text: 'Half a', incomplete: 'content_filter' });
      expect((await run({ model, prompt: 'go' })).finishReason).to.equal('content-filter');
    });

    it('sends each sampling setting, or names it in a warning', async () => {
      simulator.enqueue({ text: 'ok' });
      const { warnings } = await run({
        model,
        prompt: 'go',
        topK: 11,
        seed: 12,
        presencePenalty: 0.5,
        frequencyPenalty: 0.25,
        stopSequences: ['END'],
      });
      const sent = JSON.stringify(bodies(simulator).at(-1));
      const settings = [
        ['top_k', /"top_?k":11/i],
        ['seed', /"seed":12/],
        ['presence_penalty', /"presence_?penalty":0.5/i],
        ['frequency_penalty', /"frequency_?penalty":0.25/i],
        ['stop', /"END"/],
      ] as const;
      for (const [name, pattern] of settings)
        expect(pattern.test(sent), name).to.not.equal(JSON.stringify(warnings).includes(name), name);
    });

    it('reports a request that is too long as an APICallError', async () => {
      const { status, ...reply } = TOO_LONG[vendor.wire];
      simulator.enqueue({ status, ...reply });
      const error = await failureOf(run({ model, prompt: 'long', maxRetries: 5 }));
      expect(APICallError.isInstance(error), String(error)).to.equal(true);
      expect(error).to.include({ statusCode: status, isRetryable: false });
      expect(error).to.have.nested.property('data.code', 'context-too-long');
    });

    if (mode === 'streamText')
      it("includes the wire's messages on request", async () => {
        simulator.enqueue({ text: 'raw text' });
        const { stream } = streamText({ model, prompt: 'go', include: { rawChunks: true } });
        const raw: unknown[] = [];
        for await (const part of stream) if (part.type === 'raw') raw.push(part.rawValue);
        expect(raw).not.to.have.length(0);
        expect(JSON.stringify(raw)).to.contain('raw');
      });

    it('retries in the provider alone', async () => {
      const before = simulator.requests.length;
      for (let attempt = 0; attempt < 3; attempt += 1)
        simulator.enqueue({
          status: 429,
          body: { error: { message: 'slow down' } },
          headers: { 'retry-after': '0' },
        });
      const error = await failureOf(run({ model, prompt: 'go', maxRetries: 5 }));
      expect(APICallError.isInstance(error), String(error)).to.equal(true);
      expect(error).to.include({ statusCode: 429, isRetryable: false });
      expect(error).to.have.nested.property('data.code', 'rate-limited');
      expect(simulator.requests.length - before).to.equal(3);
    });

    it('reports a bad key with the status of the vendor', async () => {
      const locked = modelOf(simulator, vendor, { apiKey: 'bad-key' });
      const error = await failureOf(run({ model: locked, prompt: 'go' }));
      expect(APICallError.isInstance(error), String(error)).to.equal(true);
      expect(error).to.include({ isRetryable: false });
      // Google and xAI reject keys with 400.
      expect(error).to.have.property('statusCode', ['google', 'grok'].includes(vendor.vendor) ? 400 : 401);
      expect(error).to.have.nested.property('data.code', 'auth-failed');
    });

    it('aborts the upstream request, and the AI SDK recognizes the abort', async () => {
      const controller = new AbortController();
      simulator.enqueue({ text: 'one two three four', fault: { kind: 'stall', after: { events: 2 } } });
      const requested = new Promise((resolve) => simulator.events.once('request', resolve));
      const aborted = new Promise<RecordedRequest>((resolve) => simulator.events.once('abort', resolve));
      const types: string[] = [];
      const work =
        mode === 'generateText'
          ? failureOf(generateText({ model, prompt: 'go', abortSignal: controller.signal })).then((error) => {
              expect(error).to.have.property('name', 'AbortError');
              types.push('abort');
            })
          : (async () => {
              const { stream } = streamText({ model, prompt: 'go', abortSignal: controller.signal });
              for await (const part of stream) types.push(part.type);
            })();
      await requested;
      controller.abort();
      await work;
      expect(types.at(-1)).to.equal('abort');
      expect(types).not.to.include('error');
      expect((await aborted).aborted).to.equal(true);
    });
  });
}

function modelOf(
  simulator: Simulator,
  vendor: SimulatedVendor,
  row: Parameters<typeof simulatedProvider>[2] = {},
  options: Partial<LLMManagerOptions> = {},
): LanguageModel {
  const provider = simulatedProvider(simulator, vendor, row);
  const manager = new LLMManager({ provider, random: () => 0, logger: new RecordingLogger(), ...options });
  return createBolide({ provider: manager })(`${vendor.vendor}/${vendor.model}`);
}
