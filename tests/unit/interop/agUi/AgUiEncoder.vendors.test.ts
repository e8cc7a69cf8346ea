import { expect } from 'chai';
import { AgenticLoop } from '../../../../imports/business/ai/application/services/AgenticLoop';
import { ToolRegistry } from '../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { AgUiMessage } from '../../../../imports/interop/agUi/AgUiMessages';
import { toConversation } from '../../../../imports/interop/agUi/toConversation';
import { startSimulator } from '../../../../imports/simulator/startSimulator';
import type { Simulator } from '../../../../imports/simulator/Simulator';
import { deferred } from '../../../support/deferred';
import { recordEvents } from '../../../support/recordEvents';
import { simulatedProvider, WIRES_OR_VENDORS } from '../../../support/simulatedProviders';
import { encodeRun, QUESTION } from '../../../support/agUi/encodeRun';
import { replayAgUi } from '../../../support/agUi/replayAgUi';

for (const vendor of WIRES_OR_VENDORS) {
  for (const stream of [false, true]) {
    describe(`AgUiEncoder on ${vendor.name}${stream ? ', streaming' : ''}`, () => {
      let simulator: Simulator;
      before(async () => {
        simulator = await startSimulator();
      });
      after(() => simulator.close());
      afterEach(() => simulator.assertDone());

      it('encodes a blocking and a non-blocking call as AG-UI’s client accepts them', async () => {
        const job = deferred<string>();
        const tools = new ToolRegistry()
          .register({ name: 'weather', execute: () => 'clear' })
          .register({ name: 'job', blocking: false, execute: () => job.promise });
        const loop = new AgenticLoop({ provider: simulatedProvider(simulator, vendor), toolExecutor: tools });
        const record = recordEvents(loop);
        simulator.enqueue(
          { text: 'Let me see.', calls: [{ name: 'weather' }, { name: 'job' }] },
          { text: 'Clear; the job is running.' },
          { text: 'The job is done.' },
        );
        const running = loop.execute('ann', {
          model: vendor.model,
          input: 'How is it in Rome?',
          tools: ['weather', 'job'],
          stream,
        });
        await record.seen('llm:response', ({ iteration }) => iteration === 2);
        job.resolve('42');
        await running;
        const replay = await replayAgUi(encodeRun(record.events), { messages: [QUESTION] });
        expect(replay.error).to.equal(undefined);
        expect(replay.outcome).to.equal('success');
        expect(replay.messages.map(({ role, content }) => [role, content])).to.deep.equal([
          ['user', 'How is it in Rome?'],
          ['assistant', 'Let me see.'],
          ['tool', 'clear'],
          ['tool', '42'],
          ['assistant', 'Clear; the job is running.'],
          ['assistant', 'The job is done.'],
        ]);
        const { bolide } = replay.state as { bolide: { toolCalls: Record<string, { name: string; state: string }> } };
        expect(Object.values(bolide.toolCalls).map(({ name, state }) => [name, state])).to.deep.equal([
          ['weather', 'completed'],
          ['job', 'completed'],
        ]);
      });

      it('returns reasoning and signatures to the vendor with the next question', async () => {
        const tools = new ToolRegistry().register({ name: 'weather', execute: () => 'clear' });
        const loop = new AgenticLoop({ provider: simulatedProvider(simulator, vendor), toolExecutor: tools });
        const record = recordEvents(loop);
        simulator.enqueue(
          { reasoning: 'Ask the tool.', calls: [{ name: 'weather' }] },
          { reasoning: 'The tool knows.', text: 'Clear.' },
        );
        const options = { model: vendor.model, tools: ['weather'], stream };
        await loop.execute('ann', { ...options, input: 'How is it in Rome?' });
        const { messages } = await replayAgUi(encodeRun(record.events), { messages: [QUESTION] });
        const next: AgUiMessage = { id: 'next', role: 'user', content: 'And tomorrow?' };
        const { items } = toConversation({ messages: [...(messages as readonly AgUiMessage[]), next], context: [] });
        const transcript = record.events.flatMap((event) =>
          event.type === 'llm:response' ? event.response.output : [],
        );
        const given = items.filter(
          (item) => item.type !== 'function_call_output' && !(item.type === 'message' && item.role === 'user'),
        );
        expect(stripIds(given)).to.deep.equal(stripIds(transcript));
        simulator.enqueue({ text: 'Rain.' });
        const result = await loop.execute('ann', { ...options, input: items });
        expect(result.response.output_text).to.equal('Rain.');
      });
    });
  }
}

/** Plain texts and calls are rebuilt from the message, without the vendor's ids. */
function stripIds(items: readonly object[]): readonly object[] {
  return items.map((item) => ({ ...item, id: undefined, status: undefined }));
}
