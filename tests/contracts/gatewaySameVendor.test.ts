/**
 * A client of a vendor's API with that vendor behind the gateway, where the recordings have nothing new: fields,
 * events and kinds of tools that nobody here has heard of.
 */
import { expect } from 'chai';
import { isObject } from '../../imports/business/ai/domain/json';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import type { SseMessage } from '../../imports/business/ai/infrastructure/converters/Wire';
import { simulatedRow, startGateway } from '../support/gateway';
import type { Gateway } from '../support/gateway';
import { missingFrom } from '../support/missingFrom';
import { RECORDINGS_ROOT, RECORDINGS, sseMessages } from '../support/recordings';
import type { Recording } from '../support/recordings';

// A name that is spelled alike in all of them: Google takes snake_case for camelCase.
const NEW = { brandNew: { deep: [1, null, 'x'], flag: true } };

interface SameVendor {
  readonly name: string;
  readonly wire: Recording['wire'];
  readonly vendor: Recording['vendor'];
  readonly path: (stream: boolean) => string;
  /** Something new wherever a vendor may put something new. */
  readonly request: JsonObject;
  /** The places in an answer of the vendor's that get something new, beside its top. */
  readonly places: readonly string[];
}

const CASES: readonly SameVendor[] = [
  {
    name: 'OpenAI by Responses',
    wire: 'responses',
    vendor: 'openai',
    path: () => '/v1/responses',
    request: {
      model: 'openai',
      input: [
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'x', ...NEW }], ...NEW },
        { type: 'brand_new_item', id: 'bn_1', ...NEW },
      ],
      tools: [
        {
          type: 'function',
          name: 'f',
          description: 'F.',
          parameters: { type: 'object', properties: {} },
          strict: false,
          ...NEW,
        },
        { type: 'brand_new_tool', ...NEW },
      ],
      text: { verbosity: 'low', ...NEW },
      reasoning: { effort: 'low', ...NEW },
      ...NEW,
    },
    places: ['output.0', 'output.0.content.0', 'usage'],
  },
  {
    name: 'OpenAI by chat completions',
    wire: 'chat_completions',
    vendor: 'openai',
    path: () => '/v1/chat/completions',
    request: {
      model: 'openai',
      messages: [
        { role: 'system', content: 's', ...NEW },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'x', ...NEW },
            { type: 'brand_new_part', ...NEW },
          ],
          ...NEW,
        },
      ],
      tools: [
        {
          type: 'function',
          function: { name: 'f', description: 'F.', parameters: { type: 'object', properties: {} }, ...NEW },
          ...NEW,
        },
        { type: 'brand_new_tool', ...NEW },
      ],
      ...NEW,
    },
    places: ['choices.0', 'choices.0.message', 'usage'],
  },
  {
    name: 'Anthropic by Messages',
    wire: 'anthropic_messages',
    vendor: 'anthropic',
    path: () => '/v1/messages',
    request: {
      model: 'anthropic',
      max_tokens: 100,
      system: [{ type: 'text', text: 's', ...NEW }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'x', ...NEW },
            { type: 'brand_new_block', ...NEW },
          ],
        },
      ],
      tools: [
        { name: 'f', description: 'F.', input_schema: { type: 'object', properties: {} }, ...NEW },
        { type: 'brand_new_20990101', name: 'g', ...NEW },
      ],
      ...NEW,
    },
    places: ['content.0', 'usage'],
  },
  {
    name: 'Google by generateContent',
    wire: 'gemini',
    vendor: 'google',
    path: (stream) => `/v1beta/models/google:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    request: {
      systemInstruction: { parts: [{ text: 's', ...NEW }] },
      contents: [
        {
          role: 'user',
          parts: [
            { text: 'x', ...NEW },
            { brandNewPart: {}, ...NEW },
          ],
        },
      ],
      tools: [
        {
          functionDeclarations: [
            { name: 'f', description: 'F.', parametersJsonSchema: { type: 'object', properties: {} }, ...NEW },
          ],
        },
        { brandNewTool: NEW },
      ],
      generationConfig: { temperature: 0.5, ...NEW },
      ...NEW,
    },
    places: ['candidates.0', 'candidates.0.content.parts.0', 'usageMetadata'],
  },
];

function recordedAnswer({ wire, vendor }: SameVendor, stream: boolean): Recording {
  return RECORDINGS.find(
    (each) =>
      each.wire === wire && each.vendor === vendor && each.stream === stream && each.status === 200 && each.n === 1,
  )!;
}

function withNews(text: string, places: readonly string[]): JsonObject {
  const answer = JSON.parse(text) as JsonObject;
  Object.assign(answer, NEW);
  for (const place of places) {
    const found = place.split('.').reduce<unknown>((value, key) => (value as JsonObject | undefined)?.[key], answer);
    expect(found, place).to.be.an('object');
    Object.assign(found as JsonObject, NEW);
  }
  return answer;
}

describe('what is new at', () => {
  let gateway: Gateway;
  beforeEach(async () => {
    gateway = await startGateway();
  });
  afterEach(async () => {
    await gateway.close();
    expect(gateway.unexpected).to.deep.equal([]);
  });

  for (const facts of CASES) {
    const { name, path, request, places } = facts;

    for (const stream of [false, true]) {
      it(`${name} goes into a request${stream ? ' for a stream' : ''} as the client wrote it`, async () => {
        // Recorded answers come whatever was asked.
        gateway.simulator.playRecording(recordedAnswer(facts, stream).caseId, { fixturesRoot: RECORDINGS_ROOT });
        const answer = await gateway.ask(
          path(stream),
          stream && !path(stream).includes('stream') ? { ...request, stream } : request,
        );
        expect(answer.status, await answer.text()).to.equal(200);
        const { model: _, ...sent } = request;
        expect(missingFrom(gateway.simulator.requests.at(-1)?.body, sent)).to.deep.equal([]);
      });
    }

    it(`${name} comes out of an answer as the vendor wrote it`, async () => {
      const body = withNews(recordedAnswer(facts, false).text, places);
      gateway.simulator.enqueue({ status: 200, body, headers: { 'x-request-id': 'req_theirs' } });
      const answer = await gateway.ask(path(false), PLAIN[facts.wire]);
      const ours = (await answer.json()) as JsonObject;
      expect(answer.headers.get('x-request-id')).to.equal('req_theirs');
      if (facts.wire === 'responses') expect(missingFrom(ours, withoutNulls(body))).to.deep.equal([]);
      else expect(ours).to.deep.equal(body);
    });

    it(`${name} comes out of a stream as the vendor wrote it, unknown events too`, async () => {
      const [first, ...others] = sseMessages(recordedAnswer(facts, true).text).map((message) =>
        withNewsInEvent(message, facts.wire),
      );
      const event = { type: 'response.brand_new.happened', sequence_number: 1, output_index: 0, choices: [], ...NEW };
      const news = { event: first?.event === undefined ? undefined : event.type, data: JSON.stringify(event) };
      const raw = [first!, news, ...others]
        .map((message) => `${message.event === undefined ? '' : `event: ${message.event}\n`}data: ${message.data}\n\n`)
        .join('');
      gateway.simulator.enqueue({ raw, headers: { 'content-type': 'text/event-stream' } });
      const text = await (
        await gateway.ask(
          path(true),
          path(true).includes('stream')
            ? PLAIN[facts.wire]
            : {
                ...PLAIN[facts.wire],
                stream: true,
                ...(facts.wire === 'chat_completions' ? { stream_options: { include_usage: true } } : {}),
              },
        )
      ).text();
      const ours = sseMessages(text);
      if (facts.wire !== 'responses') {
        expect(ours).to.deep.equal(sseMessages(raw));
        return;
      }
      // The events of this API are numbered anew and end in [DONE], and what a response repeats of its request is
      // completed.
      expect(ours.map((message) => message.event ?? message.data)).to.deep.equal([
        ...sseMessages(raw).map((message) => message.event),
        '[DONE]',
      ]);
      sseMessages(raw).forEach((message, index) => {
        const {
          sequence_number: _,
          response,
          ...theirs
        } = JSON.parse(message.data) as JsonObject & { readonly response?: JsonObject };
        const said = JSON.parse(ours[index]!.data) as JsonObject;
        expect(said.sequence_number).to.equal(index);
        expect(
          missingFrom(said, response === undefined ? theirs : { ...theirs, response: withoutNulls(response) }),
        ).to.deep.equal([]);
      });
      const { response } = JSON.parse(ours.at(-2)!.data) as { readonly response: JsonObject };
      expect(response).to.deep.include(NEW);
      expect(await (await gateway.ask(`/v1/responses/${String(response.id)}`)).json()).to.deep.equal(response);
    });
  }
});

describe('the headers of a vendor', () => {
  const SHOWN = {
    'x-ratelimit-remaining-requests': '3',
    'anthropic-ratelimit-tokens-reset': '2026-01-01T00:00:00Z',
    'x-ratelimit-new-kind': '1s',
    'openai-processing-ms': '12',
  };
  const OTHERS = {
    'openai-organization': 'org-1',
    'anthropic-organization-id': 'o',
    'openai-project': 'p',
    'set-cookie': 'a=b',
    'x-ratelimit-long': 'x'.repeat(300),
    'cf-ray': 'r',
  };
  const HEADERS = { ...SHOWN, ...OTHERS, 'x-request-id': 'req_theirs' };

  function expectShown(answer: Response, isShown: boolean): void {
    for (const [name, value] of Object.entries(SHOWN))
      expect(answer.headers.get(name), name).to.equal(isShown ? value : null);
    for (const name of Object.keys(OTHERS)) expect(answer.headers.get(name), name).to.equal(null);
    const ids = [answer.headers.get('x-request-id'), answer.headers.get('request-id')];
    if (isShown) expect(ids).to.deep.equal(['req_theirs', 'req_theirs']);
    else expect(ids[0]).to.match(/^req_[0-9a-f]{24}$/);
  }

  for (const facts of CASES) {
    for (const stream of [false, true]) {
      it(`that its clients act upon reach a client of ${facts.name}${stream ? ' before a stream' : ''}, and nobody else`, async () => {
        const gateway = await startGateway({ attempts: 2 });
        const asked = (model: string): JsonObject => ({
          ...PLAIN[facts.wire],
          ...(facts.wire === 'gemini' ? {} : { model, ...(stream ? { stream } : {}) }),
        });
        const path = (model: string): string => facts.path(stream).replace('/google:', `/${model}:`);
        // Of two attempts the last one counts.
        gateway.simulator.enqueue(
          {
            raw: ' ',
            headers: {
              'content-type': stream ? 'text/event-stream' : 'application/json',
              'x-ratelimit-remaining-tokens': '1',
            },
          },
          { text: 'Hi', headers: HEADERS },
        );
        const answer = await gateway.ask(path(facts.vendor), asked(facts.vendor));
        expect(answer.status, await answer.text()).to.equal(200);
        expectShown(answer, true);
        expect(answer.headers.get('x-ratelimit-remaining-tokens')).to.equal(null);

        gateway.simulator.enqueue({
          status: 400,
          body: { error: { message: 'x' } },
          headers: { ...HEADERS, 'retry-after': '7' },
        });
        const refused = await gateway.ask(path(facts.vendor), asked(facts.vendor));
        expect(refused.status, await refused.text()).to.equal(400);
        expectShown(refused, true);
        expect(refused.headers.get('retry-after')).to.equal('7');

        const other = facts.vendor === 'anthropic' ? 'google' : 'anthropic';
        gateway.simulator.enqueue({ text: 'Hi', headers: HEADERS });
        const foreign = await gateway.ask(path(other), asked(other));
        expect(foreign.status, await foreign.text()).to.equal(200);
        expectShown(foreign, false);
        await gateway.close();
      });
    }
  }
});

describe("the version of Anthropic's API", () => {
  it('is the one that its client writes in, and else the one that we do', async () => {
    const gateway = await startGateway();
    const seen: unknown[] = [];
    for (const version of ['2026-10-21', '2023-06-01', 'latest', undefined]) {
      const answer = await gateway.ask('/v1/messages', PLAIN.anthropic_messages, {
        headers: version === undefined ? {} : { 'anthropic-version': version },
      });
      expect(answer.status, await answer.text()).to.equal(200);
      seen.push(gateway.simulator.requests.at(-1)?.headers['anthropic-version']);
    }
    expect(seen).to.deep.equal(['2026-10-21', '2023-06-01', '2023-06-01', '2023-06-01']);
    // The latest has no sampling parameters; who did not ask for it may go on using them.
    const warm = { ...PLAIN.anthropic_messages, temperature: 0.5 };
    expect(
      (await gateway.ask('/v1/messages', warm, { headers: { 'anthropic-version': '2026-10-21' } })).status,
    ).to.equal(400);
    expect((await gateway.ask('/v1/messages', warm)).status).to.equal(200);
    expect(
      (await gateway.ask('/v1/chat/completions', { ...PLAIN.chat_completions, model: 'anthropic', temperature: 0.5 }))
        .status,
    ).to.equal(200);
    await gateway.close();
  });
});

describe('words that only chat completions know', () => {
  it('stay away from a provider of OpenAI that is to speak Responses', async () => {
    const gateway = await startGateway({
      providers: (simulator) => [{ ...simulatedRow(simulator, 'openai'), wire: 'responses' }],
    });
    const answer = await gateway.ask('/v1/chat/completions', {
      ...PLAIN.chat_completions,
      seed: 7,
      logit_bias: { 1: 1 },
    });
    expect(answer.status, await answer.text()).to.equal(200);
    expect(gateway.simulator.requests.at(-1)).to.include({ wire: 'responses' });
    expect(gateway.simulator.requests.at(-1)?.body).not.to.have.any.keys('seed', 'logit_bias');
    await gateway.close();
  });
});

const PLAIN = {
  responses: { model: 'openai', input: 'x' },
  chat_completions: { model: 'openai', messages: [{ role: 'user', content: 'x' }] },
  anthropic_messages: { model: 'anthropic', max_tokens: 100, messages: [{ role: 'user', content: 'x' }] },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'x' }] }] },
} as const satisfies Record<Recording['wire'], JsonObject>;

/** Fields that nobody has heard of, in each event and in what it holds. */
function withNewsInEvent({ event, data }: SseMessage, wire: Recording['wire']): SseMessage {
  if (wire !== 'responses' || data === '[DONE]') return { event, data };
  const said = JSON.parse(data) as JsonObject;
  const news = Object.fromEntries(
    Object.entries(said).map(([field, value]) => [field, isObject(value) ? { ...value, ...NEW } : value]),
  );
  return { event, data: JSON.stringify({ ...news, ...NEW, obfuscation: 'x7' }) };
}

/** Where a host says null, Open Responses may demand something. */
function withoutNulls(body: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}
