/** `responses` of OpenAI's SDK: over HTTP, over its WebSocket, and as `beta.responses`. */
import { expect } from 'chai';
import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { z } from 'zod';
import { failure } from '../failure';
import { openaiOf } from './openaiChatCases';
import { PNG, WEATHER_CALLS, WEATHER_RESULTS, WEATHER_SCHEMA } from './SdkCase';
import type { SdkCase, SdkCases, SdkContext } from './SdkCase';

type Response = OpenAI.Responses.Response;
type Input = OpenAI.Responses.ResponseInputItem[];

const TOOLS: OpenAI.Responses.FunctionTool[] = [
  { type: 'function', name: 'get_weather', description: 'The weather.', parameters: WEATHER_SCHEMA, strict: true },
];
const City = z.object({ city: z.string() });

const callsOf = ({ output }: Pick<Response, 'output'>): OpenAI.Responses.ResponseFunctionToolCall[] =>
  output.filter((item) => item.type === 'function_call');

const resultsOf = (response: Response): Input =>
  callsOf(response).map(({ call_id }, index) => ({
    type: 'function_call_output',
    call_id,
    output: WEATHER_RESULTS[index]!,
  }));

/** @param isStored the server holds the conversation; otherwise the client returns all items, with sealed reasoning */
const continues =
  (isStored: boolean): SdkCase =>
  async (context) => {
    context.gateway.simulator.enqueue(
      { reasoning: 'I need the weather of both.', calls: WEATHER_CALLS },
      { text: 'Sunny in both.' },
    );
    const { responses } = openaiOf(context);
    const body = {
      model: context.model,
      tools: TOOLS,
      reasoning: { effort: 'low' as const, summary: 'auto' as const },
      ...(isStored ? {} : { store: false, include: ['reasoning.encrypted_content' as const] }),
    };
    const first = await responses.create({ ...body, input: 'How is the weather?' });
    expect(callsOf(first).map((call): unknown => JSON.parse(call.arguments))).to.deep.equal(
      WEATHER_CALLS.map((call) => call.arguments),
    );
    const second = await responses.create({
      ...body,
      ...(isStored
        ? { previous_response_id: first.id, input: resultsOf(first) }
        : { input: [{ role: 'user', content: 'How is the weather?' }, ...first.output, ...resultsOf(first)] as Input }),
    });
    expect(second.output_text).to.equal('Sunny in both.');
    for (const result of WEATHER_RESULTS) expect(context.lastBody()).to.include(result);
  };

/** Creates a response and returns it. */
export async function createOne(context: SdkContext): Promise<Response> {
  context.gateway.simulator.enqueue({ text: 'Hello.' });
  return openaiOf(context).responses.create({ model: context.model, input: 'Hello?' });
}

/** Sends a request and waits for its complete response. */
function overSocket(socket: ResponsesWS, request: OpenAI.Responses.ResponsesClientEvent): Promise<Response> {
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('response.completed', ({ response }) => resolve(response));
    socket.send(request);
  });
}

