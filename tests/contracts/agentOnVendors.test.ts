/** An agent on every vendor of the simulator, over HTTP: its text, its tools and its result. */
import { expect } from 'chai';
import { z } from 'zod';
import { agent } from '../../imports/library/Agent';
import type { Agent } from '../../imports/library/Agent';
import { tool } from '../../imports/library/tool';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { deferred } from '../support/deferred';
import { failure } from '../support/failure';
import { SIMULATED_VENDORS, simulatedProvider, WIRES_OR_VENDORS } from '../support/simulatedProviders';

for (const vendor of SIMULATED_VENDORS) {
  describe(`An agent on ${vendor.name}`, () => {
    let simulator: Simulator;
    let assistant: Agent;
    let research: ReturnType<typeof deferred<string>>;

    before(async () => {
      simulator = await startSimulator();
    });
    after(() => simulator.close());
    beforeEach(() => {
      research = deferred();
      assistant = agent({
        model: `${vendor.vendor}/${vendor.model}`,
        instructions: 'You are brief.',
        provider: simulatedProvider(simulator, vendor),
        tools: [
          tool({
            name: 'get_weather',
            description: 'Returns the weather in a city.',
            parameters: z.object({ city: z.string() }),
            execute: ({ city }) => `clear over ${city}`,
          }),
          tool({
            name: 'research_topic',
            description: 'Researches a topic in the background.',
            parameters: { type: 'object', properties: { topic: { type: 'string' } }, required: ['topic'] },
            blocking: false,
            execute: ({ topic }) => research.promise.then((found) => `${topic}: ${found}`),
          }),
        ],
      });
    });
    afterEach(() => simulator.assertDone());

    it('streams the text of an answer', async () => {
      simulator.enqueue({ text: 'one two three' });
      const run = assistant.stream('Count.');
      const parts: string[] = [];
      for await (const text of run.textStream) parts.push(text);
      expect(parts.join('')).to.equal('one two three');
      expect((await run.result).text).to.equal('one two three');
      expect((await run.usage).total_tokens).to.be.greaterThan(0);
      expect(JSON.stringify(simulator.requests.at(-1)?.body)).to.contain('You are brief.');
    });

    it('runs a blocking and a non-blocking tool, and streams what follows each', async () => {
      simulator.enqueue(
        {
          calls: [
            { name: 'get_weather', arguments: { city: 'Rome' } },
            { name: 'research_topic', arguments: { topic: 'boats' } },
          ],
        },
        { text: 'It is clear.' },
        { text: 'There are 12 sources.' },
      );
      const run = assistant.stream('How is Rome? Research boats.');
      let text = '';
      for await (const event of run.events) {
        if (event.type === 'llm:delta' && event.kind === 'text') text += event.delta;
        if (event.type === 'llm:response' && event.response.output_text === 'It is clear.') research.resolve('12');
      }
      expect(text).to.equal('It is clear.There are 12 sources.');
      const result = await run.result;
      expect(result.text).to.equal('There are 12 sources.');
      expect(result.toolCalls.map(({ name, state }) => [name, state])).to.deep.equal([
        ['get_weather', 'completed'],
        ['research_topic', 'completed'],
      ]);
      expect(result.executionId).to.equal(run.executionId);
      const last = JSON.stringify(simulator.requests.at(-1)?.body);
      expect(last).to.contain('clear over Rome').and.to.contain('boats: 12');
    });

    it('continues a conversation with the transcript of its result', async () => {
      simulator.enqueue({ text: 'Hello Ann.' }, { text: 'Ann.' });
      const { transcript } = await assistant.generate('I am Ann.');
      const { text } = await assistant.generate([...transcript, { role: 'user', content: 'Who am I?' }]);
      expect(text).to.equal('Ann.');
      expect(JSON.stringify(simulator.requests.at(-1)?.body))
        .to.contain('Hello Ann.')
        .and.to.contain('I am Ann.');
    });

    it('throws an error that ends the run to readers, result and usage', async () => {
      simulator.enqueue({
        text: 'one two three four five six seven eight nine ten eleven twelve',
        fault: { kind: 'close-without-end-marker' },
      });
      const run = assistant.stream('Count.');
      const read = async (): Promise<void> => {
        for await (const _ of run.textStream);
      };
      const error = await failure(read());
      expect(error).to.have.property('code', 'stream-broken');
      expect(await failure(run.result)).to.equal(error);
      expect(await failure(run.usage)).to.equal(error);
    });

    if (!WIRES_OR_VENDORS.includes(vendor)) return;

    it('streams a typed value as it is written', async () => {
      const value = { city: 'Rome, the eternal city', days: [{ sky: 'clear' }, { sky: 'a bit cloudy' }] };
      const text = JSON.stringify(value, null, 1);
      simulator.enqueue({ text });
      const schema = z.object({ city: z.string(), days: z.array(z.object({ sky: z.string() })) });
      const run = agent({ provider: simulatedProvider(simulator, vendor) }).streamObject('Rome?', { schema });
      const cities = new Set<string | undefined>();
      for await (const { city } of run.objectStream) cities.add(city);
      expect(cities.size).to.be.greaterThan(1);
      expect([...cities].at(-1)).to.equal(value.city);
      expect((await run.result).text).to.equal(text);
      expect(await run.value).to.deep.equal(value);
    });

    it('streams the arguments of calls on request', async () => {
      const script = [
        {
          calls: [
            { name: 'get_weather', arguments: { city: 'Rome the eternal' } },
            { name: 'get_weather', arguments: { city: 'Oslo' } },
          ],
        },
        { text: 'Both are clear.' },
      ];
      simulator.enqueue(...script);
      const run = assistant.stream('Rome and Oslo?', { streamArguments: true });
      const written = new Map<string, string>();
      for await (const event of run) {
        if (event.type === 'tool:arguments_delta')
          written.set(event.callId, (written.get(event.callId) ?? '') + event.delta);
        if (event.type !== 'tool:pending') continue;
        expect(JSON.parse(written.get(event.callId) ?? '')).to.deep.equal(JSON.parse(event.arguments));
      }
      expect(written.size).to.equal(2);
      simulator.enqueue(...script);
      for await (const { type } of assistant.stream('Rome and Oslo?'))
        expect(type).not.to.equal('tool:arguments_delta');
    });
  });
}
