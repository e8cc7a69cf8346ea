/** What clients of the gateway receive if an upstream stream is unusual, silent, endless or broken. */
import { expect } from 'chai';
import type { JsonObject, ServedWire } from '../../imports/business/ai/domain/types/VendorTypes';
import { startEndlessLine } from '../support/chatSource';
import type { ChatSource } from '../support/chatSource';
import { simulatedRow, startGateway, TOKENS } from '../support/gateway';
import type { Gateway, GatewayOptions } from '../support/gateway';
import { openSocket } from '../support/responsesSocket';
import { brokenTextOf, openStream, STREAM_ROUTES, textOf } from '../support/streamRoutes';
import { completedIn, decodeText, meaningOf, responseOf, STREAMS } from '../support/transcoding';
import { IS_SOAK, sampled } from '../support/soak';
import { until } from '../support/until';
import { VirtualTime } from '../support/VirtualTime';

const MODELS = ['openai', 'anthropic', 'google', 'groq'] as const;
const CALLS = STREAM_ROUTES.flatMap((route) => MODELS.map((model) => ({ route, model })));
/** Milliseconds. */
const IDLE = 1_000;

/** One recording per wire, with multi-byte characters. */
const ODD_CASES = [
  'openai-resp-stream-text-a 1',
  'llama-stream-tool-a 4',
  'anthropic-stream-tool-loop-a 4',
  'gemini-stream-tool-loop-a 4',
];

/**
 * Encodes a stream in unusual ways that the standard allows.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */
function asOdd(text: string): Buffer {
  const lines = text.replaceAll('\r\n', '\n');
  const [first = '', ...others] = lines.split('\n\n');
  const commented = [first, ': a comment: 🦊\nretry: 10\nid: 7', ...others].join('\n\n');
  return Buffer.from(`\ufeff${commented.replaceAll('\n', '\r\n')}`);
}

