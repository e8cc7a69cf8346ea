import { expect } from 'chai';
import { UnifiedStreamAdapter } from '../../../imports/business/ai/infrastructure/streaming/UnifiedStreamAdapter';
import type { JsonObject, ServedScheme } from '../../../imports/business/ai/domain/types/VendorTypes';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import { CHECKS, eventsIn } from '../../support/streamGrammar';

/** Where each scheme's stream announces a call. */
const ANNOUNCEMENT: Readonly<Record<ServedScheme, (event: JsonObject) => unknown>> = {
  openai: ({ tool_use_announced }) => tool_use_announced,
  openai_responses: ({ type, call_id, name }) =>
    type === 'bolide:tool_use_announced' ? { id: call_id, name } : undefined,
  anthropic: ({ type, id, name }) => (type === 'tool_use_announced' ? { id, name } : undefined),
  google: ({ functionCallAnnouncement }) => functionCallAnnouncement,
};

describe('Announcements of tool calls', () => {
  let simulator: Simulator;
  before(async () => {
    simulator = await startSimulator();
  });
  after(() => simulator.close());

  async function relayed(target: ServedScheme, emitFunctionAnnouncements: boolean): Promise<string> {
    simulator.enqueue({
      text: 'One moment.',
      calls: [
        { name: 'get_weather', arguments: { city: 'Lisbon' }, id: 'call_1' },
        { name: 'get_time', arguments: { city: 'Lisbon' }, id: 'call_2' },
      ],
    });
    const response = await fetch(`${simulator.baseURL('openai')}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer a-key' },
      body: JSON.stringify({
        model: 'gpt-4.1-mini',
        stream: true,
        messages: [{ role: 'user', content: 'What is the weather in Lisbon?' }],
        tools: ['get_weather', 'get_time'].map((name) => ({ type: 'function', function: { name } })),
      }),
    });
    const options = { relayToolUseEvents: false, emitFunctionAnnouncements };
    let lines = '';
    for await (const [line] of new UnifiedStreamAdapter('openai', target).processStream(response, options))
      lines += line;
    return lines;
  }

  for (const target of Object.keys(ANNOUNCEMENT) as ServedScheme[]) {
    it(`arrive in ${target} without the arguments if relayToolUseEvents is false`, async () => {
      const lines = await relayed(target, true);
      const announced = eventsIn(lines).flatMap((event) => ANNOUNCEMENT[target](event) ?? []);
      expect(announced).to.deep.equal([
        { id: 'call_1', name: 'get_weather' },
        { id: 'call_2', name: 'get_time' },
      ]);
      expect(lines).not.to.include('Lisbon');
      CHECKS[target](lines);
    });

    it(`are left out of ${target} unless they are asked for`, async () => {
      const lines = await relayed(target, false);
      expect(lines).not.to.include('get_weather').and.not.to.include('Lisbon');
      CHECKS[target](lines);
    });
  }
});
