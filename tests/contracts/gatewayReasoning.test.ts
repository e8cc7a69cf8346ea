/** Encrypted reasoning in streams of the Responses API: clients that store nothing keep what `output_item.done` has. */
import { expect } from 'chai';
import { VENDORS } from '../../imports/business/ai/domain/types/VendorTypes';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import { startGateway } from '../support/gateway';
import type { Gateway } from '../support/gateway';
import { checkEvents, eventsOfStream } from '../support/openResponses';

const TOOL = { type: 'function', name: 'get_weather', parameters: { type: 'object', properties: {} } };
/** Which encrypt reasoning anew for the last event. */
const ENCRYPTED_TWICE = ['openai', 'azure_openai', 'grok'];

describe('The encrypted content of a streamed reasoning item', () => {
  let gateway: Gateway;
  beforeEach(async () => {
    gateway = await startGateway();
  });
  afterEach(() => gateway.close());

  async function stream(body: JsonObject): Promise<{ readonly done: JsonObject; readonly final: JsonObject }> {
    const include = ['reasoning.encrypted_content'];
    const response = await gateway.request('/v1/responses', { ...body, include, store: false, stream: true });
    const events = eventsOfStream(await response.text());
    const { output } = checkEvents(events) as { readonly output: readonly JsonObject[] };
    const items = events
      .filter(({ type }) => type === 'response.output_item.done')
      .map(({ item }) => item as JsonObject);
    return { done: items.find(isReasoning)!, final: output.find(isReasoning)! };
  }

  for (const model of VENDORS)
    for (const [kind, turn] of [
      ['text', { reasoning: 'They greet me.', text: 'Hello.' }],
      ['a call', { reasoning: 'I need the weather.', calls: [{ name: 'get_weather' }] }],
      ['nothing', { reasoning: 'They greet me.', text: 'Hel', incomplete: 'max_output_tokens' }],
    ] as const)
      it(`is in output_item.done, before ${kind}, with ${model}`, async () => {
        gateway.simulator.enqueue(turn, { text: 'Thanks.' });
        const { done, final } = await stream({ model, input: 'Hi', tools: [TOOL] });
        expect(done.encrypted_content).to.be.a('string').that.is.not.empty;
        if (!ENCRYPTED_TWICE.includes(model)) expect(done).to.deep.equal(final);
        // What the stream has given can be sent back.
        const input = [{ role: 'user', content: 'Hi' }, done, { role: 'user', content: 'Again' }];
        const next = await gateway.request('/v1/responses', { model, input, store: false });
        expect(next.status, await next.text()).to.equal(200);
      });
});

function isReasoning({ type }: JsonObject): boolean {
  return type === 'reasoning';
}
