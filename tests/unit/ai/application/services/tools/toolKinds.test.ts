/** What supplies the results of a tool's calls. */
import { expect } from 'chai';
import { ToolProcessor } from '../../../../../../imports/business/ai/application/services/ToolProcessor';
import { runAsTool } from '../../../../../../imports/business/ai/infrastructure/tools/runAsTool';
import { sleepTool } from '../../../../../../imports/business/ai/infrastructure/tools/sleepTool';
import { ToolRegistry } from '../../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { waitForSignalTool } from '../../../../../../imports/business/ai/infrastructure/tools/waitForSignalTool';

describe('tools whose results need a run', () => {
  const CALLS = {
    ask: {},
    sleep: { seconds: 60 },
    wait_for_signal: { signal: 'paid' },
    research: { input: 'x' },
  };
  const toolExecutor = new ToolRegistry()
    .register({ name: 'ask', external: true })
    .register(sleepTool())
    .register(waitForSignalTool())
    .register(runAsTool({ name: 'research' }));

  for (const [name, given] of Object.entries(CALLS))
    it(`fail at once outside of one: ${name}`, async () => {
      const results = await new ToolProcessor({ toolExecutor }).processToolCalls(
        [{ call_id: 'c', name, arguments: JSON.stringify(given) }],
        { userId: 'ann', tools: [name] },
      );
      expect(results[0]).to.deep.include({ call_id: 'c', state: 'failed' });
      expect(results[0]?.error).to.deep.include({ failure: 'rejected' });
    });
});
