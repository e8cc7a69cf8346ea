import { expect } from 'chai';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import type { Item } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { SIMULATED_VENDORS, simulatedProvider } from '../support/simulatedProviders';
import type { SimulatedVendor } from '../support/simulatedProviders';
import { sampled } from '../support/soak';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';

const PIXEL =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const tools = new ToolRegistry()
  .register({
    name: 'weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    execute: ({ city }: { city: string }) => ({ city, sky: 'clear' }),
  })
  .register({
    name: 'broken',
    execute: () => {
      throw new Error('the sensor is off');
    },
  });
const offered = ['weather', 'broken'];

/** Five turns: reasoning and parallel calls, a failing call, an image, a plain answer, and another question. */
async function converse(simulator: Simulator, vendor: SimulatedVendor): Promise<readonly Item[]> {
  const loop = new AgenticLoop({ provider: simulatedProvider(simulator, vendor), toolExecutor: tools });
  const ask = async (input: readonly unknown[]): Promise<readonly Item[]> => {
    const result = await loop.execute('ann', {
      model: vendor.model,
      instructions: 'You are a weather clerk.',
      input: input as readonly Item[],
      tools: offered,
    });
    return result.transcript;
  };
  simulator.enqueue(
    {
      reasoning: 'Two cities, two calls.',
      text: 'Checking.',
      calls: [
        { name: 'weather', arguments: { city: 'Rome' } },
        { name: 'weather', arguments: { city: 'Oslo' } },
      ],
    },
    { text: 'Both are clear.' },
    { calls: [{ name: 'broken' }] },
    { text: 'The sensor is off.' },
    { text: 'A pixel.' },
  );
  let transcript = await ask([{ role: 'user', content: 'How is it in Rome and Oslo?' }]);
  transcript = await ask([...transcript, { role: 'user', content: 'And the sensor?' }]);
  transcript = await ask([
    ...transcript,
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'What is this?' },
        { type: 'input_image', image_url: PIXEL },
      ],
    },
  ]);
  simulator.assertDone();
  return transcript;
}

const CHANGES = sampled(
  SIMULATED_VENDORS.flatMap((from) => SIMULATED_VENDORS.map((to) => ({ from, to }))),
  ({ from, to }) => [from, to, `${from.wire} ${to.wire}`, from === to],
);

for (const from of SIMULATED_VENDORS) {
  describe(`a conversation that started on ${from.name}`, () => {
    let simulator: Simulator;
    let history: readonly Item[];
    before(async () => {
      simulator = await startSimulator();
      history = await converse(simulator, from);
    });
    after(() => simulator.close());

    for (const { to } of CHANGES.filter((change) => change.from === from)) {
      it(`continues on ${to.name}`, async () => {
        const provider = simulatedProvider(simulator, to);
        simulator.enqueue({ calls: [{ name: 'weather', arguments: { city: 'Bern' } }] }, { text: 'Clear in Bern.' });
        const loop = new AgenticLoop({ provider, toolExecutor: tools });
        const input = [
          ...history,
          { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And Bern?' }] } as const,
        ];
        const result = await loop.execute('ann', {
          model: to.model,
          instructions: 'You are a weather clerk.',
          input,
          tools: offered,
        });
        expect(result.response.output_text).to.equal('Clear in Bern.');
        simulator.assertDone();

        const sent = JSON.stringify(simulator.requests.at(-1)?.body);
        for (const text of [
          'How is it in Rome and Oslo?',
          'Both are clear.',
          'the sensor is off',
          'A pixel.',
          'iVBORw0KGgo',
          'And Bern?',
        ])
          expect(sent).to.contain(text);

        // Only reasoning that another vendor encrypted is lost, and it is reported.
        const hasReasoning = history.some((item) => item.type === 'reasoning');
        const { losses } = result.response.vendor;
        if (from === to) expect(losses).to.deep.equal([]);
        else if (hasReasoning && from.vendor !== to.vendor)
          expect(losses.map(({ what }) => what).join()).to.match(/reason|thought|thinking/i);
        for (const { what } of losses) expect(what).to.match(/reason|thought|thinking/i);
      });
    }
  });
}