describe('An upstream stream', () => {
  let gateway: Gateway;
  let source: ChatSource | undefined;
  const start = async (options?: GatewayOptions): Promise<void> => {
    gateway = await startGateway(options);
  };
  afterEach(async () => {
    await gateway.close();
    await source?.close();
    source = undefined;
    expect(gateway.unexpected).to.deep.equal([]);
  });

  for (const recording of STREAMS.filter(({ name }) => ODD_CASES.includes(name))) {
    it(`has the same content on every route with a byte order mark, CRLF, comments and tiny chunks (${recording.name})`, async () => {
      await start();
      const theirs = await responseOf(recording);
      expect(theirs?.output_text).to.match(/[^\p{ASCII}]/u);
      for (const route of STREAM_ROUTES) {
        // An array is not an event stream, and a chat client reaches OpenAI over chat completions.
        if (route.name.includes('array') || (recording.wire === 'responses' && route.name === 'chat')) continue;
        gateway.simulator.enqueue({
          raw: asOdd(recording.text),
          headers: { 'content-type': 'text/event-stream' },
          fault: { kind: 'slow', chunkBytes: IS_SOAK ? 1 : 7, delayMs: 0 },
        });
        const text = await textOf(await openStream(gateway, route, recording.vendor));
        const ours = completedIn(await decodeText(WIRE_OF[route.name]!, text, recording.vendor));
        expect(meaningOf(ours).text, route.name).to.equal(theirs?.output_text);
        expect(meaningOf(ours).status, route.name).to.equal('completed');
      }
    });
  }

  for (const [what, kind] of [
    ['that falls silent', 'stall'],
    ['that sends only comments', 'comments-only'],
  ] as const) {
    it(`${what} ends in an error on every route and socket, and never in a complete response`, async () => {
      await start({ row: { limits: { streamIdleTimeout: IDLE } } });
      const time = VirtualTime.start();
      try {
        const reply = {
          text: 'one two three four five six seven eight nine ten',
          fault: { kind, after: { events: 5 } },
        } as const;
        const readers = await Promise.all(
          sampled(CALLS, ({ route, model }) => [route, model]).map(async ({ route, model }) => {
            gateway.simulator.enqueue({ vendor: model, ...reply });
            return { route, model, response: await openStream(gateway, route, model) };
          }),
        );
        const sockets = await Promise.all(
          MODELS.map(async (model) => {
            gateway.simulator.enqueue({ vendor: model, ...reply });
            const socket = await openSocket({ url: gateway.url, token: TOKENS.ann });
            return { model, socket, turn: socket.turn(turnOf(model)) };
          }),
        );
        await until(() => gateway.simulator.requests.length === readers.length + sockets.length);
        await time.during(10 * IDLE, async () => {
          // All are read at once: what is not read is lost when the connection breaks.
          await Promise.all(
            readers.map(async ({ route, model, response }) => {
              expect(response.statusCode).to.equal(200);
              const { text, isCut } = await brokenTextOf(response);
              expect(text, `${route.name} ${model}`)
                .to.match(route.failure)
                .and.to.include(`sent no data for ${IDLE} ms`);
              expect(isCut, route.name).to.equal(route.name.startsWith('Gemini'));
            }),
          );
          for (const { model, turn } of sockets) expect((await turn).error?.code, model).to.equal('timeout');
        });
        for (const { socket } of sockets) await socket.close();
        await until(() => gateway.simulator.requests.every(({ aborted }) => aborted));
      } finally {
        time.stop();
      }
    });
  }

  for (const route of STREAM_ROUTES) {
    it(`that breaks off ends in an error on ${route.name}`, async () => {
      await start();
      for (const model of MODELS) {
        for (const fault of [
          { kind: 'reset', after: { events: 5 } },
          { kind: 'truncate', after: { events: 5 } },
          { kind: 'truncate', after: { bytes: 3_000 } },
        ] as const) {
          gateway.simulator.enqueue({ text: 'one two three four five six seven eight nine ten '.repeat(20), fault });
          const { text } = await brokenTextOf(await openStream(gateway, route, model));
          expect(text, `${model} ${JSON.stringify(fault)}`).to.match(route.failure);
        }
      }
    });

    it(`with an endless line is abandoned after 8 MiB, with an error on ${route.name}`, async () => {
      source = await startEndlessLine();
      const { url } = source;
      await start({
        providers: () => [
          { id: 'talker', vendor: 'openai_compatible', baseURL: url, allowPrivateHosts: true, defaultModel: 'talker' },
        ],
      });
      const { text } = await brokenTextOf(await openStream(gateway, route, 'talker'));
      expect(text).to.match(route.failure);
      expect(text).to.include('larger than 8388608 bytes');
      expect(text.length).to.be.lessThan(20_000);
      await source.disconnected;
      // Includes what the kernels' buffers hold.
      expect(source.taken).to.be.within(8 * 2 ** 20, 2 ** 29);
    });
  }

  it('that is endless or breaks off ends in one error on a socket, which stays open', async () => {
    source = await startEndlessLine();
    const { url } = source;
    await start({
      providers: (simulator) => [
        simulatedRow(simulator, 'openai'),
        { id: 'talker', vendor: 'openai_compatible', baseURL: url, allowPrivateHosts: true, defaultModel: 'talker' },
      ],
    });
    const socket = await openSocket({ url: gateway.url, token: TOKENS.ann });
    for (const kind of ['reset', 'truncate'] as const) {
      gateway.simulator.enqueue({ text: 'one two three four five six', fault: { kind, after: { events: 5 } } });
      const { error, events } = await socket.turn(turnOf('openai'));
      expect([error?.code, events.length > 0], kind).to.deep.equal(['stream_broken', true]);
    }
    expect((await socket.turn(turnOf('talker'))).error?.code).to.equal('stream_broken');
    await source.disconnected;
    expect((await socket.turn(turnOf('openai'))).response?.['status']).to.equal('completed');
    await socket.close();
  });
});

function turnOf(model: string): JsonObject {
  return { model, input: [{ type: 'message', role: 'user', content: 'go' }] };
}

const WIRE_OF: Readonly<Record<string, ServedWire>> = {
  Responses: 'responses',
  chat: 'chat_completions',
  Messages: 'anthropic_messages',
  Gemini: 'gemini',
};
