/** The simulator against what the real vendors did: what they accepted it accepts, what they sent it sends. */
import { expect } from 'chai';
import { recordedCase, recordedCaseIds } from '../../../imports/simulator/exchange/recordings';
import { RECORDINGS_ROOT } from '../../support/recordings';
import type { PlayedExchange } from '../../../imports/simulator/exchange/PlayedExchange';
import { asObject, parseJson } from '../../../imports/simulator/json';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';

const PLAY = { fixturesRoot: RECORDINGS_ROOT };
const exchanges = recordedCaseIds(RECORDINGS_ROOT).flatMap((id) => recordedCase(id, RECORDINGS_ROOT));
const asked = exchanges.filter((exchange) => exchange.request !== undefined);
const accepted = asked.filter((exchange) => exchange.status === 200);

/** Refused by the vendor for their shape or transcript, with a rule of the simulator behind it. */
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
    simulator = await startSimulator({ acceptForeignSeals: true });
  });
  after(() => simulator.close());
  beforeEach(async () => {
    player = await startSimulator();
  });
  afterEach(() => player.close());

  it(`accepts every recorded request that its vendor accepted (${accepted.length} requests)`, async () => {
    const refused: string[] = [];
    for (const exchange of accepted) {
      const answer = await send(simulator, exchange);
      if (answer.status !== 200) refused.push(`${nameOf(exchange)}: ${answer.status} ${await answer.text()}`);
      else await answer.arrayBuffer();
    }
    expect(refused, `${accepted.length - refused.length} of ${accepted.length} accepted`).to.deep.equal([]);
    expect(accepted.length).to.be.greaterThan(100);
  });

  for (const name of COVERED_REFUSALS) {
    it(`refuses ${name} as its vendor did`, async () => {
      const exchange = asked.find((candidate) => nameOf(candidate) === name)!;
      const answer = await send(simulator, exchange);
      expect(answer.status).to.equal(exchange.status);
      const said = messageIn(await answer.text());
      expect(said).to.equal(messageIn(exchange.response.toString()));
    });
  }

  it('plays every recorded case back byte for byte, with its status and headers', async () => {
    for (const id of recordedCaseIds(RECORDINGS_ROOT)) {
      for (const exchange of player.playRecording(id, PLAY)) {
        const answer = await send(player, exchange);
        expect(answer.status, nameOf(exchange)).to.equal(exchange.status);
        for (const [name, value] of Object.entries(exchange.headers))
          expect(answer.headers.get(name), `${nameOf(exchange)} ${name}`).to.equal(value);
        expect(Buffer.from(await answer.arrayBuffer()).equals(exchange.response), nameOf(exchange)).to.equal(true);
      }
      player.assertDone();
    }
    expect(player.requests).to.have.length(exchanges.length);
  });

  it('gives the same bytes in pieces', async () => {
    const [exchange] = player.playRecording('gemini-stream-text-a', { ...PLAY, chunkBytes: 3 });
    const answer = await send(player, exchange!);
    expect(Buffer.from(await answer.arrayBuffer()).equals(exchange!.response)).to.equal(true);
  });

  it('keeps a recording for its own wire', async () => {
    const [exchange] = player.playRecording('anthropic-text-a', PLAY);
    const other = recordedCase('openai-chat-image-a', RECORDINGS_ROOT)[0]!;
    expect(await (await send(player, other)).text()).to.include('simulated');
    const answer = await send(player, exchange!);
    expect(Buffer.from(await answer.arrayBuffer()).equals(exchange!.response)).to.equal(true);
  });

  it('frames the payloads of a source that dropped the framing', () => {
    const [chat] = recordedCase('groq-stream-tool-a', RECORDINGS_ROOT);
    expect(chat!.response.toString())
      .to.match(/^data: \{.*\}\n\n/)
      .and.to.match(/\n\ndata: \[DONE\]\n\n$/);
    const [responses] = recordedCase('azure-resp-stream-tool-a', RECORDINGS_ROOT);
    expect(responses!.response.toString()).to.match(/^event: response\.created\ndata: \{/);
    expect(responses!.response.toString()).not.to.include('[DONE]');
    const [gemini] = recordedCase('gemini-vertex-stream-partial-args-a', RECORDINGS_ROOT);
    expect(gemini!.response.toString())
      .to.match(/^data: \{/)
      .and.not.to.include('event:');
  });

  it('names a recorded exchange that nobody asked for, and a case that does not exist', async () => {
    const prepared = await startSimulator({ recordings: { cases: ['anthropic-text-a'], ...PLAY } });
    await prepared.close();
    expect(() => prepared.assertDone()).to.throw('exchange 1 of the recording anthropic-text-a was never asked for');
    expect(() => player.playRecording('no-such-case', PLAY)).to.throw("no recorded case 'no-such-case'");
  });
});

function send(simulator: Simulator, exchange: PlayedExchange): Promise<Response> {
  return fetch(simulator.url + exchange.path, {
    method: exchange.method,
    headers: { 'content-type': 'application/json', authorization: 'Bearer test-key' },
    body: JSON.stringify(exchange.request ?? {}),
  });
}

function nameOf(exchange: PlayedExchange): string {
  return `${exchange.caseId} ${exchange.number}`;
}

function messageIn(body: string): unknown {
  return asObject(asObject(parseJson(body)).error).message;
}
