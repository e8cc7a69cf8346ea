/** Tools of MCP servers on every vendor: one that blocks and returns an image, and one that is a task. */
import { createMcpHandler } from '@modelcontextprotocol/server';
import { expect } from 'chai';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { mcp } from '../../imports/business/mcp/mcp';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { describeInSoak } from '../support/soak';
import { serveMcp } from '../support/mcp/serveMcp';
import type { ServedMcp } from '../support/mcp/serveMcp';
import { serveTasks } from '../support/mcp/serveTasks';
import type { TaskServer } from '../support/mcp/serveTasks';
import { createState, createTestServer, DOT } from '../support/mcp/testServer';
import { recordEvents } from '../support/recordEvents';
import { SIMULATED_VENDORS, simulatedProvider } from '../support/simulatedProviders';
import { until } from '../support/until';

describeInSoak('tools of MCP servers on every vendor', () => {
  let simulator: Simulator;
  let photos: ServedMcp;
  let tasks: TaskServer;
  let registry: ToolRegistry;
  const handler = createMcpHandler(() => createTestServer(createState()));
  beforeEach(async () => {
    simulator = await startSimulator();
    photos = await serveMcp((request) => handler.fetch(request));
    tasks = await serveTasks('2026-07-28');
    registry = new ToolRegistry();
    const allowPrivateHosts = ['127.0.0.1'];
    await registry.addSource(mcp({ name: 'p', url: photos.url, allow: ['photo'], allowPrivateHosts }));
    await registry.addSource(mcp({ name: 't', url: tasks.url, allowPrivateHosts }));
  });
  afterEach(async () => {
    await registry.closeSources();
    await tasks.close();
    await photos.close();
    simulator.assertDone();
    await simulator.close();
  });
  after(() => handler.close());

  for (const vendor of SIMULATED_VENDORS) {
    const { name, model } = vendor;
    it(`shows the image of a tool to a model of ${name} that sees, and describes it to any other`, async () => {
      const provider = simulatedProvider(simulator, vendor);
      const loop = new AgenticLoop({ provider, toolExecutor: registry });
      simulator.enqueue({ calls: [{ name: 'p_photo' }] }, { text: 'A dot.' });
      const { response } = await loop.execute('ann', { model, input: 'Look.', tools: ['p_photo'] });
      expect(response.output_text).to.equal('A dot.');
      const body = JSON.stringify(simulator.requests.at(-1)?.body);
      expect(body).to.contain('[image of the type image/png, 70 bytes]');
      expect(body.includes(DOT)).to.equal(provider.getCapabilities(model).supportsVision);
    });

    it(`lets a model of ${name} go on while a task works`, async () => {
      const loop = new AgenticLoop({ provider: simulatedProvider(simulator, vendor), toolExecutor: registry });
      const record = recordEvents(loop);
      simulator.enqueue({ calls: [{ name: 't_report' }] }, { text: 'Later.' }, { text: 'Here it is.' });
      const { done } = await loop.start('ann', { model, input: 'Report.', tools: ['t_report'] });
      await until(() => record.events.filter(({ type }) => type === 'llm:response').length === 2);
      tasks.finish();
      const { response, toolCalls } = await done;
      expect(response.output_text).to.equal('Here it is.');
      expect(toolCalls[0]).to.include({ state: 'completed', result: 'the report', blocking: false });
      expect(JSON.stringify(simulator.requests.at(-1)?.body).split('the report')).to.have.length(2);
    });
  }
});
