/**
 * The vendors' official SDKs as clients of the gateway, with every vendor behind it. Each must work as it does with its
 * own vendor.
 */
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenerativeAI, SchemaType } from '@google/generative-ai';
import type { Part } from '@google/generative-ai';
import { expect } from 'chai';
import OpenAI from 'openai';
import { VENDORS } from '../../imports/business/ai/domain/types/VendorTypes';
import { startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';
import { MODELS } from '../support/sdks/SdkCase';
import { sampled } from '../support/soak';

const WEATHER = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
  additionalProperties: false,
};
const ANSWER = {
  type: 'object' as const,
  properties: { answer: { type: 'string' as const } },
  required: ['answer'],
  additionalProperties: false,
};

interface ClientResponse {
  readonly text: string;
  readonly calls: readonly { readonly name: string; readonly arguments: unknown }[];
}

/** The same operations with each SDK: a text response, a tool call and a JSON response. */
interface Client {
  /** @param stream whether the response is streamed */
  ask(model: string, question: string, stream: boolean): Promise<string>;
  /** Offers a tool, sends the result of its call, and returns both responses. */
  useTool(
    model: string,
    question: string,
    result: string,
    stream: boolean,
  ): Promise<readonly [ClientResponse, ClientResponse]>;
  askForJson(model: string, question: string, stream: boolean): Promise<unknown>;
}

type ClientName = 'openai responses' | 'openai chat' | 'anthropic' | 'google';

