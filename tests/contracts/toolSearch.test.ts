/** Runs with the tools of ten servers, on each vendor: requests stay short, and the right tool is found. */
import { expect } from 'chai';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import type { RunOptions } from '../../imports/business/ai/domain/types/RunOptions';
import type { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { RuleModel } from '../../imports/simulator/model/RuleModel';
import type { ModelTurn } from '../../imports/simulator/model/ModelTurn';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { manyTools, WANTED } from '../support/manyTools';
import { promptOf } from '../support/promptOf';
import { simulatedProvider, WIRES_OR_VENDORS } from '../support/simulatedProviders';
import type { SimulatedVendor } from '../support/simulatedProviders';

/** Calls the tool if it is offered or found, and searches for it otherwise. */
const model: RuleModel = {
  respond({ turns, tools }): ModelTurn {
    const offers = (name: string): boolean => tools.some((tool) => tool.name === name);
    const result = turns.findLast((turn) => turn.type === 'result');
    if (result?.type === 'result' && result.text.includes('refunded'))
      return { calls: [], text: 'Refunded.', ending: 'complete' };
    const args = JSON.stringify({ invoice: 4711 });
    const isFound = result?.type === 'result' && result.text.includes(WANTED.name);
    const call = offers(WANTED.name)
      ? { name: WANTED.name, arguments: args }
      : isFound && offers('call_tool')
        ? { name: 'call_tool', arguments: JSON.stringify({ name: WANTED.name, arguments: args }) }
        : { name: 'search_tools', arguments: JSON.stringify({ query: WANTED.query }) };
    return { calls: [call], ending: 'complete' };
  },
};

interface Sent {
  readonly bytes: readonly number[];
  readonly texts: readonly string[];
  readonly calls: readonly string[];
}

async function run(vendor: SimulatedVendor, tools: ToolRegistry, options: Partial<RunOptions> = {}): Promise<Sent> {
  const simulator = await startSimulator({ model });
  try {
    const loop = new AgenticLoop({ provider: simulatedProvider(simulator, vendor), toolExecutor: tools });
    const names = tools.tools.map(({ name }) => name);
    const input = 'Refund the invoice 4711.';
    const result = await loop.execute('ann', { model: vendor.model, input, tools: names, ...options });
    expect(result.response.output_text).to.equal('Refunded.');
    expect(simulator.requests.filter(({ status }) => status !== 200)).to.deep.equal([]);
    const texts = simulator.requests.flatMap(({ wire, body }) => (wire === undefined ? [] : [promptOf(body)]));
    return {
      texts,
      bytes: texts.map((text) => Buffer.byteLength(text)),
      calls: result.toolCalls.map(({ name }) => name),
    };
  } finally {
    await simulator.close();
  }
}

for (const vendor of WIRES_OR_VENDORS) {
  describe(`tool search on ${vendor.name}`, () => {
    it('keeps the requests of a run with 200 tools of 10 servers as short as those with 10 tools', async () => {
      const invoices: unknown[] = [];
      const many = await run(vendor, await manyTools({ onRefund: (args) => invoices.push(args) }));
      const few = await run(vendor, await manyTools({ servers: 1, perServer: 10 }));
      const all = await run(vendor, await manyTools(), { toolSearch: false });
      expect(invoices).to.deep.equal([{ invoice: 4711 }]);
      expect(many.calls).to.deep.equal(['search_tools', WANTED.name]);
      expect(all.calls).to.deep.equal([WANTED.name]);
      expect(Math.max(...many.bytes)).to.be.below(Math.max(...few.bytes) * 1.5);
      expect(Math.min(...all.bytes)).to.be.above(Math.max(...many.bytes) * 10);
      for (const text of [...many.texts, ...all.texts]) expect(text).not.to.contain('deferLoading');
    });
  });
}
