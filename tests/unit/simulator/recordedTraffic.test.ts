/** The simulator matches recorded traffic: it accepts what the vendors accepted, and replays what they sent. */
import { expect } from 'chai';
import { loadRecordedCase, listRecordedCases } from '../../../imports/simulator/exchange/loadRecordedCase';
import { RECORDINGS_ROOT } from '../../support/recordings';
import type { RecordedExchange } from '../../../imports/simulator/exchange/RecordedExchange';
import { asObject, parseJson } from '../../../imports/simulator/json';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';

const PLAY = { fixturesRoot: RECORDINGS_ROOT };
const exchanges = listRecordedCases(RECORDINGS_ROOT).flatMap((id) => loadRecordedCase(id, RECORDINGS_ROOT));
const withRequest = exchanges.filter((exchange) => exchange.request !== undefined);
const accepted = withRequest.filter((exchange) => exchange.status === 200);

/** Recordings that the vendor rejected for their schema or transcript, and that a rule of the simulator covers. */
const COVERED_REFUSALS = [
  'anthropic-err400-a 1',
  'openai-chat-err400-a 1',
  'openai-resp-err400-ctx-a 2',
  'llama-err500-a 2',
];

describe('the simulator and recorded traffic', () => {
  let simulator: Simulator;
  let player: Simulator;

  before(async () => {
    simulator = await startSimulator({ acceptForeignSignatures: true });
  });
  after(() => simulator.close());
  beforeEach(async () => {
    player = await startSimulator();
  });
  afterEach(() => player.close());

  it(`accepts every recorded request that its vendor accepted (${accepted.length} requests)`, async () => {
    const rejected: string[] = [];
    for (const exchange of accepted) {
      const response = await send(simulator, exchange);
      if (response.status !== 200) rejected.push(`${nameOf(exchange)}: ${response.status} ${await response.text()}`);
      else await response.arrayBuffer();
    }
    expect(rejected, `${accepted.length - rejected.length} of ${accepted.length} accepted`).to.deep.equal([]);
    expect(accepted.length).to.be.greaterThan(100);
  });

  for (const name of COVERED_REFUSALS) {
    it(`rejects ${name} like its vendor`, async () => {
      const exchange = withRequest.find((candidate) => nameOf(candidate) === name)!;
      const response = await send(simulator, exchange);
      expect(response.status).to.equal(exchange.status);
      const message = messageIn(await response.text());
      expect(message).to.equal(messageIn(exchange.response.toString()));
    });
  }

  it('plays every recorded case back byte for byte, with its status and headers', async () => {
    for (const id of listRecordedCases(RECORDINGS_ROOT)) {
      for (const exchange of player.playRecording(id, PLAY)) {
        const response = await send(player, exchange);
        expect(response.status, nameOf(exchange)).to.equal(exchange.status);
        for (const [name, value] of Object.entries(exchange.headers))
          expect(response.headers.get(name), `${nameOf(exchange)} ${name}`).to.equal(value);
        expect(Buffer.from(await response.arrayBuffer()).equals(exchange.response), nameOf(exchange)).to.equal(true);
      }
      player.assertDone();
    }
    expect(player.requests).to.have.length(exchanges.length);
  });

  it('plays the same bytes in chunks', async () => {
    const [exchange] = player.playRecording('gemini-stream-text-a', { ...PLAY, chunkBytes: 3 });
    const response = await send(player, exchange!);
    expect(Buffer.from(await response.arrayBuffer()).equals(exchange!.response)).to.equal(true);
  });

  it('plays a recording only on its own wire', async () => {
    const [exchange] = player.playRecording('anthropic-text-a', PLAY);
    const other = loadRecordedCase('openai-chat-image-a', RECORDINGS_ROOT)[0]!;
    expect(await (await send(player, other)).text()).to.include('simulated');
    const response = await send(player, exchange!);
    expect(Buffer.from(await response.arrayBuffer()).equals(exchange!.response)).to.equal(true);
  });

  it('restores the framing of payloads that were recorded without it', () => {
    const [chat] = loadRecordedCase('groq-stream-tool-a', RECORDINGS_ROOT);
    expect(chat!.response.toString())
      .to.match(/^data: \{.*\}\n\n/)
      .and.to.match(/\n\ndata: \[DONE\]\n\n$/);
    const [responses] = loadRecordedCase('azure-resp-stream-tool-a', RECORDINGS_ROOT);
    expect(responses!.response.toString()).to.match(/^event: response\.created\ndata: \{/);
    expect(responses!.response.toString()).not.to.include('[DONE]');
    const [gemini] = loadRecordedCase('gemini-vertex-stream-partial-args-a', RECORDINGS_ROOT);
    expect(gemini!.response.toString())
      .to.match(/^data: \{/)
      .and.not.to.include('event:');
  });

  it('names a recorded exchange that was never requested, and an unknown case', async () => {
    const prepared = await startSimulator({ recordings: { cases: ['anthropic-text-a'], ...PLAY } });
    await prepared.close();
    expect(() => prepared.assertDone()).to.throw('Exchange 1 of the recording anthropic-text-a was never requested');
    expect(() => player.playRecording('no-such-case', PLAY)).to.throw('Unknown recorded case "no-such-case"');
  });
});

function send(simulator: Simulator, exchange: RecordedExchange): Promise<Response> {
  return fetch(simulator.url + exchange.path, {
    method: exchange.method,
    headers: { 'content-type': 'application/json', authorization: 'Bearer test-key' },
    body: JSON.stringify(exchange.request ?? {}),
  });
}

function nameOf(exchange: RecordedExchange): string {
  return `${exchange.caseId} ${exchange.number}`;
}

function messageIn(body: string): unknown {
  return asObject(asObject(parseJson(body)).error).message;
}