const CLIENTS: Readonly<Record<ClientName, (url: string) => Client>> = {
  'openai responses': (url) => {
    const client = new OpenAI({ apiKey: TOKENS.ann, baseURL: `${url}/v1`, maxRetries: 0 });
    const create = async (
      body: Omit<OpenAI.Responses.ResponseCreateParamsNonStreaming, 'stream'>,
      stream: boolean,
    ): Promise<OpenAI.Responses.Response> => {
      if (!stream) return client.responses.create(body);
      const events = client.responses.stream(body);
      let deltas = '';
      for await (const event of events) if (event.type === 'response.output_text.delta') deltas += event.delta;
      const final = await events.finalResponse();
      expect(deltas).to.equal(final.output_text);
      return final;
    };
    const toClientResponse = (response: OpenAI.Responses.Response): ClientResponse => ({
      text: response.output_text,
      calls: response.output.flatMap((item) =>
        item.type === 'function_call' ? [{ name: item.name, arguments: JSON.parse(item.arguments) as unknown }] : [],
      ),
    });
    return {
      ask: async (model, question, stream) => (await create({ model, input: question }, stream)).output_text,
      async useTool(model, question, result, stream) {
        const tools: OpenAI.Responses.Tool[] = [
          { type: 'function', name: 'get_weather', description: 'The weather.', parameters: WEATHER, strict: true },
        ];
        const first = await create({ model, input: question, tools }, stream);
        const call = first.output.find((item) => item.type === 'function_call');
        const second = await create(
          {
            model,
            tools,
            previous_response_id: first.id,
            input: [{ type: 'function_call_output', call_id: call?.call_id ?? '', output: result }],
          },
          stream,
        );
        return [toClientResponse(first), toClientResponse(second)];
      },
      async askForJson(model, question, stream) {
        const text = { format: { type: 'json_schema' as const, name: 'answer', schema: ANSWER, strict: true } };
        return JSON.parse((await create({ model, input: question, text }, stream)).output_text) as unknown;
      },
    };
  },

  'openai chat': (url) => {
    const client = new OpenAI({ apiKey: TOKENS.ann, baseURL: `${url}/v1`, maxRetries: 0 });
    const create = async (
      body: Omit<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming, 'stream'>,
      stream: boolean,
    ): Promise<OpenAI.Chat.ChatCompletionMessage> => {
      const completion = stream
        ? await client.chat.completions
            .stream({ ...body, stream_options: { include_usage: true } })
            .finalChatCompletion()
        : await client.chat.completions.create(body);
      expect(completion.usage?.total_tokens).to.be.greaterThan(0);
      return completion.choices[0]!.message;
    };
    const toClientResponse = ({ content, tool_calls = [] }: OpenAI.Chat.ChatCompletionMessage): ClientResponse => ({
      text: content ?? '',
      calls: tool_calls.flatMap((call) =>
        call.type === 'function'
          ? [{ name: call.function.name, arguments: JSON.parse(call.function.arguments) as unknown }]
          : [],
      ),
    });
    return {
      ask: async (model, question, stream) =>
        (await create({ model, messages: [{ role: 'user', content: question }] }, stream)).content ?? '',
      async useTool(model, question, result, stream) {
        const tools: OpenAI.Chat.ChatCompletionTool[] = [
          { type: 'function', function: { name: 'get_weather', description: 'The weather.', parameters: WEATHER } },
        ];
        const userMessage = { role: 'user' as const, content: question };
        const first = await create({ model, messages: [userMessage], tools }, stream);
        const [call] = first.tool_calls ?? [];
        const second = await create(
          {
            model,
            tools,
            messages: [userMessage, first, { role: 'tool', tool_call_id: call?.id ?? '', content: result }],
          },
          stream,
        );
        return [toClientResponse(first), toClientResponse(second)];
      },
      async askForJson(model, question, stream) {
        const response_format = {
          type: 'json_schema' as const,
          json_schema: { name: 'answer', schema: ANSWER, strict: true },
        };
        return JSON.parse(
          (await create({ model, messages: [{ role: 'user', content: question }], response_format }, stream)).content ??
            '',
        ) as unknown;
      },
    };
  },

  anthropic: (url) => {
    const client = new Anthropic({ apiKey: TOKENS.ann, baseURL: url, maxRetries: 0 });
    const create = async (
      body: Anthropic.MessageCreateParamsNonStreaming,
      stream: boolean,
    ): Promise<Anthropic.Message> => {
      const message = stream ? await client.messages.stream(body).finalMessage() : await client.messages.create(body);
      expect(message.usage.output_tokens).to.be.greaterThan(0);
      return message;
    };
    const toClientResponse = ({ content }: Anthropic.Message): ClientResponse => ({
      text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
      calls: content.flatMap((block) =>
        block.type === 'tool_use' ? [{ name: block.name, arguments: block.input }] : [],
      ),
    });
    const limits = { max_tokens: 500 };
    return {
      ask: async (model, question, stream) =>
        toClientResponse(await create({ ...limits, model, messages: [{ role: 'user', content: question }] }, stream))
          .text,
      async useTool(model, question, result, stream) {
        const tools: Anthropic.Tool[] = [{ name: 'get_weather', description: 'The weather.', input_schema: WEATHER }];
        const userMessage = { role: 'user' as const, content: question };
        const first = await create({ ...limits, model, messages: [userMessage], tools }, stream);
        const call = first.content.find((block) => block.type === 'tool_use');
        const toolMessage: Anthropic.MessageParam = {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: call?.id ?? '', content: result }],
        };
        const second = await create(
          {
            ...limits,
            model,
            tools,
            messages: [userMessage, { role: 'assistant', content: first.content }, toolMessage],
          },
          stream,
        );
        return [toClientResponse(first), toClientResponse(second)];
      },
      async askForJson(model, question, stream) {
        const output_config = { format: { type: 'json_schema' as const, schema: ANSWER } };
        return JSON.parse(
          toClientResponse(
            await create({ ...limits, model, output_config, messages: [{ role: 'user', content: question }] }, stream),
          ).text,
        ) as unknown;
      },
    };
  },

  google: (url) => {
    const client = new GoogleGenerativeAI(TOKENS.ann);
    type ModelParams = Parameters<GoogleGenerativeAI['getGenerativeModel']>[0];
    type Contents = Extract<
      Parameters<ReturnType<GoogleGenerativeAI['getGenerativeModel']>['generateContent']>[0],
      { contents: unknown }
    >['contents'];
    const create = async (params: ModelParams, contents: Contents, stream: boolean): Promise<readonly Part[]> => {
      const model = client.getGenerativeModel(params, { baseUrl: url });
      const { response } = stream
        ? await model.generateContentStream({ contents })
        : await model.generateContent({ contents });
      const final = await response;
      expect(final.usageMetadata?.totalTokenCount).to.be.greaterThan(0);
      return final.candidates![0]!.content.parts;
    };
    const toClientResponse = (parts: readonly Part[]): ClientResponse => ({
      text: parts.map((part) => ('thought' in part ? '' : (part.text ?? ''))).join(''),
      calls: parts.flatMap(({ functionCall }) =>
        functionCall === undefined ? [] : [{ name: functionCall.name, arguments: functionCall.args }],
      ),
    });
    const path = (model: string): string => `models/${model}`;
    return {
      ask: async (model, question, stream) =>
        toClientResponse(await create({ model: path(model) }, [{ role: 'user', parts: [{ text: question }] }], stream))
          .text,
      async useTool(model, question, result, stream) {
        const parameters = {
          type: SchemaType.OBJECT,
          properties: { city: { type: SchemaType.STRING } },
          required: ['city'],
        } as const;
        const params: ModelParams = {
          model: path(model),
          tools: [
            {
              functionDeclarations: [
                { name: 'get_weather', description: 'The weather.', parameters: { ...parameters, required: ['city'] } },
              ],
            },
          ],
        };
        const userMessage = { role: 'user', parts: [{ text: question }] };
        const first = await create(params, [userMessage], stream);
        const toolMessage = {
          role: 'user',
          parts: [{ functionResponse: { name: 'get_weather', response: { result } } }],
        };
        const second = await create(params, [userMessage, { role: 'model', parts: [...first] }, toolMessage], stream);
        return [toClientResponse(first), toClientResponse(second)];
      },
      async askForJson(model, question, stream) {
        const responseSchema = {
          type: SchemaType.OBJECT,
          properties: { answer: { type: SchemaType.STRING } },
          required: ['answer'],
        } as const;
        const generationConfig = {
          responseMimeType: 'application/json',
          responseSchema: { ...responseSchema, required: ['answer'] },
        };
        return JSON.parse(
          toClientResponse(
            await create(
              { model: path(model), generationConfig },
              [{ role: 'user', parts: [{ text: question }] }],
              stream,
            ),
          ).text,
        ) as unknown;
      },
    };
  },
};

