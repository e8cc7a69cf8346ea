/** The official SDK of Gemini's Interactions API against the simulator. */
import { GoogleGenAI } from '@google/genai';
import type { Interactions } from '@google/genai';
import { expect } from 'chai';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import { failure } from '../../support/failure';
import { all, GOOD_KEY } from './clients';

describe("the simulator's Interactions wire", () => {
  let simulator: Simulator;
  let interactions: GoogleGenAI['interactions'];
  before(async () => {
    simulator = await startSimulator({ backgroundReads: 1 });
    const httpOptions = { baseUrl: simulator.baseURL('google'), apiVersion: 'v1beta' };
    ({ interactions } = new GoogleGenAI({ apiKey: GOOD_KEY, httpOptions }));
  });
  after(() => simulator.close());
  const model = 'gemini-3.5-flash';
  const lookUp = { type: 'function', name: 'look_up', parameters: { type: 'object', properties: {} } } as const;

  it('answers, and continues what it has stored', async () => {
    simulator.enqueue({ text: 'Hello!' }, { text: 'You said hello.' });
    const first = await interactions.create({ model, input: 'Hello' });
    expect(first).to.include({ status: 'completed', output_text: 'Hello!' });
    const second = await interactions.create({ model, input: 'What did I say?', previous_interaction_id: first.id });
    expect(second.output_text).to.equal('You said hello.');
    expect((await interactions.get(second.id)).id).to.equal(second.id);
    await interactions.delete(second.id);
    expect(String(await failure(interactions.get(second.id)))).to.include('404');
  });

  it('streams thoughts, text and calls', async () => {
    simulator.enqueue({ reasoning: 'Hm.', text: 'Let me see.', calls: [{ name: 'look_up', arguments: { at: 'x' } }] });
    const events = await all(
      await interactions.create({
        model,
        input: 'Go',
        stream: true,
        tools: [lookUp],
        generation_config: { thinking_summaries: 'auto' },
      }),
    );
    expect(new Set(events.map(({ event_type: type }) => type))).to.deep.equal(
      new Set([
        'interaction.created',
        'interaction.status_update',
        'step.start',
        'step.delta',
        'step.stop',
        'interaction.completed',
      ]),
    );
    const last = events.at(-1);
    expect(last?.event_type === 'interaction.completed' && last.interaction.status).to.equal('requires_action');
  });

  it('generates in the background', async () => {
    simulator.enqueue({ text: 'Done.' });
    const started = await interactions.create({ model, input: 'Go', background: true });
    expect(started.status).to.equal('in_progress');
    expect((await interactions.get(started.id)).status).to.equal('in_progress');
    expect(await interactions.get(started.id)).to.include({ status: 'completed', output_text: 'Done.' });
  });

  it('reports blocked content as an error', async () => {
    simulator.enqueue({ refusal: 'No.' });
    expect(String(await failure(interactions.create({ model, input: 'Go' })))).to.include('400');
  });

  const call: Interactions.Step = { type: 'function_call', id: 'c', name: 'look_up', arguments: {} };
  const refused: Readonly<Record<string, object>> = {
    'an unknown field': { model, input: 'Go', contents: [] },
    'a step of an unknown type': { model, input: [{ type: 'user_turn' }] },
    'a request without input': { model },
    'a request without a model': { input: 'Go' },
    'a result without a call': { model, input: [{ type: 'function_result', call_id: 'c', result: 'x' }] },
    'a call without a result': { model, input: [call, { type: 'user_input', content: [{ type: 'text', text: 'x' }] }] },
    'a forged signature': { model, input: [{ type: 'thought', signature: 'x' }] },
    'the background without storing': { model, input: 'Go', background: true, store: false },
    'an unknown interaction': { model, input: 'Go', previous_interaction_id: 'v1_gone' },
  };
  for (const [what, request] of Object.entries(refused))
    it(`refuses ${what}`, async () => {
      // The cast allows what the types forbid.
      const body = request as Interactions.CreateModelInteractionParamsNonStreaming;
      const error = await failure(interactions.create(body, { maxRetries: 0 }));
      expect(String(error)).to.match(/\b40[04]\b/);
    });
});