export const OPENAI_RESPONSES_CASES: SdkCases = {
  'responses.create': {
    'reads text and usage': async (context) => {
      context.gateway.simulator.enqueue({ text: 'Grüezi 🌞', usage: { input: 30, output: 7 } });
      const response = await openaiOf(context).responses.create({
        model: context.model,
        instructions: 'Be brief.',
        input: 'Hello?',
      });
      expect(response.output_text).to.equal('Grüezi 🌞');
      expect(response.status).to.equal('completed');
      expect(response.usage).to.include({ input_tokens: 30, output_tokens: 7, total_tokens: 37 });
      expect(context.lastBody()).to.include('Be brief.');
    },
    'streams events': async (context) => {
      context.gateway.simulator.enqueue({ reasoning: 'I count.', text: 'one two three four' });
      const stream = await openaiOf(context).responses.create({
        model: context.model,
        input: 'Count.',
        reasoning: { effort: 'low', summary: 'auto' },
        stream: true,
      });
      const types: string[] = [];
      let text = '';
      for await (const event of stream) {
        types.push(event.type);
        if (event.type === 'response.output_text.delta') text += event.delta;
      }
      expect(text).to.equal('one two three four');
      expect(types[0]).to.equal('response.created');
      expect(types.at(-1)).to.equal('response.completed');
    },
    'sends images': async (context) => {
      context.gateway.simulator.enqueue({ text: 'A pixel.' });
      const response = await openaiOf(context).responses.create({
        model: context.model,
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_text', text: 'What is this?' },
              { type: 'input_image', image_url: `data:image/png;base64,${PNG}`, detail: 'auto' },
            ],
          },
        ],
      });
      expect(response.output_text).to.equal('A pixel.');
      expect(context.lastBody()).to.include(PNG);
    },
    'reports text that was cut off': async (context) => {
      context.gateway.simulator.enqueue({ text: 'Once upon', incomplete: 'max_output_tokens' });
      const response = await openaiOf(context).responses.create({
        model: context.model,
        input: 'A tale.',
        max_output_tokens: 16,
      });
      expect(response.status).to.equal('incomplete');
      expect(response.incomplete_details?.reason).to.equal('max_output_tokens');
      expect(response.output_text).to.equal('Once upon');
    },
    'continues a stored conversation': continues(true),
    'continues a conversation that the client holds': continues(false),
    'refers to every stored item by its id': async (context) => {
      for (const stream of [false, true]) {
        context.gateway.simulator.enqueue({ reasoning: 'I need both.', calls: WEATHER_CALLS }, { text: 'Sunny.' });
        const { responses } = openaiOf(context);
        const body = { model: context.model, tools: TOOLS, reasoning: { summary: 'auto' as const } };
        const first = stream
          ? await responses.stream({ ...body, input: 'How is the weather?' }).finalResponse()
          : await responses.create({ ...body, input: 'How is the weather?' });
        const items: Input = first.output.map((item) => ({ type: 'item_reference', id: item.id ?? '' }));
        const second = await responses.create({
          ...body,
          input: [{ role: 'user', content: 'How is the weather?' }, ...items, ...resultsOf(first)],
        });
        expect(second.output_text).to.equal('Sunny.');
      }
    },
    'runs in the background': async (context) => {
      context.gateway.simulator.enqueue({ text: 'Done.' });
      const { responses } = openaiOf(context);
      const finished = context.gateway.simulator.nextFinish();
      let response = await responses.create({ model: context.model, input: 'Think.', background: true });
      expect(response.status).to.be.oneOf(['queued', 'in_progress', 'completed']);
      await finished;
      while (response.status !== 'completed') response = await responses.retrieve(response.id);
      expect(response.output_text).to.equal('Done.');
    },
  },
  'responses.stream': {
    'accumulates parallel calls': async (context) => {
      context.gateway.simulator.enqueue({ text: 'Let me look.', calls: WEATHER_CALLS });
      const stream = openaiOf(context).responses.stream({ model: context.model, input: 'Weather?', tools: TOOLS });
      const done: unknown[] = [];
      stream.on('response.function_call_arguments.done', (event) => done.push(JSON.parse(event.arguments)));
      const response = await stream.finalResponse();
      expect(done).to.deep.equal(WEATHER_CALLS.map((call) => call.arguments));
      expect(callsOf(response).map(({ name }) => name)).to.deep.equal(['get_weather', 'get_weather']);
    },
    'returns typed values': async (context) => {
      context.gateway.simulator.enqueue({ text: '{"city":"Lima"}' });
      const stream = openaiOf(context).responses.stream({
        model: context.model,
        input: 'A city.',
        text: { format: zodTextFormat(City, 'city') },
      });
      expect((await stream.finalResponse()).output_parsed).to.deep.equal({ city: 'Lima' });
    },
  },
  'responses.parse': {
    'returns typed values': async (context) => {
      context.gateway.simulator.enqueue({ text: '{"city":"Lima"}' });
      const response = await openaiOf(context).responses.parse({
        model: context.model,
        input: 'A city.',
        text: { format: zodTextFormat(City, 'city') },
      });
      expect(response.output_parsed).to.deep.equal({ city: 'Lima' });
    },
  },
  'responses.retrieve': {
    'returns what was created': async (context) => {
      const created = await createOne(context);
      const read = await openaiOf(context).responses.retrieve(created.id);
      expect(read.output).to.deep.equal(created.output);
      expect(read.output_text).to.equal('Hello.');
    },
  },
  'responses.delete': {
    'removes a response': async (context) => {
      const { responses } = openaiOf(context);
      const { id } = await createOne(context);
      await responses.delete(id);
      expect(await failure(responses.retrieve(id))).to.be.instanceOf(OpenAI.NotFoundError);
    },
  },
  'responses.cancel': {
    'ends a response in the background': async (context) => {
      context.gateway.simulator.enqueue({ text: 'Never.', fault: { kind: 'stall', after: 'nothing' } });
      const { responses } = openaiOf(context);
      const arrived = context.gateway.simulator.nextRequest();
      const aborted = context.gateway.simulator.nextAbort();
      const { id } = await responses.create({ model: context.model, input: 'Think.', background: true });
      await arrived;
      expect((await responses.cancel(id)).status).to.equal('cancelled');
      await aborted;
    },
  },
  'responses.compact': {
    'shortens a conversation that goes on': async (context) => {
      // Vendors that cannot compact are asked for a summary.
      context.gateway.simulator.enqueue(() => ({ text: 'They greeted each other.' }));
      const { responses } = openaiOf(context);
      const compacted = await responses.compact({
        model: context.model,
        input: [
          { role: 'user', content: 'Hello?' },
          { role: 'assistant', content: 'Hello.' },
        ],
      });
      expect(compacted.object).to.equal('response.compaction');
      context.gateway.simulator.enqueue({ text: 'Yes.' });
      const next = await responses.create({
        model: context.model,
        input: [...(compacted.output as Input), { role: 'user', content: 'Still there?' }],
      });
      expect(next.output_text).to.be.a('string').and.not.equal('');
    },
  },
  'responses.inputTokens.count': {
    'counts a request': async (context) => {
      const { input_tokens } = await openaiOf(context).responses.inputTokens.count({
        model: context.model,
        input: 'How many tokens are these, more or less?',
      });
      expect(input_tokens).to.be.within(5, 40);
    },
  },
};

export const OPENAI_SOCKET_CASES: SdkCases = {
  'ResponsesWS.send': {
    'creates responses that continue each other': async (context) => {
      context.gateway.simulator.enqueue({ calls: WEATHER_CALLS }, { text: 'Sunny in both.' });
      const socket = new ResponsesWS(openaiOf(context));
      try {
        const first = await overSocket(socket, {
          type: 'response.create',
          model: context.model,
          input: 'Weather?',
          tools: TOOLS,
        });
        const next = await overSocket(socket, {
          type: 'response.create',
          model: context.model,
          previous_response_id: first.id,
          input: resultsOf(first),
          tools: TOOLS,
        });
        const message = next.output.find((item) => item.type === 'message');
        expect(message?.content[0]).to.deep.include({ type: 'output_text', text: 'Sunny in both.' });
      } finally {
        socket.close();
      }
    },
  },
};