describe('Official SDKs as clients of the gateway', () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.close());
  afterEach(() => {
    expect(gateway.unexpected).to.deep.equal([]);
  });

  const calls = (Object.keys(CLIENTS) as ClientName[]).flatMap((name) =>
    VENDORS.flatMap((vendor) => [false, true].map((stream) => ({ name, vendor, stream }))),
  );
  for (const { name, vendor, stream } of sampled(calls, (call) => [
    `${call.name} ${call.stream}`,
    `${call.vendor} ${call.stream}`,
  ])) {
    describe(`${name}${stream ? ', streaming,' : ''} with ${vendor} behind it`, () => {
      const model = `${vendor}/${MODELS[vendor]}`;

      it('reads a response', async () => {
        gateway.simulator.enqueue({ text: 'Good morning 🌞, \n"world".' });
        expect(await CLIENTS[name](gateway.url).ask(model, 'Hello?', stream)).to.equal('Good morning 🌞, \n"world".');
        expect(gateway.simulator.requests.at(-1)).to.include({ vendor, responseSource: 'script' });
      });

      it('reads a tool call, sends its result and reads the next response', async () => {
        gateway.simulator.enqueue(
          { calls: [{ name: 'get_weather', arguments: { city: 'Zürich' } }] },
          { text: 'It is 17 degrees in Zürich.' },
        );
        const [first, second] = await CLIENTS[name](gateway.url).useTool(
          model,
          'How warm is it in Zürich?',
          '17 degrees',
          stream,
        );
        expect(first.calls).to.deep.equal([{ name: 'get_weather', arguments: { city: 'Zürich' } }]);
        expect(second).to.deep.equal({ text: 'It is 17 degrees in Zürich.', calls: [] });
        const seen = JSON.stringify(gateway.simulator.requests.at(-1)?.body);
        // A vendor that stores responses already has the question.
        for (const text of seen.includes('previous_response_id')
          ? ['17 degrees']
          : ['How warm is it in Zürich?', '17 degrees', 'get_weather'])
          expect(seen).to.include(text);
      });

      it('receives JSON that matches its schema', async () => {
        const value = await CLIENTS[name](gateway.url).askForJson(model, 'Answer with something.', stream);
        expect(value).to.have.all.keys('answer');
        expect((value as { answer: unknown }).answer).to.be.a('string');
      });
    });
  }

  it("read raw reasoning under OpenAI's event name, while other clients get that of Open Responses", async () => {
    const openai = new OpenAI({ apiKey: TOKENS.ann, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    for (const model of ['groq/openai/gpt-oss-120b', 'anthropic/claude-sonnet-4-5']) {
      const reply = { reasoning: 'They greet me, so I greet them.', text: 'Good morning.' };
      gateway.simulator.enqueue(reply, reply);
      const events = openai.responses.stream({ model, input: 'Hello?', reasoning: { effort: 'low' } });
      let thought = '';
      for await (const event of events) if (event.type === 'response.reasoning_text.delta') thought += event.delta;
      expect(thought, model).to.equal(reply.reasoning);
      expect((await events.finalResponse()).output_text).to.equal(reply.text);
      const plain = await (
        await gateway.request('/v1/responses', { model, input: 'Hello?', reasoning: { effort: 'low' }, stream: true })
      ).text();
      expect(plain).to.include('event: response.reasoning.delta\n').and.not.to.include('reasoning_text.delta');
    }
  });

  it('throw their own error classes', async () => {
    const openai = new OpenAI({ apiKey: 'wrong', baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    expect(
      await openai.responses.create({ model: 'openai', input: 'x' }).then(
        () => undefined,
        (error: unknown) => error,
      ),
    ).to.be.instanceOf(OpenAI.AuthenticationError);
    const openaiWithToken = new OpenAI({ apiKey: TOKENS.ann, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    expect(
      await openaiWithToken.responses.create({ model: 'unknown', input: 'x' }).then(
        () => undefined,
        (error: unknown) => error,
      ),
    ).to.be.instanceOf(OpenAI.NotFoundError);
    gateway.simulator.enqueue({ status: 429, body: { error: { type: 'rate_limit_error', message: 'Slow down.' } } });
    expect(
      await openaiWithToken.chat.completions
        .create({ model: 'anthropic', messages: [{ role: 'user', content: 'x' }], stream: true })
        .then(
          () => undefined,
          (error: unknown) => error,
        ),
    ).to.be.instanceOf(OpenAI.RateLimitError);
    const anthropic = new Anthropic({ apiKey: TOKENS.ann, baseURL: gateway.url, maxRetries: 0 });
    gateway.simulator.enqueue({
      status: 400,
      body: { error: { message: 'That is wrong.', type: 'invalid_request_error' } },
    });
    expect(
      await anthropic.messages
        .create({ model: 'openai', max_tokens: 100, messages: [{ role: 'user', content: 'x' }] })
        .then(
          () => undefined,
          (error: unknown) => error,
        ),
    ).to.be.instanceOf(Anthropic.BadRequestError);
  });

  it('throw for an error in the middle of a stream', async () => {
    const fault = { kind: 'reset', after: { events: 2 } } as const;
    const text = 'one two three four five six seven eight nine ten eleven twelve thirteen fourteen';
    for (const name of Object.keys(CLIENTS) as ClientName[]) {
      for (const vendor of ['openai', 'anthropic', 'google', 'groq'] as const) {
        gateway.simulator.enqueue({ text, fault });
        const outcome = await CLIENTS[name](gateway.url)
          .ask(`${vendor}/${MODELS[vendor]}`, 'Count.', true)
          .then(
            (text) => ({ text }),
            (error: unknown) => ({ error }),
          );
        expect(outcome, `${name} with ${vendor}: ${JSON.stringify(outcome)}`).to.have.property('error');
      }
    }
  });

  it('retrieve and delete their responses', async () => {
    const openai = new OpenAI({ apiKey: TOKENS.ann, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
    for (const model of ['openai', 'anthropic']) {
      const created = await openai.responses.create({ model, input: 'Hello?' });
      expect((await openai.responses.retrieve(created.id)).output).to.deep.equal(created.output);
      await openai.responses.delete(created.id);
      expect(
        await openai.responses.retrieve(created.id).then(
          () => undefined,
          (error: unknown) => error,
        ),
      ).to.be.instanceOf(OpenAI.NotFoundError);
    }
  });

  it('list models', async () => {
    const openai = new OpenAI({ apiKey: TOKENS.ann, baseURL: `${gateway.url}/v1` });
    const anthropic = new Anthropic({ apiKey: TOKENS.ann, baseURL: gateway.url });
    const [ours, theirs]: string[][] = [[], []];
    for await (const { id } of openai.models.list()) ours!.push(id);
    for await (const { id } of anthropic.models.list()) theirs!.push(id);
    expect(ours).to.deep.equal(theirs).and.to.include('google/default-model');
  });
});
