/** Runs with 200 tools of ten MCP servers over HTTP: their requests are as short as those with ten tools. */
import { expect } from 'chai';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import type { RunOptions } from '../../imports/business/ai/domain/types/RunOptions';
import { mcp } from '../../imports/business/mcp/mcp';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { ModelTurn } from '../../imports/simulator/model/ModelTurn';
import type { RuleModel } from '../../imports/simulator/model/RuleModel';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { describeInSoak } from '../support/soak';
import { serveManyTools, WANTED } from '../support/mcp/manyServers';
import { promptOf } from '../support/promptOf';
import { simulatedProvider, WIRES_OR_VENDORS } from '../support/simulatedProviders';
import type { SimulatedVendor } from '../support/simulatedProviders';

const CITIES = ['Lisbon', 'Oslo', 'Lima'];
const TOOL = `weather_${WANTED.tool}`;

/** Asks for the weather of each city in turn, and searches for the tool if it is not offered. */
const model: RuleModel = {
  respond({ turns, tools }): ModelTurn {
    const results = turns.filter((turn) => turn.type === 'result' && turn.text.includes('degrees')).length;
    const city = CITIES[results];
    if (city === undefined) return { calls: [], text: 'It is mild everywhere.', ending: 'complete' };
    const offers = (tool: string): boolean => tools.some(({ name }) => name === tool);
    const isFound = turns.some((turn) => turn.type === 'result' && turn.text.includes(TOOL));
    const args = JSON.stringify({ city, unit: 'celsius' });
    const call = offers(TOOL)
      ? { name: TOOL, arguments: args }
      : isFound && offers('call_tool')
        ? { name: 'call_tool', arguments: JSON.stringify({ name: TOOL, arguments: args }) }
        : { name: 'search_tools', arguments: JSON.stringify({ query: WANTED.query }) };
    return { calls: [call], ending: 'complete' };
  },
};

interface Sent {
  /** The size of each request. */
  readonly bytes: readonly number[];
  readonly calls: readonly string[];
  readonly cities: readonly string[];
}

async function run(
  vendor: SimulatedVendor,
  [servers, perServer]: readonly [number, number],
  options: Partial<RunOptions> = {},
): Promise<Sent> {
  const cities: string[] = [];
  const served = await serveManyTools({ servers, perServer, onWeather: (city) => cities.push(city) });
  const tools = new ToolRegistry();
  const simulator = await startSimulator({ model });
  try {
    for (const each of served.servers) await tools.addSource(mcp({ ...each, allowPrivateHosts: true }));
    const names = tools.tools.map(({ name }) => name);
    expect(names).to.have.length(servers * perServer);
    const loop = new AgenticLoop({ provider: simulatedProvider(simulator, vendor), toolExecutor: tools });
    const input = 'How is the weather?';
    const result = await loop.execute('ann', { model: vendor.model, input, tools: names, ...options });
    expect(result.response.output_text).to.equal('It is mild everywhere.');
    const bodies = simulator.requests.flatMap(({ wire, body }) => (wire === undefined ? [] : [promptOf(body)]));
    const calls = result.toolCalls.map(({ name }) => name);
    return { bytes: bodies.map((body) => Buffer.byteLength(body)), calls, cities };
  } finally {
    await tools.closeSources();
    await served.close();
    await simulator.close();
  }
}

describeInSoak('200 tools of ten MCP servers over HTTP', () => {
  for (const vendor of WIRES_OR_VENDORS)
    it(`take no more bytes of a request than ten tools, on ${vendor.name}`, async () => {
      const many = await run(vendor, [10, 20]);
      const few = await run(vendor, [1, 10]);
      const all = await run(vendor, [10, 20], { toolSearch: false });
      expect(many.calls).to.deep.equal(['search_tools', TOOL, TOOL, TOOL]);
      for (const { cities } of [many, few, all]) expect(cities).to.deep.equal(CITIES);
      const perTurn = ({ bytes }: Sent): number => bytes.reduce((sum, each) => sum + each, 0) / bytes.length;
      expect(perTurn(many)).to.be.below(perTurn(few));
      expect(Math.max(...many.bytes)).to.be.below(Math.max(...few.bytes) * 1.5);
      expect(perTurn(all)).to.be.above(perTurn(many) * 10);
    });
});
